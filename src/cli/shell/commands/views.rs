//! `show` and `stat`: one view of each kind of object.

use std::time::Duration;

use super::build::{segment, shown};
use super::{Arguments, Boxed, Command, Request, View};

pub(super) const fn show(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match view {
        View::Service => |a| looked_at(View::Service, a),
        View::Group => |a| looked_at(View::Group, a),
        View::Server => |a| looked_at(View::Server, a),
        View::Vserver => |a| Ok(shown(View::Vserver, a, false)),
        View::LbVserver => |a| looked_at(View::LbVserver, a),
        View::CsVserver => |a| looked_at(View::CsVserver, a),
        View::Scenario => |a| Ok(shown(View::Scenario, a, false)),
        View::Check => |a| Ok(shown(View::Check, a, false)),
        View::Monitor => |a| Ok(shown(View::Monitor, a, false)),
        View::Switch => |a| Ok(shown(View::Switch, a, false)),
        View::Datacenter => |a| Ok(shown(View::Datacenter, a, false)),
        View::Pair => |a| Ok(shown(View::Pair, a, false)),
        View::Peer => |a| Ok(shown(View::Peer, a, false)),
        View::Zone => |a| Ok(shown(View::Zone, a, false)),
        View::Rule => |a| Ok(shown(View::Rule, a, false)),
        View::Certificate => |a| looked_at(View::Certificate, a),
        View::Trigger => |a| Ok(shown(View::Trigger, a, false)),
        View::Query => |a| Ok(shown(View::Query, a, false)),
        View::Outbox => |a| Ok(shown(View::Outbox, a, false)),
        View::Alerts => |a| Ok(shown(View::Alerts, a, false)),
        View::Drill => |a| Ok(shown(View::Drill, a, false)),
    };
    let options: &[&str] = match view {
        View::Service | View::Group | View::Server | View::LbVserver | View::CsVserver | View::Certificate => SHOW,
        _ => &[],
    };
    Command { words, least: 0, most: 1, options, usage, names: Some(view), build }
}

const SHOW: &[&str] = &["summary", "fullValues", "format", "level"];

fn looked_at(view: View, arguments: &Arguments) -> Result<Request, String> {
    for other in ["format", "level"] {
        if arguments.with_or_without_value(other).is_some() {
            return Err(format!("No such argument: -{other}; `bascule shell --json` prints what programs read"));
        }
    }
    // Values are never shortened.
    let _ = arguments.with_or_without_value("fullValues");
    Ok(match arguments.with_or_without_value("summary") {
        Some(_) => Request::Summary { view, name: arguments.positional(0).map(Into::into) },
        None => shown(view, arguments, false),
    })
}

pub(super) const fn stat(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match view {
        View::Service => |a| counted(View::Service, a),
        View::Group => |a| counted(View::Group, a),
        View::Server => |a| counted(View::Server, a),
        View::LbVserver => |a| counted(View::LbVserver, a),
        View::CsVserver => |a| counted(View::CsVserver, a),
        View::Monitor => |a| counted(View::Monitor, a),
        View::Rule => |a| counted(View::Rule, a),
        View::Check => |a| counted(View::Check, a),
        _ => |a| counted(View::Vserver, a),
    };
    Command { words, least: 0, most: 1, options: STAT, usage, names: Some(view), build }
}

const STAT: &[&str] = &["at", "detail", "fullValues", "ntimes", "interval", "logFile", "clearstats"];

/// Between two of `-ntimes`, as on a NetScaler.
const EVERY: Duration = Duration::from_secs(7);

/// What it was at a time of the last 48 hours, or what it is now, once or again and again.
fn counted(view: View, arguments: &Arguments) -> Result<Request, String> {
    let name = arguments.positional(0).map(str::to_owned);
    refuse_log_file(arguments)?;
    let level = level(arguments)?;
    if let Some(at) = arguments.value("at")? {
        if level.is_some() {
            return Err("-clearstats begins to count again now: it goes without -at".into());
        }
        if !matches!(view, View::Service | View::LbVserver | View::CsVserver | View::Vserver) {
            return Err("No such argument: -at; services and vservers have a past".into());
        }
        let name = name.ok_or("-at needs the name of one object")?;
        return Ok(Request::Moment { view, name, at: at.to_owned() });
    }
    // Values are never shortened.
    let _ = arguments.with_or_without_value("fullValues");
    let detail = arguments.with_or_without_value("detail").is_some();
    let request = Request::Stat { view, name: name.clone(), detail };
    let Some(level) = level else { return repeated(request, arguments) };
    if arguments.value("ntimes")?.is_some() {
        return Err("-clearstats begins to count again now: it goes without -ntimes".into());
    }
    let resource = crate::cli::shell::nitro::resource(view).filter(|_| !matches!(view, View::Server | View::Monitor));
    let resource = resource.ok_or(
        "Operation not permitted: these counters are not cleared; those of lb vserver, cs vserver, service, \
         serviceGroup, ns and ssl are",
    )?;
    Ok(cleared(request, resource, name.as_deref(), level))
}

/// Once, or again and again.
pub(super) fn repeated(request: Request, arguments: &Arguments) -> Result<Request, String> {
    let every = match arguments.value("interval")? {
        None => EVERY,
        Some(text) => match crate::config::units::parse_duration(text) {
            Ok(every) if every >= Duration::from_secs(1) => every,
            _ => return Err(format!("Invalid value: -interval is a number of seconds, not {text}")),
        },
    };
    match arguments.value("ntimes")? {
        None | Some("1") => Ok(request),
        Some(text) => match text.parse() {
            Ok(times) => Ok(Request::Repeat { request: Box::new(request), times, every }),
            Err(_) => Err(format!("Invalid value: -ntimes is a number, 0 for ever, not {text}")),
        },
    }
}

fn refuse_log_file(arguments: &Arguments) -> Result<(), String> {
    match arguments.with_or_without_value("logFile") {
        Some(_) => Err("No such argument: -logFile; -at tells what was counted in the last 48 hours".into()),
        None => Ok(()),
    }
}

/// Of `-clearstats`. Both levels clear the same: there are no counters that one of them would keep.
fn level(arguments: &Arguments) -> Result<Option<&'static str>, String> {
    let Some(level) = arguments.value("clearstats")? else { return Ok(None) };
    match ["basic", "full"].into_iter().find(|known| known.eq_ignore_ascii_case(level)) {
        Some(level) => Ok(Some(level)),
        None => Err(format!("Invalid value: -clearstats is basic or full, not {level}")),
    }
}

fn cleared(request: Request, resource: &str, name: Option<&str>, level: &str) -> Request {
    let name = name.map(|name| format!("/{}", segment(name))).unwrap_or_default();
    let path = format!("/nitro/v1/stat/{resource}{name}?args=clearstats:{level}");
    Request::StatAndClear { request: Box::new(request), path }
}

const WHOLE: &[&str] = &["detail", "fullValues", "logFile", "clearstats"];

/// `stat ns`, `stat system`
pub(super) const fn stat_ns(words: &'static [&'static str], usage: &'static str) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = |arguments| whole(Request::Appliance, "ns", arguments);
    Command { words, least: 0, most: 0, options: WHOLE, usage, names: None, build }
}

pub(super) const STAT_SSL: Command = Command {
    words: &["stat", "ssl"],
    least: 0,
    most: 0,
    options: WHOLE,
    usage: "stat ssl [-clearstats (basic|full)]",
    names: None,
    build: |arguments| whole(Request::Boxed(Boxed::SslStatistics), "ssl", arguments),
};

fn whole(request: Request, resource: &str, arguments: &Arguments) -> Result<Request, String> {
    refuse_log_file(arguments)?;
    Ok(match level(arguments)? {
        Some(level) => cleared(request, resource, None, level),
        None => request,
    })
}

pub(super) const CLEAR_STATISTICS: Command = Command {
    words: &["clear", "ns", "stats"],
    least: 1,
    most: 1,
    options: &[],
    usage: "clear ns stats (global|all)",
    names: None,
    build: |arguments| {
        let level = arguments.positional(0).unwrap_or_default().to_ascii_lowercase();
        match ["global", "all"].contains(&&level[..]) {
            true => Ok(Request::ClearStatistics { level }),
            false => Err(format!("Invalid value: the level is global (counters of the appliance) or all, not {level}")),
        }
    },
};

pub(super) const fn boxed(words: &'static [&'static str], usage: &'static str, what: Boxed) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match what {
        Boxed::Version => |_| Ok(Request::Boxed(Boxed::Version)),
        Boxed::Info => |_| Ok(Request::Boxed(Boxed::Info)),
        Boxed::License => |_| Ok(Request::Boxed(Boxed::License)),
        Boxed::Hardware => |_| Ok(Request::Boxed(Boxed::Hardware)),
        Boxed::Config => |_| Ok(Request::Boxed(Boxed::Config)),
        Boxed::Modes => |_| Ok(Request::Boxed(Boxed::Modes)),
        Boxed::HaNode => |_| Ok(Request::Boxed(Boxed::HaNode)),
        Boxed::HostName => |_| Ok(Request::Boxed(Boxed::HostName)),
        Boxed::SavedConfig => |_| Ok(Request::Boxed(Boxed::SavedConfig)),
        Boxed::Unsaved => |_| Ok(Request::Boxed(Boxed::Unsaved)),
        // It has options.
        Boxed::SslStatistics => STAT_SSL.build,
    };
    Command { words, least: 0, most: 0, options: &[], usage, names: None, build }
}

pub(super) const MODE_ON: Command = Command {
    words: &["enable", "ns", "mode"],
    least: 1,
    most: 32,
    options: &[],
    usage: "enable ns mode <mode>...",
    names: None,
    build: |arguments| Ok(Request::Modes { enable: true, modes: arguments.positional.clone() }),
};

pub(super) const MODE_OFF: Command = Command {
    words: &["disable", "ns", "mode"],
    usage: "disable ns mode <mode>...",
    build: |arguments| Ok(Request::Modes { enable: false, modes: arguments.positional.clone() }),
    ..MODE_ON
};

#[cfg(test)]
mod tests {
    use super::super::super::request as parse;
    use super::*;

    #[test]
    fn statistics_of_a_moment_are_asked_of_one_object() {
        let asked = |view, name: &str| Ok(Some(Request::Moment { view, name: name.into(), at: "2h".into() }));
        assert_eq!(parse("stat lb vserver web -at 2h"), asked(View::LbVserver, "web"));
        assert_eq!(parse("stat service web1 -at 2h"), asked(View::Service, "web1"));
        assert!(parse("stat service -at 2h").unwrap_err().contains("needs the name"));
        assert!(parse("stat server app1 -at 2h").is_err());
    }

    #[test]
    fn statistics_take_netscalers_options_or_say_why_not() {
        let stat =
            |name: Option<&str>, detail| Request::Stat { view: View::LbVserver, name: name.map(Into::into), detail };
        assert_eq!(parse("stat lb vserver -fullValues"), Ok(Some(stat(None, false))));
        assert_eq!(parse("stat lb vs web -detail"), Ok(Some(stat(Some("web"), true))));
        let request = Box::new(stat(Some("web"), false));
        let again = Request::Repeat { request, times: 3, every: EVERY };
        assert_eq!(parse("stat lb vserver web -ntimes 3"), Ok(Some(again)));
        assert!(parse("stat lb vserver -ntimes few").is_err());
        assert!(parse("stat lb vserver -logFile f").unwrap_err().contains("-at tells"));
        let modes = Request::Modes { enable: true, modes: vec!["FR".into(), "USNIP".into()] };
        assert_eq!(parse("enable ns mode FR USNIP"), Ok(Some(modes)));
    }

    #[test]
    fn a_summary_is_asked_for_of_what_netscaler_has() {
        let summary =
            |name: Option<&str>| Ok(Some(Request::Summary { view: View::LbVserver, name: name.map(Into::into) }));
        assert_eq!(parse("show lb vserver -summary"), summary(None));
        assert_eq!(parse("sh lb vs web -sum -fullValues"), summary(Some("web")));
        assert!(parse("show service -format TABLE").unwrap_err().contains("--json"));
        assert!(parse("show scenario -summary").is_err());
    }

    #[test]
    fn counters_are_told_once_more_and_cleared() {
        let path = |line: &str| match parse(line) {
            Ok(Some(Request::StatAndClear { path, .. })) => path,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(path("stat lb vserver -clearstats FULL"), "/nitro/v1/stat/lbvserver?args=clearstats:full");
        assert_eq!(path("stat service a/b -clear basic"), "/nitro/v1/stat/service/a%2Fb?args=clearstats:basic");
        assert_eq!(path("stat ns -clearstats basic"), "/nitro/v1/stat/ns?args=clearstats:basic");
        assert_eq!(parse("clear ns stats ALL"), Ok(Some(Request::ClearStatistics { level: "all".into() })));
        assert!(parse("clear ns stats some").unwrap_err().contains("global"));
        assert!(parse("stat lb vserver web -clearstats all").unwrap_err().contains("basic or full"));
        assert!(parse("stat lb vserver web -clearstats full -at 2h").is_err());
        assert!(parse("stat server -clearstats full").unwrap_err().starts_with("Operation not permitted"));
        assert!(parse("stat ssl -logFile f").is_err());
    }
}
