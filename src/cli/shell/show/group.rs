//! Service groups.

use super::monitor::monitor_lines;
use super::{long_word, note_line, since_lines, state_line};
use crate::admin::dto::{MemberDto, ServiceGroupDto};

pub(in super::super) fn group(group: &ServiceGroupDto, now: &str, whole: bool) -> String {
    let mut out = format!("{} - {}\n", group.name, group.r#type);
    out += &format!(
        "\tState: {}\tEffective State: {}\tMembers: {}\n",
        group.admin,
        long_word(&group.state),
        counts(group)
    );
    if let Some(note) = &group.disabled_by {
        out += &note_line("Disabled", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    if whole {
        if let Some(auto) = &group.auto_scale {
            out += &super::names::auto_scale(auto);
        }
        for (at, member) in group.members.iter().enumerate() {
            out += &format!("\n{})\t{}", at + 1, member_lines(member, now));
            for monitor in &member.monitors {
                out += &format!("\n\t\t{}", monitor_lines(monitor));
            }
        }
    }
    out
}

fn counts(group: &ServiceGroupDto) -> String {
    format!("{} (Total) {} (Up)", group.members.len(), group.up)
}

fn member_lines(member: &MemberDto, now: &str) -> String {
    let server = member.server.as_deref().map_or_else(String::new, |s| format!("\tServer Name: {s}"));
    let state = state_line(&member.state, member.drain.as_ref(), member.active);
    let since = since_lines(&member.since, now).replace('\t', "\t\t");
    let leaving = member.leaving_since.as_ref().map_or_else(String::new, |at| format!("\t\tNot in DNS since {at}\n"));
    format!("{} ({})\tState: {state}{server}\tWeight: {}\n{since}{leaving}", member.name, member.address, member.weight)
}
