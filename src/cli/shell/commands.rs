//! The commands that the shell knows: keywords, arguments, and the request that each makes.

use serde_json::{Map, Value};

use super::grammar::Arguments;

/// A command of the table.
pub(super) struct Command {
    pub words: &'static [&'static str],
    /// Positional arguments.
    pub least: usize,
    pub most: usize,
    /// Without the dash, as they are written in full.
    pub options: &'static [&'static str],
    pub usage: &'static str,
    /// What the first argument names, for completion.
    pub names: Option<View>,
    pub build: fn(&Arguments) -> Result<Request, String>,
}

/// What a line asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    Show {
        view: View,
        name: Option<String>,
        /// `stat` instead of `show`.
        statistics: bool,
    },
    /// An act on one object: `path` below `/api/v1`.
    Act {
        put: bool,
        path: String,
        body: Value,
    },
    /// `disable serviceGroup G SERVER PORT`: the member is looked up first.
    Member {
        group: String,
        server: String,
        port: String,
        act: &'static str,
        body: Value,
    },
    /// Both modes at once, so that the scenario leaves its state.
    ReturnScenario {
        name: String,
        reason: Option<String>,
    },
    RunningConfig,
    Version,
    Help,
    Quit,
}

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Service,
    Group,
    Server,
    Vserver,
    Scenario,
    Check,
    Switch,
}

const DISABLE: &[&str] = &["graceFul", "delay", "reason", "expires"];

pub(super) const COMMANDS: &[Command] = &[
    show(&["show", "service"], "show service [<name>]", View::Service),
    show(&["show", "serviceGroup"], "show serviceGroup [<name>]", View::Group),
    show(&["show", "server"], "show server [<name>]", View::Server),
    show(&["show", "lb", "vserver"], "show lb vserver [<name>]", View::Vserver),
    show(&["show", "vserver"], "show vserver [<name>]", View::Vserver),
    show(&["show", "scenario"], "show scenario [<name>]", View::Scenario),
    show(&["show", "check"], "show check [<name>]", View::Check),
    show(&["show", "switch"], "show switch [<name>]", View::Switch),
    plain(&["show", "ns", "runningConfig"], "show ns runningConfig", |_| Ok(Request::RunningConfig)),
    plain(&["show", "ns", "version"], "show ns version", |_| Ok(Request::Version)),
    plain(&["show", "runningConfig"], "show runningConfig", |_| Ok(Request::RunningConfig)),
    plain(&["show", "version"], "show version", |_| Ok(Request::Version)),
    stat(&["stat", "service"], "stat service [<name>]", View::Service),
    stat(&["stat", "serviceGroup"], "stat serviceGroup [<name>]", View::Group),
    stat(&["stat", "lb", "vserver"], "stat lb vserver [<name>]", View::Vserver),
    stat(&["stat", "vserver"], "stat vserver [<name>]", View::Vserver),
    Command {
        words: &["disable", "service"],
        least: 1,
        most: 2,
        options: DISABLE,
        usage: "disable service <name> [<delay>] [-graceFul (YES|NO)] [-reason <text>] [-expires <time>]",
        names: Some(View::Service),
        build: |arguments| disable("services", arguments),
    },
    Command {
        words: &["disable", "server"],
        least: 1,
        most: 2,
        options: DISABLE,
        usage: "disable server <name> [<delay>] [-graceFul (YES|NO)] [-reason <text>] [-expires <time>]",
        names: Some(View::Server),
        build: |arguments| disable("servers", arguments),
    },
    Command {
        words: &["disable", "serviceGroup"],
        least: 1,
        most: 3,
        options: DISABLE,
        usage: "disable serviceGroup <name> [<member> | <server> <port>] [-delay <seconds>] [-graceFul (YES|NO)] \
                [-reason <text>] [-expires <time>]",
        names: Some(View::Group),
        build: |arguments| group("disable", arguments, disable_body(arguments, None)?),
    },
    Command {
        words: &["disable", "lb", "vserver"],
        least: 1,
        most: 1,
        options: &["reason", "expires"],
        usage: "disable lb vserver <name> [-reason <text>] [-expires <time>]",
        names: Some(View::Vserver),
        build: |arguments| act("vservers", "disable", arguments, note(arguments)?),
    },
    Command {
        words: &["disable", "vserver"],
        least: 1,
        most: 1,
        options: &["reason", "expires"],
        usage: "disable vserver <name> [-reason <text>] [-expires <time>]",
        names: Some(View::Vserver),
        build: |arguments| act("vservers", "disable", arguments, note(arguments)?),
    },
    enable(&["enable", "service"], "enable service <name> [-reason <text>]", View::Service, |arguments| {
        act("services", "enable", arguments, note(arguments)?)
    }),
    enable(&["enable", "server"], "enable server <name> [-reason <text>]", View::Server, |arguments| {
        act("servers", "enable", arguments, note(arguments)?)
    }),
    Command {
        words: &["enable", "serviceGroup"],
        least: 1,
        most: 3,
        options: &["reason"],
        usage: "enable serviceGroup <name> [<member> | <server> <port>] [-reason <text>]",
        names: Some(View::Group),
        build: |arguments| group("enable", arguments, note(arguments)?),
    },
    enable(&["enable", "lb", "vserver"], "enable lb vserver <name> [-reason <text>]", View::Vserver, |arguments| {
        act("vservers", "enable", arguments, note(arguments)?)
    }),
    enable(&["enable", "vserver"], "enable vserver <name> [-reason <text>]", View::Vserver, |arguments| {
        act("vservers", "enable", arguments, note(arguments)?)
    }),
    Command {
        words: &["set", "scenario"],
        least: 1,
        most: 1,
        options: &["activate", "deactivate", "override", "reason", "expires"],
        usage: "set scenario <name> [-activate (auto|on|off)] [-deactivate (auto|on|off)] [-override (YES|NO)] \
                [-reason <text>] [-expires <time>]",
        names: Some(View::Scenario),
        build: set_scenario,
    },
    Command {
        words: &["return", "scenario"],
        least: 1,
        most: 1,
        options: &["reason"],
        usage: "return scenario <name> [-reason <text>]",
        names: Some(View::Scenario),
        build: |arguments| {
            let reason = arguments.value("reason")?.map(Into::into);
            Ok(Request::ReturnScenario { name: first(arguments), reason })
        },
    },
    Command {
        words: &["set", "switch"],
        least: 2,
        most: 2,
        options: &["reason", "expires"],
        usage: "set switch <name> (true|false) [-reason <text>] [-expires <time>]",
        names: Some(View::Switch),
        build: set_switch,
    },
    force(
        &["set", "check"],
        "set check <name> -force (UP|DOWN|NONE) [-reason <text>] [-expires <time>]",
        View::Check,
        |a| set_force("checks", a),
    ),
    force(
        &["set", "service"],
        "set service <name> -force (UP|DOWN|NONE) [-reason <text>] [-expires <time>]",
        View::Service,
        |a| set_force("services", a),
    ),
    plain(&["save", "config"], "save config", |_| save()),
    plain(&["save", "ns", "config"], "save ns config", |_| save()),
    plain(&["help"], "help", |_| Ok(Request::Help)),
    plain(&["quit"], "quit", |_| Ok(Request::Quit)),
    plain(&["exit"], "exit", |_| Ok(Request::Quit)),
    absent(&["add"]),
    absent(&["bind"]),
    absent(&["unbind"]),
    absent(&["rm"]),
    absent(&["unset"]),
    absent(&["rename"]),
    absent(&["clear"]),
    absent(&["set", "lb"]),
    absent(&["set", "server"]),
    absent(&["set", "serviceGroup"]),
    absent(&["set", "ns"]),
];

const fn show(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match view {
        View::Service => |a| Ok(shown(View::Service, a, false)),
        View::Group => |a| Ok(shown(View::Group, a, false)),
        View::Server => |a| Ok(shown(View::Server, a, false)),
        View::Vserver => |a| Ok(shown(View::Vserver, a, false)),
        View::Scenario => |a| Ok(shown(View::Scenario, a, false)),
        View::Check => |a| Ok(shown(View::Check, a, false)),
        View::Switch => |a| Ok(shown(View::Switch, a, false)),
    };
    Command { words, least: 0, most: 1, options: &[], usage, names: Some(view), build }
}

const fn stat(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match view {
        View::Service => |a| Ok(shown(View::Service, a, true)),
        View::Group => |a| Ok(shown(View::Group, a, true)),
        _ => |a| Ok(shown(View::Vserver, a, true)),
    };
    Command { words, least: 0, most: 1, options: &[], usage, names: Some(view), build }
}

const fn enable(
    words: &'static [&'static str],
    usage: &'static str,
    view: View,
    build: fn(&Arguments) -> Result<Request, String>,
) -> Command {
    Command { words, least: 1, most: 1, options: &["reason"], usage, names: Some(view), build }
}

const fn force(
    words: &'static [&'static str],
    usage: &'static str,
    view: View,
    build: fn(&Arguments) -> Result<Request, String>,
) -> Command {
    let options = &["force", "reason", "expires"];
    Command { words, least: 1, most: 1, options, usage, names: Some(view), build }
}

const fn plain(
    words: &'static [&'static str],
    usage: &'static str,
    build: fn(&Arguments) -> Result<Request, String>,
) -> Command {
    Command { words, least: 0, most: 0, options: &[], usage, names: None, build }
}

/// NetScaler has it and this build does not.
const fn absent(words: &'static [&'static str]) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = |_| {
        Err("not available in this build: configuration by single commands; change the file and run `bascule apply`"
            .into())
    };
    Command { words, least: 0, most: usize::MAX, options: &[], usage: "", names: None, build }
}

fn shown(view: View, arguments: &Arguments, statistics: bool) -> Request {
    Request::Show { view, name: arguments.positional(0).map(Into::into), statistics }
}

fn first(arguments: &Arguments) -> String {
    arguments.positional(0).unwrap_or_default().to_owned()
}

fn segment(name: &str) -> String {
    crate::admin::dto::path_segment(name)
}

fn act(collection: &str, act: &str, arguments: &Arguments, body: Value) -> Result<Request, String> {
    Ok(Request::Act { put: false, path: format!("{collection}/{}/{act}", segment(&first(arguments))), body })
}

/// Services and servers take the delay as the second argument; `-delay` is taken as well.
fn disable(collection: &str, arguments: &Arguments) -> Result<Request, String> {
    let body = disable_body(arguments, arguments.positional(1))?;
    act(collection, "disable", arguments, body)
}

fn disable_body(arguments: &Arguments, positional: Option<&str>) -> Result<Value, String> {
    let mut body = note_members(arguments)?;
    let delay = match (positional, arguments.value("delay")?) {
        (Some(_), Some(_)) => return Err("Argument given twice: the delay".into()),
        (one, two) => one.or(two),
    };
    if let Some(delay) = delay {
        body.insert("delay".into(), delay_value(delay)?);
    }
    if let Some(graceful) = arguments.yes_no("graceFul")? {
        body.insert("graceful".into(), graceful.into());
    }
    Ok(Value::Object(body))
}

/// NetScaler's delay is a number of seconds; a duration is taken as well.
fn delay_value(text: &str) -> Result<Value, String> {
    match crate::config::units::parse_duration(text) {
        Ok(_) => Ok(text.into()),
        Err(error) => Err(format!("Invalid value: the delay: {error}")),
    }
}

fn group(act_word: &'static str, arguments: &Arguments, body: Value) -> Result<Request, String> {
    let name = first(arguments);
    match (arguments.positional(1), arguments.positional(2)) {
        (None, _) => act("service-groups", act_word, arguments, body),
        (Some(member), None) => Ok(Request::Act {
            put: false,
            path: format!("service-groups/{}/members/{}/{act_word}", segment(&name), segment(member)),
            body,
        }),
        (Some(server), Some(port)) => {
            Ok(Request::Member { group: name, server: server.into(), port: port.into(), act: act_word, body })
        }
    }
}

fn note(arguments: &Arguments) -> Result<Value, String> {
    note_members(arguments).map(Value::Object)
}

fn note_members(arguments: &Arguments) -> Result<Map<String, Value>, String> {
    let mut members = Map::new();
    for name in ["reason", "expires"] {
        if let Some(text) = arguments.value(name)? {
            members.insert(name.into(), text.into());
        }
    }
    Ok(members)
}

fn set_scenario(arguments: &Arguments) -> Result<Request, String> {
    let mut body = note_members(arguments)?;
    for direction in ["activate", "deactivate"] {
        if let Some(mode) = arguments.value(direction)? {
            body.insert(direction.into(), mode.to_ascii_lowercase().into());
        }
    }
    if !body.contains_key("activate") && !body.contains_key("deactivate") {
        return Err("No arguments to set: give -activate, -deactivate or both".into());
    }
    if let Some(override_guard) = arguments.yes_no("override")? {
        body.insert("override".into(), override_guard.into());
    }
    let path = format!("scenarios/{}/modes", segment(&first(arguments)));
    Ok(Request::Act { put: true, path, body: Value::Object(body) })
}

fn set_switch(arguments: &Arguments) -> Result<Request, String> {
    let mut body = note_members(arguments)?;
    let value = match &arguments.positional(1).unwrap_or_default().to_ascii_lowercase()[..] {
        "true" | "on" | "yes" => true,
        "false" | "off" | "no" => false,
        other => return Err(format!("Invalid value: a switch is true or false, not {other}")),
    };
    body.insert("value".into(), value.into());
    let path = format!("switches/{}", segment(&first(arguments)));
    Ok(Request::Act { put: true, path, body: Value::Object(body) })
}

fn set_force(collection: &str, arguments: &Arguments) -> Result<Request, String> {
    let mut body = note_members(arguments)?;
    let Some(state) = arguments.value("force")? else {
        return Err("not available in this build: configuration by single commands; only -force can be set here".into());
    };
    body.insert("state".into(), state.to_ascii_lowercase().into());
    let path = format!("{collection}/{}/force", segment(&first(arguments)));
    Ok(Request::Act { put: true, path, body: Value::Object(body) })
}

fn save() -> Result<Request, String> {
    Ok(Request::Act { put: false, path: "config/save".into(), body: Value::Object(Map::new()) })
}

// === impl Command ===

impl Command {
    /// NetScaler has it and this build does not; such a command has no usage.
    pub fn is_absent(&self) -> bool {
        self.usage.is_empty()
    }
}

// === impl View ===

impl View {
    /// Its collection below `/api/v1`.
    pub fn collection(self) -> &'static str {
        match self {
            View::Service => "services",
            View::Group => "service-groups",
            View::Server => "servers",
            View::Vserver => "vservers",
            View::Scenario => "scenarios",
            View::Check => "checks",
            View::Switch => "switches",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use serde_json::json;

    fn acts(line: &str, path: &str, body: Value) {
        let put = line.starts_with("set");
        assert_eq!(parse(line), Ok(Some(Request::Act { put, path: path.into(), body })), "{line}");
    }

    #[test]
    fn a_delay_is_positional_for_services_and_servers_and_a_keyword_for_groups() {
        acts("disable service web1", "services/web1/disable", json!({}));
        acts("disable service web1 30", "services/web1/disable", json!({"delay": "30"}));
        acts(
            "disable service web1 30 -graceFul YES",
            "services/web1/disable",
            json!({"delay": "30", "graceful": true}),
        );
        acts("dis server app1 5m -grace no", "servers/app1/disable", json!({"delay": "5m", "graceful": false}));
        acts(
            "disable serviceGroup spare -delay 30 -graceFul",
            "service-groups/spare/disable",
            json!({"delay": "30", "graceful": true}),
        );
        assert!(parse("disable service web1 soon").unwrap_err().starts_with("Invalid value"));
    }

    #[test]
    fn a_member_is_named_by_its_name_or_by_server_and_port() {
        acts("disable serviceGroup spare spare1", "service-groups/spare/members/spare1/disable", json!({}));
        acts("enable service spare/spare1", "services/spare%2Fspare1/enable", json!({}));
        let expected = Request::Member {
            group: "spare".into(),
            server: "app1".into(),
            port: "8003".into(),
            act: "disable",
            body: json!({"delay": "9"}),
        };
        assert_eq!(parse("disable serviceGroup spare app1 8003 -delay 9"), Ok(Some(expected)));
    }

    #[test]
    fn scenarios_switches_and_forces_are_set() {
        acts(
            "set scenario dr -activate ON -deactivate off -reason \"drill of May\"",
            "scenarios/dr/modes",
            json!({"reason": "drill of May", "activate": "on", "deactivate": "off"}),
        );
        acts("set switch dc-a.maintenance TRUE", "switches/dc-a.maintenance", json!({"value": true}));
        acts(
            "set check api-a -force Down -expires 1h",
            "checks/api-a/force",
            json!({"expires": "1h", "state": "down"}),
        );
        acts("set service web1 -force none", "services/web1/force", json!({"state": "none"}));
        assert!(parse("set scenario dr").unwrap_err().starts_with("No arguments to set"));
        assert!(parse("set switch drill maybe").is_err());
    }

    #[test]
    fn configuration_by_single_commands_is_refused_loudly() {
        for line in ["add lb vserver v HTTP 192.0.2.1 80", "bind service web1 -monitorName m", "rm server app1"] {
            assert!(parse(line).unwrap_err().starts_with("not available in this build"), "{line}");
        }
    }
}
