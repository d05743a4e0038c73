//! Traffic rules as REST shows them: what they do, when, and how often they did.

use std::sync::atomic::Ordering::Relaxed;

use super::text;
use crate::control::World;
use crate::model::Model;
use crate::model::rule::{Action, Edit, Phase, Route};

dto! {
    /// A traffic rule of a vserver.
    pub struct RuleDto {
        pub name: String,
        pub vserver: String,
        /// Lower first, within the vserver.
        pub priority: u32,
        /// `request` or `response`.
        pub phase: String,
        /// Groups of terms: one group of which all terms are true is enough. A group without terms is always true.
        pub when: Vec<Vec<String>>,
        /// `respond 403`, `redirect 302 https://…`, `reject`, `route vserver shop`, `edit: set X-Who`, `mirror 50% shadow`,
        /// `count`.
        pub action: String,
        /// Once it acted, the rest of its bank is not asked.
        pub stop: bool,
        /// Requests that it acted on.
        pub hits_total: u64,
        /// Of a rule that mirrors: copies that were not sent.
        pub mirror_dropped_total: u64,
        /// Of a rule that mirrors: copies that got no answer.
        pub mirror_failed_total: u64,
    }
}

// === impl RuleDto ===

impl RuleDto {
    /// The rule at this place of the model.
    pub fn of(world: &World<'_>, at: usize) -> RuleDto {
        let rule = &world.model.rules[at];
        let live = world.snapshot.rules.get(at);
        let groups = rule.when.groups.iter();
        RuleDto {
            name: text(&rule.name),
            vserver: text(&world.model.vserver(rule.vserver).name),
            priority: rule.priority,
            phase: match rule.phase {
                Phase::Request => "request".to_owned(),
                Phase::Response => "response".to_owned(),
            },
            when: groups.map(|group| group.terms.iter().map(|term| term.text.to_string()).collect()).collect(),
            action: action(world.model, &rule.action),
            stop: rule.stop,
            hits_total: live.map_or(0, |live| live.hits_total.load(Relaxed)),
            mirror_dropped_total: live.map_or(0, |live| live.mirror_dropped_total.load(Relaxed)),
            mirror_failed_total: live.map_or(0, |live| live.mirror_failed_total.load(Relaxed)),
        }
    }
}

fn action(model: &Model, action: &Action) -> String {
    match action {
        Action::Respond { status, .. } => format!("respond {status}"),
        Action::Reject => "reject".to_owned(),
        Action::Redirect { status, location } => format!("redirect {status} {location}"),
        Action::Route(Route::Vserver(id)) => format!("route vserver {}", model.vserver(*id).name),
        Action::Route(Route::Service(id)) => format!("route service {}", model.service(*id).name),
        Action::Route(Route::Group(id)) => format!("route group {}", model.groups[id.index()].name),
        Action::Edit(edits) => format!("edit: {}", edits.iter().map(edit).collect::<Vec<_>>().join(", ")),
        Action::Mirror { to, percent, .. } => format!("mirror {percent}% {}", model.vserver(*to).name),
        Action::Count => "count".to_owned(),
    }
}

/// Not the values: they may be secrets, and are in the configuration.
fn edit(edit: &Edit) -> String {
    match edit {
        Edit::Set { name, .. } => format!("set {name}"),
        Edit::Add { name, .. } => format!("add {name}"),
        Edit::Remove { name } => format!("remove {name}"),
        Edit::Path { pattern, to } => format!("path {pattern} to {to}"),
        Edit::Url { whole: true, .. } => "url".to_owned(),
        Edit::Url { whole: false, .. } => "url_path".to_owned(),
        Edit::RemoveCookie { name } => format!("remove cookie {name}"),
        Edit::SetCookie { name, .. } => format!("set cookie {name}"),
        Edit::Status(status) => format!("status {status}"),
    }
}
