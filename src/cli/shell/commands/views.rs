//! `show` and `stat`: one view of each kind of object.

use super::build::shown;
use super::{Arguments, Command, Explained, Request, View};
use crate::cli::journal::with_query;

pub(super) const fn show(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match view {
        View::Service => |a| Ok(shown(View::Service, a, false)),
        View::Group => |a| Ok(shown(View::Group, a, false)),
        View::Server => |a| Ok(shown(View::Server, a, false)),
        View::Vserver => |a| Ok(shown(View::Vserver, a, false)),
        View::LbVserver => |a| Ok(shown(View::LbVserver, a, false)),
        View::CsVserver => |a| Ok(shown(View::CsVserver, a, false)),
        View::Scenario => |a| Ok(shown(View::Scenario, a, false)),
        View::Check => |a| Ok(shown(View::Check, a, false)),
        View::Monitor => |a| Ok(shown(View::Monitor, a, false)),
        View::Switch => |a| Ok(shown(View::Switch, a, false)),
        View::Datacenter => |a| Ok(shown(View::Datacenter, a, false)),
        View::Pair => |a| Ok(shown(View::Pair, a, false)),
        View::Peer => |a| Ok(shown(View::Peer, a, false)),
        View::Zone => |a| Ok(shown(View::Zone, a, false)),
        View::Rule => |a| Ok(shown(View::Rule, a, false)),
        View::Certificate => |a| Ok(shown(View::Certificate, a, false)),
        View::Trigger => |a| Ok(shown(View::Trigger, a, false)),
        View::Query => |a| Ok(shown(View::Query, a, false)),
        View::Outbox => |a| Ok(shown(View::Outbox, a, false)),
        View::Alerts => |a| Ok(shown(View::Alerts, a, false)),
        View::Drill => |a| Ok(shown(View::Drill, a, false)),
    };
    Command { words, least: 0, most: 1, options: &[], usage, names: Some(view), build }
}

pub(super) const fn stat(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match view {
        View::Service => |a| past(View::Service, a),
        View::Group => |a| Ok(shown(View::Group, a, true)),
        View::Server => |a| Ok(shown(View::Server, a, true)),
        View::LbVserver => |a| past(View::LbVserver, a),
        View::CsVserver => |a| past(View::CsVserver, a),
        View::Rule => |a| Ok(shown(View::Rule, a, true)),
        View::Check => |a| Ok(shown(View::Check, a, true)),
        _ => |a| past(View::Vserver, a),
    };
    let options: &[&str] = match view {
        View::Service | View::LbVserver | View::CsVserver | View::Vserver => &["at"],
        _ => &[],
    };
    Command { words, least: 0, most: 1, options, usage, names: Some(view), build }
}

/// What it was at a time of the last 48 hours, or what it is now.
fn past(view: View, arguments: &Arguments) -> Result<Request, String> {
    let Some(at) = arguments.value("at")? else { return Ok(shown(view, arguments, true)) };
    let name = arguments.positional(0).ok_or("-at needs the name of one object")?;
    let kind = if view == View::Service { "service" } else { "vserver" };
    let query = [("object", Some(format!("{kind}:{name}"))), ("at", Some(at.to_owned()))];
    Ok(Request::Explain { what: Explained::Past, path: with_query("/api/v1/history", &query), body: None })
}

#[cfg(test)]
mod tests {
    use super::super::super::request as parse;
    use super::*;

    #[test]
    fn statistics_of_a_moment_are_asked_of_one_object() {
        let asked = |path: &str| Ok(Some(Request::Explain { what: Explained::Past, path: path.into(), body: None }));
        assert_eq!(parse("stat lb vserver web -at 2h"), asked("/api/v1/history?object=vserver%3Aweb&at=2h"));
        assert_eq!(parse("stat service web1 -at 2h"), asked("/api/v1/history?object=service%3Aweb1&at=2h"));
        assert!(parse("stat service -at 2h").unwrap_err().contains("needs the name"));
        assert!(parse("stat server app1 -at 2h").is_err());
    }
}
