//! Who may transfer a zone, who is told of changes, and the keys of both.

use std::net::SocketAddr;

use super::super::Context;
use super::super::global::absent_secret;
use super::super::object::Object;
use crate::config::document::{Node, Path, Table};
use crate::config::report::nearest;
use crate::config::values;
use crate::model::scenario::Secret;
use crate::model::tls::Pem;
use crate::model::transfer::{Primary, Transfer, TsigKey, TsigSecret};
use crate::model::zone::DnsName;

const TARGETS_MOST: usize = 64;
const PRIMARIES_MOST: usize = 16;

static NOTHING: Table = Table { entries: Vec::new() };

/// `[dns.tsig.NAME]`, by name.
pub fn tsig(cx: &mut Context<'_>) -> Vec<TsigKey> {
    let root = Path::Root;
    let dns = root.key("dns");
    let section = dns.key("tsig");
    let mut keys = Vec::new();
    for entry in &table(cx).entries {
        let Some(table) = entry.node.table() else { continue };
        let object = Object::new(table, None, section.key(&entry.key), entry.place);
        let Some(owner) = DnsName::parse(&entry.key, &DnsName::root()) else {
            object.wrong_whole(cx.report, format!("`{}` is not a domain name", entry.key));
            continue;
        };
        let Some(secret) = object.secret(cx.report, "secret") else { continue };
        let secret = match secret {
            Secret::Env(ref name) => {
                absent_secret(cx, &object, "secret", &secret);
                TsigSecret::Env(name.clone())
            }
            Secret::File(path) => {
                let (relative, _) = cx.report.beside(entry.place.file, &path);
                let text = match cx.files.read_key(&relative) {
                    Ok(text) => text.unwrap_or_default(),
                    Err(why) => {
                        object.wrong(cx.report, "secret", format!("`{path}` cannot be read: {why}"));
                        continue;
                    }
                };
                if !text.is_empty() && !is_secret(&text) {
                    object.wrong(cx.report, "secret", format!("`{path}` is not one secret in Base64"));
                }
                TsigSecret::File(Pem { file: relative.into(), text: text.into() })
            }
        };
        keys.push(TsigKey { name: entry.key.as_str().into(), owner, secret });
    }
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    keys
}

fn is_secret(text: &str) -> bool {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text.trim()).is_ok_and(|secret| !secret.is_empty())
}

fn table<'d>(cx: &Context<'d>) -> &'d Table {
    let dns = cx.document.entry("dns").and_then(|entry| entry.node.table());
    dns.and_then(|dns| dns.get("tsig")).and_then(Node::table).unwrap_or(&NOTHING)
}

/// `[zone.NAME.transfer]`
pub fn transfer(cx: &mut Context<'_>, zone: &Object<'_>) -> Transfer {
    let Some((table, place)) = zone.inner("transfer") else { return Transfer::default() };
    let object = Object::new(table, None, zone.path.key("transfer"), place);
    let texts = |key: &str| object.items(key).into_iter().filter_map(Node::text);
    let allow = texts("allow").filter_map(|text| values::network(text).ok()).collect();
    let notify: Vec<SocketAddr> = texts("notify").filter_map(|text| values::socket(text).ok()).collect();
    if notify.len() > TARGETS_MOST {
        object.wrong(cx.report, "notify", format!("at most {TARGETS_MOST} addresses"));
    }
    let key = key(cx, &object);
    let from = from(cx, &object, key);
    let history = object.int("history").unwrap_or(Transfer::default().history);
    let max_size = object.get("max_size").and_then(|node| values::size(node).ok());
    let transfer =
        Transfer { max_size: max_size.unwrap_or(Transfer::default().max_size), from, allow, key, notify, history };
    if !transfer.comes_in() {
        object.only(cx.report, &["max_size"], "without `from`");
        if !transfer.goes_out() && object.text("key").is_none() {
            let why = "say who may have the zone (`allow`, a TSIG `key`, or both), or where it comes from (`from`)";
            object.wrong_whole(cx.report, why);
        }
    } else if !transfer.goes_out() {
        object.only(cx.report, &["notify", "history"], "without `allow`: the zone goes to nobody");
    }
    transfer
}

/// The key that an object names.
fn key(cx: &mut Context<'_>, object: &Object<'_>) -> Option<u32> {
    let name = object.text("key")?;
    let mut names: Vec<&str> = self::table(cx).entries.iter().map(|entry| &*entry.key).collect();
    names.sort_unstable();
    let found = names.iter().position(|known| *known == name);
    if found.is_none() {
        let meant = nearest(name, names.iter().copied()).map(str::to_owned);
        let path = object.path.key("key");
        let what = format!("{path}: there is no key `{name}` under dns.tsig");
        cx.report.error_meant(object.place_of("key"), path, what, meant);
    }
    found.map(|at| at as u32)
}

/// The primaries: addresses, which take the key of the whole, and tables, which say their own or none.
fn from(cx: &mut Context<'_>, object: &Object<'_>, common: Option<u32>) -> Vec<Primary> {
    let list = object.path.key("from");
    let mut all: Vec<Primary> = Vec::new();
    for (index, node) in object.items("from").into_iter().enumerate() {
        let primary = match node.table() {
            Some(table) => {
                let inner = Object::new(table, None, list.item(index), node.place);
                let Some(address) = inner.socket("address") else { continue };
                Primary { address, key: key(cx, &inner) }
            }
            None => {
                let Some(address) = node.text().and_then(|text| values::socket(text).ok()) else { continue };
                Primary { address, key: common }
            }
        };
        if primary.address.port() == 0 || all.iter().any(|known| known.address == primary.address) {
            let why = if primary.address.port() == 0 { "has no port to ask at" } else { "stands twice" };
            cx.report.error(node.place, list.item(index), format!("{list}: {} {why}", primary.address));
        }
        all.push(primary);
    }
    if all.len() > PRIMARIES_MOST {
        object.wrong(cx.report, "from", format!("at most {PRIMARIES_MOST} addresses"));
    }
    all
}
