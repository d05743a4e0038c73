//! `show` and `stat`: one view of each kind of object.

use super::build::shown;
use super::{Arguments, Command, Request, View};

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
        View::Service => |a| Ok(shown(View::Service, a, true)),
        View::Group => |a| Ok(shown(View::Group, a, true)),
        View::Server => |a| Ok(shown(View::Server, a, true)),
        View::LbVserver => |a| Ok(shown(View::LbVserver, a, true)),
        View::CsVserver => |a| Ok(shown(View::CsVserver, a, true)),
        View::Rule => |a| Ok(shown(View::Rule, a, true)),
        _ => |a| Ok(shown(View::Vserver, a, true)),
    };
    Command { words, least: 0, most: 1, options: &[], usage, names: Some(view), build }
}
