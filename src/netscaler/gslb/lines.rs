//! Objects of GSLB as lines, which read back give them again.

use std::fmt::Write as _;

use super::Books;
use super::said::{Object, Opt};
use crate::netscaler::export::quoted;

/// `add gslb service gs-1 192.0.2.1 HTTP 80 -siteName east`
pub(super) fn add(kind: &str, object: &Object) -> String {
    let mut line = format!("add gslb {kind} {}", quoted(&object.name));
    for word in &object.words {
        let _ = write!(line, " {}", quoted(word));
    }
    options(&mut line, object.options.iter().filter(|option| !is_backup(option)));
    line
}

/// What is said once all are added: the backup, then what is bound.
pub(super) fn further(kind: &str, object: &Object) -> Vec<String> {
    let name = quoted(&object.name);
    let backups = object.options.iter().filter(|option| is_backup(option));
    let mut lines: Vec<String> =
        backups.map(|option| format!("set gslb {kind} {name} -backupVServer {}", quoted(&option.value))).collect();
    for bound in &object.bound {
        let mut line = format!("bind gslb {kind} {name}");
        options(&mut line, bound.options.iter());
        lines.push(line);
    }
    lines
}

fn is_backup(option: &Opt) -> bool {
    option.key.eq_ignore_ascii_case("backupVServer")
}

fn options<'a>(line: &mut String, options: impl Iterator<Item = &'a Opt>) {
    for Opt { key, value, .. } in options {
        let _ = write!(line, " -{key}");
        if !value.is_empty() {
            let _ = write!(line, " {}", quoted(value));
        }
    }
}

// === impl Books ===

impl Books {
    /// All of them, what is named before what names it; those alone that `wanted` takes, by kind and object.
    pub(super) fn lines(&self, wanted: impl Fn(&str, &Object) -> bool) -> Vec<String> {
        let of_kind = |kind: &'static str, objects: &super::Objects| -> (Vec<String>, Vec<String>) {
            let chosen: Vec<&Object> = objects.iter().filter(|object| wanted(kind, object)).collect();
            let adds = chosen.iter().map(|object| add(kind, object)).collect();
            (adds, chosen.iter().flat_map(|object| further(kind, object)).collect())
        };
        let (sites, _) = of_kind("site", &self.sites);
        let (services, monitors) = of_kind("service", &self.services);
        let (vservers, bound) = of_kind("vserver", &self.vservers);
        [sites, services, vservers, monitors, bound].concat()
    }
}
