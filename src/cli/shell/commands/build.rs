//! Arguments to requests.

use serde_json::{Map, Value};

use super::super::grammar::Arguments;
use super::{Request, View};

pub(super) fn shown(view: View, arguments: &Arguments, statistics: bool) -> Request {
    Request::Show { view, name: arguments.positional(0).map(Into::into), statistics }
}

pub(super) fn first(arguments: &Arguments) -> String {
    arguments.positional(0).unwrap_or_default().to_owned()
}

pub(super) fn segment(name: &str) -> String {
    crate::admin::dto::path_segment(name)
}

pub(super) fn act(collection: &str, act: &str, arguments: &Arguments, body: Value) -> Result<Request, String> {
    Ok(Request::Act { put: false, path: format!("{collection}/{}/{act}", segment(&first(arguments))), body })
}

pub(super) fn kick(collection: &str, arguments: &Arguments) -> Result<Request, String> {
    act(collection, "kick", arguments, Value::Object(Map::new()))
}

pub(super) fn connections(arguments: &Arguments) -> Result<Request, String> {
    let mut query = Vec::new();
    for name in ["vserver", "service", "client", "limit"] {
        query.extend(arguments.value(name)?.map(|value| (name, value.to_owned())));
    }
    Ok(Request::Connections(query))
}

/// Forgets the wrong passwords of a name.
pub(super) fn unlock(arguments: &Arguments) -> Result<Request, String> {
    Ok(Request::Delete(format!("users/{}/lock", segment(&first(arguments)))))
}

pub(super) fn persistence(arguments: &Arguments, clear: bool) -> Result<Request, String> {
    let mut query: Vec<_> = arguments.positional(0).map(|name| ("vserver", name.to_owned())).into_iter().collect();
    let names: &[&'static str] = if clear { &["client"] } else { &["client", "limit"] };
    for &name in names {
        query.extend(arguments.value(name)?.map(|value| (name, value.to_owned())));
    }
    Ok(Request::Persistence { clear, query })
}

/// Services and servers take the delay as the second argument; `-delay` is taken as well.
pub(super) fn disable(collection: &str, arguments: &Arguments) -> Result<Request, String> {
    let body = disable_body(arguments, arguments.positional(1))?;
    act(collection, "disable", arguments, body)
}

pub(super) fn disable_body(arguments: &Arguments, positional: Option<&str>) -> Result<Value, String> {
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
    if let Some(longest) = arguments.with_or_without_value("wait") {
        let wait = longest.map_or(Ok(Value::Bool(true)), delay_value)?;
        body.insert("wait".into(), wait);
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

pub(super) fn group(act_word: &'static str, arguments: &Arguments, body: Value) -> Result<Request, String> {
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

pub(super) fn monitors(act: &'static str, arguments: &Arguments, body: Value) -> Request {
    Request::Monitors { owner: first(arguments), monitor: arguments.positional(1).map(Into::into), act, body }
}

pub(super) fn note(arguments: &Arguments) -> Result<Value, String> {
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

pub(super) fn set_scenario(arguments: &Arguments) -> Result<Request, String> {
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

pub(super) fn set_switch(arguments: &Arguments) -> Result<Request, String> {
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

pub(super) fn set_force(collection: &str, arguments: &Arguments) -> Result<Request, String> {
    let mut body = note_members(arguments)?;
    let Some(state) = arguments.value("force")? else {
        return Err("Required argument missing [force]".into());
    };
    body.insert("state".into(), state.to_ascii_lowercase().into());
    let path = format!("{collection}/{}/force", segment(&first(arguments)));
    Ok(Request::Act { put: true, path, body: Value::Object(body) })
}

/// `-split blue=90,green=10`, or `none`.
pub(super) fn set_split(arguments: &Arguments) -> Result<Request, String> {
    let mut body = note_members(arguments)?;
    let Some(text) = arguments.value("split")? else {
        return Err("Required argument missing [split]".into());
    };
    let share = |part: &str| {
        let (group, percent) = part.split_once('=')?;
        Some((group.trim().to_owned(), percent.trim().parse::<u8>().ok().filter(|p| *p <= 100)?.into()))
    };
    let mut shares = Map::new();
    if text.eq_ignore_ascii_case("none") {
        body.insert("split".into(), "none".into());
    } else {
        for part in text.split(',') {
            let Some((group, percent)) = share(part) else {
                return Err(format!("Invalid value: a split is written blue=90,green=10, or none, not {text}"));
            };
            if shares.insert(group, percent).is_some() {
                return Err(format!("Invalid value: the split names {part} twice"));
            }
        }
        body.insert("split".into(), Value::Object(shares));
    }
    let dry = if arguments.yes_no("dryRun")?.unwrap_or(false) { "?dry_run=true" } else { "" };
    let path = format!("vservers/{}/split{dry}", segment(&first(arguments)));
    Ok(Request::Act { put: true, path, body: Value::Object(body) })
}

#[cfg(test)]
mod tests {
    use super::super::super::request as parse;
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
        acts("disable service web1 30 -wait", "services/web1/disable", json!({"delay": "30", "wait": true}));
        acts("disable server app1 -grace -wait 2m", "servers/app1/disable", json!({"graceful": true, "wait": "2m"}));
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
        acts(
            "set lb vserver shop -split blue=90,green=10 -reason canary",
            "vservers/shop/split",
            json!({"reason": "canary", "split": {"blue": 90, "green": 10}}),
        );
        acts(
            "set lb vserver shop -split none -dryRun YES",
            "vservers/shop/split?dry_run=true",
            json!({"split": "none"}),
        );
        for wrong in ["set lb vserver shop -split blue", "set lb vserver shop -split blue=101"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("set scenario dr").unwrap_err().starts_with("No arguments to set"));
        assert!(parse("set switch drill maybe").is_err());
    }

    #[test]
    fn a_line_of_configuration_goes_to_the_appliance_as_it_is() {
        for line in [
            "add lb vserver v HTTP 192.0.2.1 80",
            "bind service web1 -monitorName m",
            "rm server app1",
            "clear ns config -force basic",
        ] {
            assert_eq!(parse(line), Ok(Some(Request::Line(line.into()))), "{line}");
        }
    }
}
