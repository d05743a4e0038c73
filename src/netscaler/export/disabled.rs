//! What people have disabled: no configuration, and yet what a saved file says.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;
use crate::netscaler::value::text_of;

/// Kind (`server`, `service`, `service_group`, `vserver`, …) and name of what is disabled; a member of a group is the
/// service `GROUP/MEMBER`.
pub type Disabled = BTreeSet<(String, String)>;

/// What of it the lines have not said yet.
pub(super) struct Unsaid {
    objects: Disabled,
    /// Members by their group, and what a line calls them.
    members: BTreeSet<(String, String)>,
}

// === impl Unsaid ===

impl Unsaid {
    pub fn new(document: &Document, disabled: &Disabled) -> Unsaid {
        let mut unsaid = Unsaid { objects: Disabled::new(), members: BTreeSet::new() };
        for (kind, name) in disabled {
            let member = name.split_once('/').filter(|_| kind == "service").and_then(|(group, member)| {
                let names = document.member_names(document.table("service_group", group)?);
                let (_, called) = names.into_iter().find(|(name, _)| name == member)?;
                Some((group.to_owned(), called))
            });
            match member {
                Some(member) => drop(unsaid.members.insert(member)),
                None => drop(unsaid.objects.insert((kind.clone(), name.clone()))),
            }
        }
        unsaid
    }

    /// Says it at the end of the line of an object.
    pub fn object(&mut self, resource: &Resource, name: &str, out: &mut String) {
        let kind = match resource.nitro {
            "lbvserver" | "csvserver" => "vserver",
            "servicegroup" => "service_group",
            other => other,
        };
        if self.objects.remove(&(kind.to_owned(), name.to_owned())) {
            out.push_str(STATE);
        }
    }

    /// Says it at the end of the line of a member; of other bindings there is nothing to be said.
    pub fn binding(&mut self, resource: &Resource, row: &Map<String, Value>, out: &mut String) {
        if self.members.is_empty() || resource.nitro != "servicegroup_servicegroupmember_binding" {
            return;
        }
        let text = |key: &str| row.get(key).map(text_of);
        let Some((group, host)) = text(resource.key).zip(text("servername").or_else(|| text("ip"))) else { return };
        let port = text("port").and_then(|port| port.parse().ok());
        if self.members.remove(&(group, Document::member_called(&host, port))) {
            out.push_str(STATE);
        }
    }

    /// A comment of what no line could say; empty where lines say all.
    pub fn left(&self) -> String {
        let mut out = String::new();
        let members = self.members.iter().map(|(group, member)| format!("member {member} of {group}"));
        let objects = self.objects.iter().map(|(kind, name)| format!("{} {name}", kind.replace('_', " ")));
        for what in objects.chain(members) {
            let begin = if out.is_empty() { "# Disabled now, and no line says it: " } else { ", " };
            let _ = write!(out, "{begin}{what}");
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }
}

const STATE: &str = " -state DISABLED";
