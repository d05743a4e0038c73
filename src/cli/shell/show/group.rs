//! Service groups.

use super::facts::Facts;
use super::monitor;
use super::service::settings;
use super::{long_word, note_line, persistent_lines, since_lines, state_line};
use crate::admin::dto::{MemberDto, ServiceGroupDto};

/// `facts`: its settings as NITRO says.
pub(in super::super) fn group(group: &ServiceGroupDto, now: &str, whole: bool, facts: &Facts) -> String {
    let mut out = format!("{} - {}\n", group.name, group.r#type);
    let effective = facts.said("servicegroupeffectivestate", long_word(&group.state));
    out += &format!(
        "\tState: {}\tEffective State: {effective}\tMonitor Threshold : {}\n",
        group.admin,
        facts.count("monthreshold")
    );
    let most = facts.count("maxclient").parse().unwrap_or(0);
    out += &settings(&without_server(facts), most);
    out += &format!("\tMembers: {} (Total) {} (Up)\n", group.members.len(), group.up);
    if let Some(note) = &group.disabled_by {
        out += &note_line("Disabled", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    if let Some(auto) = &group.auto_scale {
        out += &super::names::auto_scale(auto);
    }
    if whole {
        out += &members(group, now);
    }
    out
}

/// Its members, with their monitors.
pub(in super::super) fn members(group: &ServiceGroupDto, now: &str) -> String {
    let mut out = String::new();
    for (at, member) in group.members.iter().enumerate() {
        out += &format!("\n{})\t{}", at + 1, member_lines(member, now));
        for monitor in &member.monitors {
            out += &format!("\n\t\t{}", monitor::member_lines(monitor));
        }
    }
    out
}

/// A group's line of the state has the threshold already, and its members have their servers.
fn without_server(facts: &Facts) -> Facts {
    let mut facts = facts.clone();
    facts.0.shift_remove("name");
    facts
}

/// `192.0.2.1:80    State: UP    Server Name: app1    Server ID: None    Weight: 1`
fn member_lines(member: &MemberDto, now: &str) -> String {
    let server = member.server.as_deref().unwrap_or(&member.name);
    let state = state_line(&member.state, member.drain.as_ref(), member.active);
    let mut out = format!(
        "{}\tState: {state}\tServer Name: {server}\tServer ID: None\tWeight: {}\n",
        member.address, member.weight
    );
    if member.server.is_some() && member.name != *server {
        out += &format!("\tMember: {}\n", member.name);
    }
    out += &persistent_lines(member.drain.as_ref());
    out += &since_lines(&member.since, now);
    if let Some(at) = &member.leaving_since {
        out += &format!("\tNot in DNS since {at}\n");
    }
    out
}
