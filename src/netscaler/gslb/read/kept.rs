//! Objects that lines say, because no table does.

use serde_json::Value;

use super::super::said::Object;
use super::super::{Books, collect};
use crate::netscaler::document::Document;
use crate::netscaler::import::{Fate, Pending};

/// Objects of `[gslb] lines`, and lines that cannot be read.
pub(super) fn kept(document: &Document) -> (Books, Vec<String>) {
    let lines = document.root().get("gslb").and_then(|gslb| gslb.get("lines")?.as_array());
    let texts: Vec<&str> = lines.into_iter().flatten().filter_map(Value::as_str).collect();
    let mut pending: Vec<Pending> = texts.iter().enumerate().map(|(at, text)| Pending::read(at + 1, text)).collect();
    let books = collect(&mut pending);
    let is_bad = |line: &Pending| !matches!(line.fate, Some(Fate::Irrelevant(_)));
    let bad = pending.iter().zip(&texts).filter(|(line, _)| is_bad(line)).map(|(_, text)| (*text).to_owned());
    (books, bad.collect())
}

/// The GSLB service of `[gslb] lines` that names a server or a monitor: `gslb service gs-east`.
pub(in crate::netscaler) fn kept_user(document: &Document, section: &str, name: &str) -> Option<String> {
    if !matches!(section, "server" | "monitor") || document.root().get("gslb").is_none() {
        return None;
    }
    let (kept, _) = kept(document);
    let names = |service: &&Object| match section {
        "server" => service.words.first().is_some_and(|host| host == name),
        _ => service.bound("monitorName").any(|(monitor, _)| monitor == name),
    };
    kept.services.iter().find(names).map(|service| format!("gslb service {}", service.name))
}
