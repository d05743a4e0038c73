//! One more record in a zone that has a text already: at the price of a line, however much the zone and the
//! configuration hold. Vservers of GSLB stay as they are then, since they depend on which zones there are and not on
//! what stands in them.

use serde_json::{Map, Value};

use super::{Text, is_meant, line, rtype};
use crate::config::zonefile;
use crate::netscaler::gslb::change::{Given, value};
use crate::netscaler::gslb::zones;
use crate::netscaler::import::Pending;
use crate::netscaler::resource::Resource;
use crate::netscaler::value::of_object;

/// Writes the record at the end of its zone's text. `None`: nothing is changed, and the long way tells why, or does it.
pub(in super::super) fn append(
    root: &mut Map<String, Value>,
    resource: &'static Resource,
    name: &str,
    given: &Given,
) -> Option<()> {
    let is_record = !["dnszone", "dnssoarec"].contains(&resource.nitro);
    let owner = zones::domain(name).ok().filter(|_| is_record)?;
    let (zone, inside) = holder(root, &owner)?;
    let table = of_object(root, "zone", zone)?;
    if table.contains_key("file") || table.contains_key("transfer") || is_steered(table, &inside) {
        return None;
    }
    let whole = Text::of(zone, table)?;
    let own = lines_of(&whole.text, &inside, &owner)?;
    let there = whole.records(&own, &owner, rtype(resource));
    if there.iter().any(|(_, data)| is_meant(resource, given, data)) {
        return None;
    }
    let ttl = match (there.first(), value(given, "ttl")) {
        (Some((known, _)), Some(said)) if said != known.to_string() => return None,
        (Some((known, _)), None) => Some(*known),
        _ => None,
    };
    let records = zones::record(1, &Pending::read(2, &line(resource, &owner, given, ttl))).ok()?;
    let new: String = records.iter().map(|record| zones::line(record, &inside)).collect::<Option<_>>()?;
    // A record that stands there, a CNAME beside another one, two TTLs: all are of one name.
    let (_, problems) = zonefile::read(&format!("{own}{new}"), &whole.origin, whole.ttl);
    if !problems.is_empty() {
        return None;
    }
    let Some(Value::String(text)) = root.get_mut("zone")?.get_mut(zone)?.get_mut("static") else { return None };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&new);
    Some(())
}

/// The zone that holds a name, the longest, and the name in it.
fn holder<'a>(root: &Map<String, Value>, owner: &'a str) -> Option<(&'a str, String)> {
    let zones = root.get("zone")?.as_object()?;
    let mut zone = owner;
    while !zones.contains_key(zone) {
        zone = zone.split_once('.')?.1;
    }
    let inside = owner[..owner.len() - zone.len()].trim_end_matches('.');
    Some((zone, if inside.is_empty() { "@".to_owned() } else { inside.to_owned() }))
}

fn is_steered(zone: &Map<String, Value>, inside: &str) -> bool {
    let rrsets = zone.get("rrset").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    rrsets.into_iter().any(|key| key.split(' ').next() == Some(inside))
}

/// The lines of a name. `None`: not every record of the text stands on one line with its name in front.
fn lines_of(text: &str, inside: &str, owner: &str) -> Option<String> {
    let is_plain = !text.starts_with([' ', '\t'])
        && !["\n ", "\n\t"].iter().any(|indented| text.contains(indented))
        && !text.contains(['$', '(']);
    let is_own = |line: &&str| {
        let first = line.split([' ', '\t']).next().unwrap_or_default();
        first.eq_ignore_ascii_case(inside)
            || first.strip_suffix('.').is_some_and(|name| name.eq_ignore_ascii_case(owner))
    };
    is_plain.then(|| text.lines().filter(is_own).flat_map(|line| [line, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use crate::netscaler::document::Document;
    use crate::netscaler::gslb::change;
    use crate::netscaler::line::{self, Parsed};
    use crate::netscaler::statement::Statement;

    fn statement(text: &str) -> Statement {
        match line::parse(text) {
            Ok(Parsed::Statements(statements)) => statements.into_iter().next().expect("one"),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn arguments(statement: &Statement) -> serde_json::Map<String, serde_json::Value> {
        statement.arguments.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect()
    }

    const ZONES: &str = r#"
        [zone."example.test"]
        soa = { mname = "ns1", rname = "hostmaster" }
        static = "@ NS ns1\nns1 A 192.0.2.53\nwww.example.test. 300 A 192.0.2.1\nmail 60 MX 10 mx\n"
        [zone."example.test".rrset."steered A"]
        records = ["192.0.2.9"]
        [zone."odd.test"]
        static = "$TTL 5m\n@ NS ns1.example.test.\n  TXT \"indented\"\n"
        [zone."file.test"]
        file = "zone"
    "#;

    #[test]
    fn the_short_way_does_what_the_long_one_does() {
        let mut short = Document::from_toml(ZONES).unwrap();
        let mut long = short.clone();
        for (text, is_short) in [
            ("add dns addRec app.example.test 192.0.2.2", true),
            ("add dns addRec app.example.test 192.0.2.3 192.0.2.4", true),
            ("add dns addRec app.example.test 192.0.2.3", false),
            ("add dns addRec app.example.test 192.0.2.5 -TTL 7", false),
            ("add dns addRec www.example.test 192.0.2.6", true),
            ("add dns addRec WWW.Example.Test. 192.0.2.7 -TTL 300", true),
            ("add dns aaaaRec app.example.test 2001:db8::1 -TTL 9", true),
            ("add dns cnameRec app.example.test other.test", false),
            ("add dns cnameRec alias.example.test other.test", true),
            ("add dns addRec alias.example.test 192.0.2.8", false),
            ("add dns cnameRec example.test other.test", false),
            ("add dns mxRec mail.example.test -mx mx.example.test -pref 20", false),
            ("add dns mxRec mail.example.test -mx mx2.example.test -pref 20", true),
            ("add dns txtRec example.test \"v=spf1 -all\" \"more of it\"", true),
            ("add dns nsRec example.test ns2.example.test", true),
            ("add dns srvRec _sip._tcp.example.test app.example.test -priority 1 -weight 2 -port 5060", true),
            ("add dns addRec steered.example.test 192.0.2.10", false),
            ("add dns addRec app.example.test nonsense", false),
            ("add dns addRec new.example.org 192.0.2.11", false),
            ("add dns addRec new.example.org 192.0.2.12", true),
            ("add dns addRec a.odd.test 192.0.2.13", false),
            ("add dns addRec a.file.test 192.0.2.14", false),
            ("add dns soaRec new.test -originServer ns1.example.test -contact a.example.test", false),
            ("add dns nsRec new.test ns1.example.test", false),
            ("add dns txtRec new.test \"(in brackets)\"", true),
            ("add dns txtRec new.test \"and more\"", false),
        ] {
            let statement = statement(text);
            let by_the_long_way =
                change::execute(&mut long, statement.resource, statement.verb, &arguments(&statement));
            let mut root = short.root().clone();
            let was_short = change::append(&mut root, statement.resource, statement.verb, &arguments(&statement));
            assert_eq!(was_short, is_short, "{text}");
            assert_eq!(short.execute(&statement).map(drop), by_the_long_way, "{text}");
            assert_eq!(short.to_toml(), long.to_toml(), "{text}");
        }
    }

    /// The long way takes a minute.
    #[test]
    fn a_thousand_records_go_into_a_zone() {
        let mut document = Document::from_toml(ZONES).unwrap();
        for n in 0..1_000 {
            document.execute(&statement(&format!("add dns addRec host{n}.example.test 192.0.2.1"))).unwrap();
        }
        let text = document.table("zone", "example.test").unwrap()["static"].as_str().unwrap();
        assert_eq!(text.lines().count(), 4 + 1_000);
    }
}
