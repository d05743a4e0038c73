//! The commands that the shell knows: keywords, arguments, and the request that each makes.

mod audit;
mod build;
mod drill;
mod explain;
mod outbox;
mod people;
mod policies;
mod request;
mod session;
mod shapes;
mod tools;
mod views;

use super::grammar::Arguments;
use super::gslb::{self, Shown};
use super::network::{self, Shown as OfNetwork};
use super::objects;
use build::{
    act, connections, disable, disable_body, first, group, kick, monitors, note, persistence, set_force, set_scenario,
    set_split, set_switch, shown, unlock,
};
use explain::{explain_dns, explain_request, explain_service};

use shapes::{disable_vserver, enable, enable_vserver, force, one, plain, running_config};
use views::{show, stat};

pub(super) use people::VERBS as OF_USERS;
pub(super) use request::{Boxed, Explained, Request, View};

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

const DISABLE: &[&str] = &["graceFul", "delay", "wait", "reason", "expires"];

pub(super) const COMMANDS: &[Command] = &[
    show(&["show", "service"], "show service [<name>] [-summary]", View::Service),
    show(&["show", "serviceGroup"], "show serviceGroup [<name>] [-summary]", View::Group),
    show(&["show", "server"], "show server [<name>] [-summary]", View::Server),
    show(&["show", "lb", "vserver"], "show lb vserver [<name>] [-summary]", View::LbVserver),
    show(&["show", "cs", "vserver"], "show cs vserver [<name>] [-summary]", View::CsVserver),
    objects::MEMBER,
    objects::MEMBER_STATISTICS,
    objects::SSL_VSERVER,
    objects::USER,
    show(&["show", "vserver"], "show vserver [<name>]", View::Vserver),
    Command {
        words: &["show", "lb", "monitor"],
        least: 0,
        // NetScaler's type after the name says nothing new.
        most: 2,
        options: &[],
        usage: "show lb monitor [<name> [<type>]]",
        names: Some(View::Monitor),
        build: |arguments| Ok(shown(View::Monitor, arguments, false)),
    },
    show(&["show", "lb", "monbindings"], "show lb monbindings <name>", View::Monitor),
    show(&["show", "scenario"], "show scenario [<name>]", View::Scenario),
    show(&["show", "check"], "show check [<name>]", View::Check),
    show(&["show", "switch"], "show switch [<name>]", View::Switch),
    show(&["show", "datacenter"], "show datacenter [<name>]", View::Datacenter),
    show(&["show", "pairs"], "show pairs [<name>]", View::Pair),
    show(&["show", "peers"], "show peers [<name>]", View::Peer),
    show(&["show", "zone"], "show zone [<name>]", View::Zone),
    gslb::command(&["show", "gslb", "vserver"], "show gslb vserver [<name>]", Shown::Vserver),
    gslb::command(&["show", "gslb", "service"], "show gslb service [<name>]", Shown::Service),
    gslb::command(&["show", "gslb", "site"], "show gslb site [<name>]", Shown::Site),
    gslb::command(&["show", "dns", "zone"], "show dns zone [<name>]", Shown::Zone),
    gslb::command(&["show", "dns", "addRec"], "show dns addRec [<name>]", Shown::AddRec),
    gslb::command(&["show", "lb", "group"], "show lb group [<name>]", Shown::LbGroup),
    gslb::command(&["show", "lb", "parameter"], "show lb parameter", Shown::LbParameter),
    gslb::command(&["stat", "gslb", "vserver"], "stat gslb vserver [<name>]", Shown::VserverStatistics),
    gslb::command(&["stat", "gslb", "service"], "stat gslb service [<name>]", Shown::ServiceStatistics),
    show(&["show", "rule"], "show rule [<name>]", View::Rule),
    show(&["show", "ssl", "certKey"], "show ssl certKey [<name>] [-summary]", View::Certificate),
    policies::CS_ACTION,
    policies::CS_POLICY,
    policies::RESPONDER_ACTION,
    policies::RESPONDER_POLICY,
    policies::REWRITE_ACTION,
    policies::REWRITE_POLICY,
    policies::PATTERN_SET,
    policies::EXPRESSION,
    show(&["show", "trigger"], "show trigger [<name>]", View::Trigger),
    show(&["show", "query"], "show query [<name>]", View::Query),
    audit::SHOW_SHIPPING,
    audit::SHOW_JOURNAL,
    outbox::SHOW_OUTBOX,
    outbox::SHOW_ALERTS,
    outbox::REPLAY,
    outbox::DISCARD,
    outbox::TEST,
    outbox::APPROVE,
    outbox::REFUSE,
    outbox::TRANSFER,
    drill::SHOW_DRILL,
    drill::START,
    drill::STOP,
    tools::SHOW_TECHSUPPORT,
    tools::SHOW_TRACE,
    tools::START_TRACE,
    tools::STOP_TRACE,
    Command {
        words: &["show", "ns", "connectiontable"],
        least: 0,
        most: 0,
        options: &["vserver", "service", "client", "limit"],
        usage: "show ns connectiontable [-vserver <name>] [-service <name>] [-client <address>] [-limit <number>]",
        names: None,
        build: connections,
    },
    Command {
        words: &["show", "lb", "persistentSessions"],
        least: 0,
        most: 1,
        options: &["client", "limit"],
        usage: "show lb persistentSessions [<vserver>] [-client <client>] [-limit <number>]",
        names: Some(View::LbVserver),
        build: |arguments| persistence(arguments, false),
    },
    Command {
        words: &["clear", "lb", "persistentSessions"],
        least: 0,
        most: 1,
        options: &["client"],
        usage: "clear lb persistentSessions [<vserver>] [-client <client>]",
        names: Some(View::LbVserver),
        build: |arguments| persistence(arguments, true),
    },
    one(&["kill", "connection"], "kill connection <id>", None, |a| {
        Ok(Request::Delete(format!("connections/{}", first(a))))
    }),
    one(&["kill", "service"], "kill service <name>", Some(View::Service), |a| kick("services", a)),
    one(&["kill", "serviceGroup"], "kill serviceGroup <name>", Some(View::Group), |a| kick("service-groups", a)),
    one(&["kill", "server"], "kill server <name>", Some(View::Server), |a| kick("servers", a)),
    people::ADD,
    people::SET,
    people::REMOVE,
    people::BIND,
    people::UNBIND,
    one(&["unlock", "system", "user"], "unlock system user <name>", None, unlock),
    one(&["explain", "service"], "explain service <name>", Some(View::Service), explain_service),
    Command {
        words: &["explain", "dns"],
        least: 1,
        most: 2,
        options: &["client", "at"],
        usage: "explain dns <name> [<type>] [-client <address>] [-at <time>]",
        names: None,
        build: explain_dns,
    },
    Command {
        words: &["explain", "request"],
        least: 1,
        most: 2,
        options: &["method", "host", "client", "header", "serverName"],
        usage: "explain request <vserver> [<path>] [-method <method>] [-host <host>] [-client <address>] \
                [-header \"<name>: <value>\"] [-serverName <name>]",
        names: Some(View::Vserver),
        build: explain_request,
    },
    plain(&["show", "status"], "show status", |_| Ok(Request::Status)),
    running_config(&["show", "ns", "runningConfig"], "show ns runningConfig [-toml]"),
    plain(&["show", "ns", "feature"], "show ns feature", |_| Ok(Request::Features)),
    running_config(&["show", "runningConfig"], "show runningConfig [-toml]"),
    plain(&["show", "feature"], "show feature", |_| Ok(Request::Features)),
    views::boxed(&["show", "ns", "version"], "show ns version", Boxed::Version),
    views::boxed(&["show", "version"], "show version", Boxed::Version),
    views::boxed(&["show", "ns", "info"], "show ns info", Boxed::Info),
    views::boxed(&["show", "info"], "show info", Boxed::Info),
    views::boxed(&["show", "ns", "license"], "show ns license", Boxed::License),
    views::boxed(&["show", "license"], "show license", Boxed::License),
    views::boxed(&["show", "ns", "hardware"], "show ns hardware", Boxed::Hardware),
    views::boxed(&["show", "hardware"], "show hardware", Boxed::Hardware),
    views::boxed(&["show", "ns", "config"], "show ns config", Boxed::Config),
    views::boxed(&["show", "ns", "mode"], "show ns mode", Boxed::Modes),
    network::command(&["show", "ns", "ip"], "show ns ip [<address>]", OfNetwork::Ip),
    network::command(&["show", "ns", "ip6"], "show ns ip6 [<address>]", OfNetwork::Ip6),
    network::command(&["show", "route"], "show route [<network>]", OfNetwork::Route),
    network::command(&["show", "route6"], "show route6 [<network>]", OfNetwork::Route6),
    network::command(&["show", "vlan"], "show vlan [<id>]", OfNetwork::Vlan),
    network::command(&["show", "dns", "nameServer"], "show dns nameServer [<address>]", OfNetwork::NameServer),
    network::command(&["show", "ntp", "server"], "show ntp server [<name>]", OfNetwork::NtpServer),
    network::command(&["show", "ntp", "status"], "show ntp status", OfNetwork::NtpStatus),
    views::boxed(&["show", "ns", "hostName"], "show ns hostName", Boxed::HostName),
    views::boxed(&["show", "ha", "node"], "show ha node", Boxed::HaNode),
    views::boxed(&["show", "ns", "savedConfig"], "show ns savedConfig", Boxed::SavedConfig),
    views::boxed(&["show", "savedConfig"], "show savedConfig", Boxed::SavedConfig),
    views::boxed(&["diff", "ns", "config"], "diff ns config", Boxed::Unsaved),
    views::STAT_SSL,
    views::CLEAR_STATISTICS,
    views::MODE_ON,
    views::MODE_OFF,
    stat(
        &["stat", "service"],
        "stat service [<name>] [-detail] [-ntimes <n>] [-at <time>] [-clearstats (basic|full)]",
        View::Service,
    ),
    stat(
        &["stat", "serviceGroup"],
        "stat serviceGroup [<name>] [-detail] [-ntimes <n>] [-clearstats (basic|full)]",
        View::Group,
    ),
    stat(&["stat", "server"], "stat server [<name>]", View::Server),
    stat(
        &["stat", "lb", "vserver"],
        "stat lb vserver [<name>] [-detail] [-ntimes <n>] [-at <time>] [-clearstats (basic|full)]",
        View::LbVserver,
    ),
    stat(
        &["stat", "cs", "vserver"],
        "stat cs vserver [<name>] [-detail] [-ntimes <n>] [-at <time>] [-clearstats (basic|full)]",
        View::CsVserver,
    ),
    stat(&["stat", "vserver"], "stat vserver [<name>] [-ntimes <n>] [-at <time>]", View::Vserver),
    stat(&["stat", "lb", "monitor"], "stat lb monitor [<name>] [-ntimes <n>]", View::Monitor),
    policies::CS_STATISTICS,
    policies::RESPONDER_STATISTICS,
    policies::REWRITE_STATISTICS,
    stat(&["stat", "rule"], "stat rule [<name>]", View::Rule),
    stat(&["stat", "check"], "stat check [<name>]", View::Check),
    views::stat_ns(&["stat", "ns"], "stat ns [-clearstats (basic|full)]"),
    views::stat_ns(&["stat", "system"], "stat system [-clearstats (basic|full)]"),
    Command {
        words: &["disable", "service"],
        least: 1,
        most: 2,
        options: DISABLE,
        usage: "disable service <name> [<delay>] [-graceFul (YES|NO)] [-wait [<time>]] [-reason <text>] \
                [-expires <time>]",
        names: Some(View::Service),
        build: |arguments| disable("services", arguments),
    },
    Command {
        words: &["disable", "server"],
        least: 1,
        most: 2,
        options: DISABLE,
        usage: "disable server <name> [<delay>] [-graceFul (YES|NO)] [-wait [<time>]] [-reason <text>] \
                [-expires <time>]",
        names: Some(View::Server),
        build: |arguments| disable("servers", arguments),
    },
    Command {
        words: &["disable", "serviceGroup"],
        least: 1,
        most: 3,
        options: DISABLE,
        usage: "disable serviceGroup <name> [<member> | <server> <port>] [-delay <seconds>] [-graceFul (YES|NO)] \
                [-wait [<time>]] [-reason <text>] [-expires <time>]",
        names: Some(View::Group),
        build: |arguments| group("disable", arguments, disable_body(arguments, None)?),
    },
    disable_vserver(
        &["disable", "lb", "vserver"],
        "disable lb vserver <name> [-reason <text>] [-expires <time>]",
        View::LbVserver,
    ),
    disable_vserver(
        &["disable", "cs", "vserver"],
        "disable cs vserver <name> [-reason <text>] [-expires <time>]",
        View::CsVserver,
    ),
    Command {
        words: &["disable", "lb", "monitor"],
        least: 1,
        most: 2,
        options: &["reason", "expires"],
        usage: "disable lb monitor <service or group> [<monitor>] [-reason <text>] [-expires <time>]",
        names: Some(View::Service),
        build: |arguments| Ok(monitors("disable", arguments, note(arguments)?)),
    },
    Command {
        words: &["enable", "lb", "monitor"],
        least: 1,
        most: 2,
        options: &["reason"],
        usage: "enable lb monitor <service or group> [<monitor>] [-reason <text>]",
        names: Some(View::Service),
        build: |arguments| Ok(monitors("enable", arguments, note(arguments)?)),
    },
    disable_vserver(
        &["disable", "vserver"],
        "disable vserver <name> [-reason <text>] [-expires <time>]",
        View::Vserver,
    ),
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
    enable_vserver(&["enable", "lb", "vserver"], "enable lb vserver <name> [-reason <text>]", View::LbVserver),
    enable_vserver(&["enable", "cs", "vserver"], "enable cs vserver <name> [-reason <text>]", View::CsVserver),
    enable_vserver(&["enable", "vserver"], "enable vserver <name> [-reason <text>]", View::Vserver),
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
        words: &["set", "lb", "vserver"],
        least: 1,
        most: 1,
        options: &["split", "dryRun", "reason", "expires"],
        usage: "set lb vserver <name> -split (<group>=<percent>,... | none) [-dryRun YES] [-reason <text>] \
                [-expires <time>]",
        names: Some(View::LbVserver),
        build: set_split,
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
    plain(&["config", "ns"], "config ns", |_| Ok(Request::Setup)),
    plain(&["save", "config"], "save config", |_| Ok(Request::Save)),
    plain(&["save", "ns", "config"], "save ns config", |_| Ok(Request::Save)),
    session::HELP,
    session::SHELL,
    plain(&["quit"], "quit", |_| Ok(Request::Quit)),
    plain(&["exit"], "exit", |_| Ok(Request::Quit)),
    session::BATCH,
];
