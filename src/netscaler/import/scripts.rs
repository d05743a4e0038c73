//! Monitors that run scripts: NetScaler has a folder for them, and here the configuration names it.

use serde_json::{Value, json};

use super::{Fate, Pending};
use crate::netscaler::document::Document;

/// Where the manual has it.
const FOLDER: &str = "/etc/bascule/scripts";

/// Names the folder where a monitor needs it, and tells of each of their lines what a person still has to do.
pub(super) fn name_folder(document: &mut Document, lines: &mut [Pending]) {
    let runs = |monitor: &Value| monitor.get("type").is_some_and(|kind| kind == "USER");
    let monitors = document.root().get("monitor").and_then(Value::as_object).into_iter().flatten();
    let scripts: Vec<(String, String)> = monitors
        .filter(|(_, monitor)| runs(monitor))
        .map(|(name, monitor)| {
            let script = monitor.get("script_name").and_then(Value::as_str).unwrap_or_default();
            (name.clone(), script.to_owned())
        })
        .collect();
    if scripts.is_empty() {
        return;
    }
    let mut root = std::mem::take(document).into_root();
    root.entry("monitors").or_insert_with(|| json!({ "scripts": FOLDER }));
    *document = Document::from_root(root);
    for line in lines.iter_mut().filter(|line| line.word(0) == "add") {
        let at = if line.word(1) == "lb" { 3 } else { 2 };
        let is_monitor = line.word(at - 1) == "monitor";
        let Some((_, script)) = scripts.iter().find(|(name, _)| is_monitor && line.text(at) == Some(name)) else {
            continue;
        };
        let told = format!(
            "-scriptName {script}: put a program of this name into {FOLDER}, the folder that `scripts` of [monitors] \
             names; how it is called and what it says: `bascule manual monitors`"
        );
        match &mut line.fate {
            Some(Fate::Missing { what, traffic, .. }) => {
                what.push(told);
                *traffic = true;
            }
            fate => *fate = Some(Fate::Missing { what: vec![told], whole: false, traffic: true }),
        }
    }
}
