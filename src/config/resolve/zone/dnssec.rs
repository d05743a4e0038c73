//! How a zone is signed: its keys are read when the configuration is, so that a key that cannot sign is known before it
//! is needed, and a reload takes the files anew.

use std::collections::HashMap;
use std::time::Duration;

use super::super::Context;
use super::super::object::Object;
use crate::config::document::{Node, Table, Value};
use crate::model::dnssec::{Dnssec, KeyRole, KeyState, SigningKey, ZoneKey};
use crate::model::id::ScenarioId;
use crate::model::tls::Pem;
use crate::model::zone::{DnsName, Rrset, SelectMethod, StaticRecord};

/// Answers of one RRset that the selection can tell apart, each with a signature of its own.
const VARIANTS_MOST: u64 = 4096;
const KEYS_MOST: usize = 16;
const VALIDITY: Duration = Duration::from_secs(14 * 86_400);

static NOTHING: Table = Table { entries: Vec::new() };

/// `[zone.NAME.dnssec]`; the zone's records are there to see whether they can be signed.
pub fn dnssec(
    cx: &mut Context<'_>,
    zone: &Object<'_>,
    origin: &DnsName,
    records: &[StaticRecord],
    rrsets: &[Rrset],
) -> Option<Dnssec> {
    let (table, place) = zone.inner("dnssec")?;
    let object = Object::new(table, None, zone.path.key("dnssec"), place);
    let validity = object.duration("validity").unwrap_or(VALIDITY);
    let mut keys = Vec::new();
    let mut loaded: Vec<SigningKey> = Vec::new();
    for node in object.items("keys") {
        let Some(key) = key(cx, &object, node) else { continue };
        // Where keys are not to be had (`test` on another machine) the configuration is good without them.
        if !key.private.text.is_empty() {
            match key.load(origin) {
                Ok(new) if loaded.iter().any(|old| old.tag == new.tag && old.algorithm == new.algorithm) => {
                    object.wrong(
                        cx.report,
                        "keys",
                        format!("`{}` has tag {} like another key", key.private.file, new.tag),
                    );
                }
                Ok(new) => loaded.push(new),
                Err(why) => object.wrong(cx.report, "keys", format!("`{}` {why}", key.private.file)),
            }
        }
        keys.push(key);
    }
    if keys.len() > KEYS_MOST {
        object.wrong(cx.report, "keys", format!("at most {KEYS_MOST} keys"));
    }
    let all_read = keys.len() == object.items("keys").len();
    if all_read && !keys.iter().any(|key| key.state == KeyState::Active) {
        object.wrong(cx.report, "keys", "no key is active, so nothing would be signed");
    }
    for key in loaded.iter().filter(|key| !loaded.iter().any(|k| k.algorithm == key.algorithm && k.is_active())) {
        let why = format!(
            "algorithm {} has no active key; each algorithm of the DNSKEY records must sign (RFC 4035 §2.2)",
            key.algorithm as u8
        );
        object.wrong(cx.report, "keys", why);
    }
    can_be_signed(cx, &object, validity, records, rrsets);
    Some(Dnssec { keys, validity })
}

fn key(cx: &mut Context<'_>, object: &Object<'_>, node: &Node) -> Option<ZoneKey> {
    let (table, path) = match &node.value {
        Value::Table(table) => (table, table.get("file").and_then(Node::text)?),
        _ => (&NOTHING, node.text()?),
    };
    let word = |key: &str| table.get(key).and_then(Node::text);
    let role = word("role").and_then(|text| KeyRole::ALL.into_iter().find(|role| role.word() == text));
    let published = word("state") == Some(KeyState::Published.word());
    let (relative, _) = cx.report.beside(node.place.file, path);
    let text = match cx.files.read_key(&relative) {
        Ok(text) => text.unwrap_or_default(),
        Err(why) => {
            object.wrong(cx.report, "keys", format!("`{path}` cannot be read: {why}"));
            return None;
        }
    };
    if cx.files.is_private(&relative) == Some(false) {
        let at = object.path.key("keys");
        let what = format!("{at}: others on this machine can read the key `{path}`; `chmod 600` it");
        cx.report.warning(node.place, at, what);
    }
    let public = relative.strip_suffix(".private").map(|stem| format!("{stem}.key"));
    let public = match public.filter(|_| !text.is_empty()).map(|file| (cx.files.read_named(&file), file)) {
        Some((Ok(text), file)) => Some(Pem { file: file.into(), text: text.unwrap_or_default().into() }),
        Some((Err(why), file)) => {
            object.wrong(cx.report, "keys", format!("`{file}` cannot be read: {why}"));
            return None;
        }
        None => None,
    };
    let private = Pem { file: relative.into(), text: text.into() };
    let state = if published { KeyState::Published } else { KeyState::Active };
    Some(ZoneKey { private, public, role, state })
}

/// Signatures must outlive what they sign in caches, and there must not be too many of them.
fn can_be_signed(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    validity: Duration,
    records: &[StaticRecord],
    rrsets: &[Rrset],
) {
    let ttl = records.iter().map(|r| r.ttl).chain(rrsets.iter().map(|r| r.ttl)).max().unwrap_or(0);
    if Duration::from_secs(ttl.into()) > validity / 4 {
        let why =
            format!("a record has a TTL of {ttl} s, more than a quarter of it: its signature could expire in caches");
        object.wrong(cx.report, "validity", why);
    }
    for rrset in rrsets {
        let variants = variants(rrset);
        if variants > VARIANTS_MOST {
            let why = format!(
                "`{}` has more than {VARIANTS_MOST} different answers (`select`), each to be signed; answer all records or fewer",
                rrset.key
            );
            object.wrong_whole(cx.report, why);
        }
    }
}

/// How many sets of records the selection can make of the largest set.
fn variants(rrset: &Rrset) -> u64 {
    let mut sets: HashMap<Option<ScenarioId>, u64> = HashMap::new();
    for record in rrset.records.iter().filter(|record| record.enabled) {
        *sets.entry(record.dr_cond).or_default() += 1;
    }
    let most = sets.into_values().max().unwrap_or(0);
    match (rrset.select.answers.map(u64::from), rrset.select.method) {
        (None, _) | (_, SelectMethod::Ordered) => 1,
        (Some(answers), _) if answers >= most => 1,
        (_, SelectMethod::RoundRobin) => most,
        (Some(answers), _) => choose(most, answers),
    }
}

/// `n` over `k`, as far as it is of interest.
fn choose(n: u64, k: u64) -> u64 {
    let mut count: u64 = 1;
    for i in 0..k.min(n - k) {
        count = count * (n - i) / (i + 1);
        if count > VARIANTS_MOST {
            break;
        }
    }
    count
}
