//! DNS: zones, steered records.

use std::time::Duration;

use super::text::{Text, Value};
use crate::config::units::format_size;
use crate::config::zonefile;
use crate::model::Model;
use crate::model::dnssec::ZoneKey;
use crate::model::transfer::Primary;
use crate::model::zone::{OnEmpty, Record, RecordType, Rrset, Select, SelectMethod, Soa, Zone, ZoneText};

pub(super) fn zones(out: &mut Text, model: &Model) {
    for zone in &model.zones {
        self::zone(out, zone);
        transfer(out, model, zone);
        dnssec(out, zone);
        for rrset in &zone.rrsets {
            self::rrset(out, model, zone, rrset);
        }
    }
}

fn zone(out: &mut Text, zone: &Zone) {
    out.table(&["zone", &zone.name]);
    out.key("ttl", Value::duration(zone.ttl));
    out.maybe("degraded_ttl", zone.degraded_ttl.map(Value::duration));
    if !zone.transfer.comes_in() && !text_has_soa(zone) {
        out.key("soa", soa(&zone.soa));
    }
    match &zone.text {
        Some(ZoneText::Inline(text)) => out.key("static", Value::Lines(text.to_string())),
        Some(ZoneText::File { path, .. }) => out.key("file", Value::str(path)),
        None => {}
    }
}

fn transfer(out: &mut Text, model: &Model, zone: &Zone) {
    let transfer = &zone.transfer;
    if !transfer.goes_out() && !transfer.comes_in() {
        return;
    }
    out.table(&["zone", &zone.name, "transfer"]);
    let key = |key: Option<u32>| Some(Value::str(&model.dns.tsig.get(key? as usize)?.name));
    let from = |primary: &Primary| {
        let mut entries = vec![("address".to_owned(), Value::show(primary.address))];
        entries.extend(key(primary.key).map(|key| ("key".to_owned(), key)));
        Value::Inline(entries)
    };
    if transfer.comes_in() {
        out.key("from", Value::List(transfer.from.iter().map(from).collect()));
        out.key("max_size", Value::Str(format_size(transfer.max_size)));
    }
    out.maybe("key", key(transfer.key));
    if transfer.goes_out() {
        out.key("allow", Value::List(transfer.allow.iter().map(Value::show).collect()));
        out.key("notify", Value::List(transfer.notify.iter().map(Value::show).collect()));
        out.key("history", Value::Int(transfer.history.into()));
    }
}

fn dnssec(out: &mut Text, zone: &Zone) {
    let Some(dnssec) = &zone.dnssec else { return };
    out.table(&["zone", &zone.name, "dnssec"]);
    let key = |key: &ZoneKey| {
        let mut entries = vec![("file".to_owned(), Value::str(&key.private.file))];
        entries.extend(key.role.map(|role| ("role".to_owned(), Value::str(role.word()))));
        entries.push(("state".to_owned(), Value::str(key.state.word())));
        Value::Inline(entries)
    };
    out.key("keys", Value::List(dnssec.keys.iter().map(key).collect()));
    out.key("validity", Value::duration(dnssec.validity));
}

/// Whether the zone text says the SOA itself: said twice it would be refused.
fn text_has_soa(zone: &Zone) -> bool {
    let text = match &zone.text {
        Some(ZoneText::Inline(text) | ZoneText::File { text, .. }) => text,
        None => return false,
    };
    let ttl = u32::try_from(zone.ttl.as_secs()).unwrap_or(0);
    // Reading the text costs; most texts do not even hold the word.
    text.to_ascii_uppercase().contains("SOA")
        && zonefile::read(text, &zone.origin, ttl).0.iter().any(|record| record.rtype == RecordType::SOA)
}

fn soa(soa: &Soa) -> Value {
    Value::Inline(vec![
        ("mname".into(), Value::show(&soa.mname)),
        ("rname".into(), Value::show(&soa.rname)),
        ("serial".into(), Value::Int(soa.serial.into())),
        ("refresh".into(), Value::duration(soa.refresh)),
        ("retry".into(), Value::duration(soa.retry)),
        ("expire".into(), Value::duration(soa.expire)),
        ("minimum".into(), Value::duration(soa.minimum)),
    ])
}

fn rrset(out: &mut Text, model: &Model, zone: &Zone, rrset: &Rrset) {
    out.table(&["zone", &zone.name, "rrset", &rrset.key]);
    if rrset.own_ttl {
        out.key("ttl", Value::duration(Duration::from_secs(rrset.ttl.into())));
    }
    if rrset.own_degraded_ttl {
        // Equal to the TTL it shortens nothing, and is kept all the same.
        let degraded = rrset.degraded_ttl.unwrap_or(rrset.ttl);
        out.key("degraded_ttl", Value::duration(Duration::from_secs(degraded.into())));
    }
    out.key("records", Value::List(rrset.records.iter().map(|record| self::record(model, rrset, record)).collect()));
    out.key("on_empty", on_empty(&rrset.on_empty));
    out.key("select", select(&rrset.select));
    out.maybe("datacenter", rrset.datacenter.as_ref().map(Value::str));
    out.maybe("gslb_vserver", rrset.gslb_vserver.as_ref().map(Value::str));
}

fn record(model: &Model, rrset: &Rrset, record: &Record) -> Value {
    let mut entries = vec![("data".to_owned(), Value::str(&record.data))];
    let mut add = |key: &str, value: Option<Value>| entries.extend(value.map(|value| (key.to_owned(), value)));
    add("type", (record.rtype != rrset.rtype).then(|| Value::show(record.rtype)));
    add(
        "cond",
        record.cond.map(|(scenario, inverse)| {
            let name = &model.scenario(scenario).name;
            Value::Str(format!("{name}{}", if inverse { "!" } else { "" }))
        }),
    );
    add("drCond", record.dr_cond.map(|scenario| Value::str(&model.scenario(scenario).name)));
    add("check", record.check.map(|id| Value::str(&model.watched_term(id).text)));
    add("enabled", (!record.enabled).then_some(Value::Bool(false)));
    add("weight", Some(Value::Int(record.weight.into())));
    add("datacenter", record.datacenter.as_ref().map(Value::str));
    let regions = || Value::List(record.geo.iter().map(Value::show).collect());
    add("geo", (!record.geo.is_empty()).then(regions));
    Value::Inline(entries)
}

fn on_empty(on_empty: &OnEmpty) -> Value {
    Value::str(match on_empty {
        OnEmpty::ServeAll => "serve_all",
        OnEmpty::OtherSet => "other_set",
        OnEmpty::LastGood => "last_good",
        OnEmpty::NoData => "nodata",
        OnEmpty::ServFail => "servfail",
        OnEmpty::Static(data) => {
            let data = Value::strs(data.iter().map(|d| &d.data));
            return Value::Inline(vec![("static".into(), data)]);
        }
    })
}

fn select(select: &Select) -> Value {
    let method = match select.method {
        SelectMethod::Ordered => "ordered",
        SelectMethod::Weighted => "weighted",
        SelectMethod::RoundRobin => "round_robin",
        SelectMethod::Hash => "hash",
    };
    let answers = select.answers.map_or_else(|| Value::str("all"), |n| Value::Int(n.into()));
    let mut entries = vec![("method".to_owned(), Value::str(method)), ("answers".into(), answers)];
    if select.geo {
        entries.push(("geo".into(), Value::Bool(true)));
    }
    if select.topology {
        entries.push(("topology".into(), Value::Bool(true)));
    }
    Value::Inline(entries)
}
