//! Where a configuration names its objects, as one table, and changing a name there.

use serde_json::{Map, Value};

use super::super::kept::Place;
use crate::config::condition::{RawSubject, parse_id, parse_term};
use crate::config::policy::expression::renamed;
use crate::config::schema::{Kind, ROOT, Schema};

/// How a name is written.
#[derive(Clone, Copy, Debug)]
enum Written {
    /// A name, a list of names, or a table keyed by names.
    Names(&'static str),
    /// Terms, in lists of lists or in a table of lists, or alone.
    Terms,
    /// A check's term or a query's name.
    Steps,
    /// An expression, which names pattern sets and other expressions.
    Expression,
}

use Written::{Expression, Names, Steps, Terms};

/// Keys from the root, other spellings included; `*` is every name and every place of a list.
static WHERE: &[(&str, Written)] = &[
    ("appliance.site", Names("datacenter")),
    ("defaults.service.monitors", Names("monitor")),
    ("defaults.service.tls.ca", Names("certificate")),
    ("defaults.service.tls.certificate", Names("certificate")),
    ("defaults.vserver.certificates", Names("certificate")),
    ("defaults.vserver.tls.client_ca", Names("certificate")),
    ("defaults.vserver.spillover.when", Terms),
    ("defaults.scenario.*.when", Terms),
    ("defaults.scenario.*.gate", Terms),
    ("defaults.scenario.*.guard.run", Steps),
    ("defaults.scenario.*.triggers", Names("trigger")),
    ("service.*.server", Names("server")),
    ("service.*.monitors", Names("monitor")),
    ("service.*.tls.ca", Names("certificate")),
    ("service.*.tls.certificate", Names("certificate")),
    ("service_group.*.monitors", Names("monitor")),
    ("service_group.*.tls.ca", Names("certificate")),
    ("service_group.*.tls.certificate", Names("certificate")),
    ("service_group.*.member.*.server", Names("server")),
    ("vserver.*.services", Names("service")),
    ("vserver.*.groups", Names("service_group")),
    ("vserver.*.split", Names("service_group")),
    ("vserver.*.proximity.*", Names("service")),
    ("vserver.*.backup", Names("vserver")),
    ("vserver.*.certificates", Names("certificate")),
    ("vserver.*.tls.client_ca", Names("certificate")),
    ("vserver.*.spillover.when", Terms),
    ("vserver.*.responder_policies", Names("responder_policy")),
    ("vserver.*.rewrite_policies", Names("rewrite_policy")),
    ("cs_vserver.*.responder_policies", Names("responder_policy")),
    ("policy_global.responder_policies", Names("responder_policy")),
    ("policy_global.rewrite_policies", Names("rewrite_policy")),
    ("cs_vserver.*.rewrite_policies", Names("rewrite_policy")),
    ("cs_vserver.*.cs_policies", Names("cs_policy")),
    ("cs_vserver.*.cs_policies.*.target", Names("vserver")),
    ("cs_action.*.target", Names("vserver")),
    ("cs_policy.*.action", Names("cs_action")),
    ("policy_expression.*.value", Expression),
    ("cs_policy.*.rule", Expression),
    ("responder_policy.*.rule", Expression),
    ("rewrite_policy.*.rule", Expression),
    ("responder_policy.*.action", Names("responder_action")),
    ("rewrite_policy.*.action", Names("rewrite_action")),
    ("cs_vserver.*.default", Names("vserver")),
    ("cs_vserver.*.backup", Names("vserver")),
    ("cs_vserver.*.certificates", Names("certificate")),
    ("cs_vserver.*.tls.client_ca", Names("certificate")),
    ("lb_group.*.vservers", Names("vserver")),
    ("rule.*.vserver", Names("vserver")),
    ("rule.*.when", Terms),
    ("rule.*.action.route.vserver", Names("vserver")),
    ("rule.*.action.route.service", Names("service")),
    ("rule.*.action.route.group", Names("service_group")),
    ("rule.*.action.mirror.vserver", Names("vserver")),
    ("check.*.term", Terms),
    ("alert.*.services", Names("service")),
    ("alert.*.vservers", Names("vserver")),
    ("alert.*.scenarios", Names("scenario")),
    ("alert.*.triggers", Names("trigger")),
    ("scenario.*.*.when", Terms),
    ("scenario.*.*.gate", Terms),
    ("scenario.*.*.guard.run", Steps),
    ("scenario.*.*.triggers", Names("trigger")),
    ("datacenter_pair.*.active", Names("datacenter")),
    ("datacenter_pair.*.backup", Names("datacenter")),
    ("datacenter_pair.*.witness", Names("datacenter")),
    ("datacenter_pair.*.after", Names("datacenter_pair")),
    ("datacenter_pair.*.from_active", Names("scenario")),
    ("datacenter_pair.*.to_backup", Names("scenario")),
    ("datacenter_pair.*.to_active", Names("scenario")),
    ("datacenter_pair.*.from_backup", Names("scenario")),
    ("datacenter_pair.*.*.*.when", Terms),
    ("datacenter_pair.*.*.*.gate", Terms),
    ("datacenter_pair.*.*.*.guard.run", Steps),
    ("datacenter_pair.*.*.*.triggers", Names("trigger")),
    ("peer.*.site", Names("datacenter")),
    ("drills.blocked", Terms),
    ("drills.stop_on", Terms),
    ("dns.tls.certificates", Names("certificate")),
    ("dns.https.certificates", Names("certificate")),
    ("zone.*.transfer.key", Names("tsig")),
    ("zone.*.transfer.from.key", Names("tsig")),
    ("zone.*.transfer.from.*.key", Names("tsig")),
    ("zone.*.rrset.*.datacenter", Names("datacenter")),
    ("zone.*.rrset.*.records.*.datacenter", Names("datacenter")),
    ("zone.*.rrset.*.records.*.check", Terms),
    ("zone.*.rrset.*.records.*.cond", Names("scenario")),
    ("zone.*.rrset.*.records.*.drCond", Names("scenario")),
];

/// One object's change of names, and that of what is named after it.
pub(super) struct Renaming {
    /// The table of the object; both kinds of vservers are `vserver`, a member is a `service`.
    pub kind: String,
    from: String,
    to: String,
}

// === impl Renaming ===

impl Renaming {
    pub fn of(place: &Place, to: &str) -> Renaming {
        match &place.0[..] {
            [kind, name] => {
                let kind = if kind == "cs_vserver" { "vserver" } else { kind };
                Renaming { kind: kind.to_owned(), from: name.clone(), to: to.to_owned() }
            }
            [outer, group, inner, name] if outer == "service_group" && inner == "member" => {
                Renaming { kind: "service".to_owned(), from: format!("{group}/{name}"), to: format!("{group}/{to}") }
            }
            keys => Renaming {
                kind: keys.get(keys.len().saturating_sub(2)).cloned().unwrap_or_default(),
                from: place.name().to_owned(),
                to: to.to_owned(),
            },
        }
    }

    /// Changes the name wherever the configuration says it.
    pub fn everywhere(&self, root: &mut Map<String, Value>) {
        for (path, written) in WHERE {
            let keys: Vec<&str> = path.split('.').collect();
            self.descend(root, &keys, Some(&ROOT), *written);
        }
    }

    fn descend(
        &self,
        table: &mut Map<String, Value>,
        keys: &[&str],
        schema: Option<&'static Schema>,
        written: Written,
    ) {
        let Some((first, rest)) = keys.split_first() else { return };
        for (key, value) in table.iter_mut() {
            let known = schema.and_then(|schema| {
                schema.keys.iter().find(|known| known.name == key.as_str() || known.aliases.contains(&key.as_str()))
            });
            if *first == "*" || key == first || known.is_some_and(|known| known.name == *first) {
                self.value(value, rest, known.map(|known| &known.kind), written);
            }
        }
    }

    fn value(&self, value: &mut Value, keys: &[&str], kind: Option<&'static Kind>, written: Written) {
        if keys.is_empty() {
            return match written {
                Names(kind) => self.names(value, kind),
                Expression => self.texts(value, &|text| renamed(text, &self.kind, &self.from, &self.to)),
                Terms => self.texts(value, &|text| self.term(text)),
                Steps => self.texts(value, &|text| self.name("query", text).or_else(|| self.term(text))),
            };
        }
        match value {
            Value::Object(table) => {
                let map = kind.and_then(map_of);
                if let (Some(inner), "*") = (map, keys[0]) {
                    table.values_mut().for_each(|value| self.value(value, &keys[1..], Some(inner), written));
                } else {
                    self.descend(table, keys, kind.and_then(schema_of), written);
                }
            }
            Value::Array(items) if keys[0] == "*" => {
                items.iter_mut().for_each(|item| self.value(item, &keys[1..], kind.and_then(item_of), written));
            }
            _ => {}
        }
    }

    /// A name, a list of names, or a table keyed by names, in whose order they stay.
    fn names(&self, value: &mut Value, kind: &str) {
        match value {
            Value::Object(table) => {
                let entries = std::mem::take(table).into_iter();
                *table = entries.map(|(key, value)| (self.name(kind, &key).unwrap_or(key), value)).collect();
            }
            value => self.texts(value, &|text| self.name(kind, text)),
        }
    }

    /// Every text within, however deep; keys are no texts.
    fn texts(&self, value: &mut Value, change: &dyn Fn(&str) -> Option<String>) {
        match value {
            Value::String(text) => {
                if let Some(changed) = change(text) {
                    *text = changed;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.texts(item, change)),
            Value::Object(table) => table.values_mut().for_each(|value| self.texts(value, change)),
            _ => {}
        }
    }

    /// The new name of an object of this kind; `None` where it keeps its own.
    fn name(&self, kind: &str, name: &str) -> Option<String> {
        let (from, to) = (&self.from, &self.to);
        if self.kind == kind {
            return (name == from).then(|| to.clone());
        }
        let after = |separator: char| {
            let rest = name.strip_prefix(&**from)?.strip_prefix(separator)?;
            Some(format!("{to}{separator}{rest}"))
        };
        match (&*self.kind, kind) {
            ("service_group", "service" | "check") | ("datacenter_pair", "scenario") => after('/'),
            ("service", "check") => after(':'),
            ("monitor", "check") => {
                let service = name.strip_suffix(&**from)?.strip_suffix(':')?;
                Some(format!("{service}:{to}"))
            }
            ("datacenter", "switch") => after('.'),
            _ => None,
        }
    }

    /// A term with the name in it changed; `None` where it names something else, or is no term.
    fn term(&self, text: &str) -> Option<String> {
        let id = parse_term(text).ok()?.id;
        let begins = text.find(&id)?;
        let (_, rest) = (text[..begins].len(), &text[begins + id.len()..]);
        let changed = self.id(&id)?;
        Some(format!("{}{changed}{rest}", &text[..begins]))
    }

    fn id(&self, id: &str) -> Option<String> {
        let within = |prefix: &str, name: &str, kind: &str| {
            let suffix = id.strip_prefix(prefix)?.strip_prefix(name)?;
            Some(format!("{prefix}{}{suffix}", self.name(kind, name)?))
        };
        match parse_id(id).ok()? {
            RawSubject::Plain(name) => self.name("check", &name).or_else(|| self.name("criterion", &name)),
            RawSubject::Vserver { name, .. } => within("vs:", &name, "vserver"),
            RawSubject::Service { name, .. } => within("svc:", &name, "service"),
            RawSubject::Scenario(name) => within("sc:", &name, "scenario"),
            RawSubject::TimeWindow(name) => within("tw:", &name, "time_window"),
            RawSubject::Switch(name) => within("sw:", &name, "switch"),
            RawSubject::Datacenter { name, signal, observer } => {
                let of = self.name("datacenter", &name);
                let by = observer.as_deref().and_then(|observer| self.name("datacenter", observer));
                if of.is_none() && by.is_none() {
                    return None;
                }
                let observer = by.or(observer).map(|observer| format!("@{observer}")).unwrap_or_default();
                Some(format!("dc:{}.{}{observer}", of.unwrap_or(name), signal.word()))
            }
        }
    }
}

fn map_of(kind: &'static Kind) -> Option<&'static Kind> {
    match kind {
        Kind::Map(inner) => Some(inner),
        Kind::OneOf(kinds) => kinds.iter().find_map(map_of),
        _ => None,
    }
}

fn schema_of(kind: &'static Kind) -> Option<&'static Schema> {
    match kind {
        Kind::Table(schema) => Some(schema),
        Kind::OneOf(kinds) => kinds.iter().find_map(schema_of),
        _ => None,
    }
}

fn item_of(kind: &'static Kind) -> Option<&'static Kind> {
    match kind {
        Kind::List(inner) => Some(inner),
        Kind::OneOf(kinds) => kinds.iter().find_map(item_of),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn renamed(place: &[&str], to: &str, root: Value) -> Value {
        let Value::Object(mut root) = root else { panic!("a configuration is a table") };
        Renaming::of(&Place(place.iter().map(ToString::to_string).collect()), to).everywhere(&mut root);
        Value::Object(root)
    }

    #[test]
    fn a_service_is_renamed_in_lists_tables_and_terms() {
        let root = json!({
            "vserver": {"a": {"services": ["web1", "web2"]}, "b": {"services": {"web2": 1, "web1": {"order": 2}}}},
            "scenario": {"dr": {"activate": {"when": [["svc:web1!{for:5s}", "web1:ok"], ["svc:web11"]]}}},
            "rule": {"r": {"when": {"g": ["svc:web1.fault"]}, "action": {"route": {"service": "web1"}}}},
        });
        let after = renamed(&["service", "web1"], "new", root);
        assert_eq!(after["vserver"]["a"]["services"], json!(["new", "web2"]));
        assert_eq!(after["vserver"]["b"]["services"].to_string(), r#"{"web2":1,"new":{"order":2}}"#);
        assert_eq!(after["scenario"]["dr"]["activate"]["when"], json!([["svc:new!{for:5s}", "new:ok"], ["svc:web11"]]));
        assert_eq!(
            after["rule"]["r"],
            json!({"when": {"g": ["svc:new.fault"]}, "action": {"route": {"service": "new"}}})
        );
    }

    #[test]
    fn a_pattern_set_and_an_expression_are_renamed_within_expressions_and_nowhere_else() {
        let root = json!({
            "policy_expression": {"is-api": {"value": "HTTP.REQ.URL.PATH.STARTSWITH_ANY(\"ps\")"}},
            "cs_policy": {"a": {"rule": "(is-api || HTTP.REQ.HOSTNAME.EQ(\"ps\")) && !HTTP.REQ.URL.REGEX_MATCH(re/is-api/)"}},
            "responder_policy": {"ps": {"rule": "HTTP.REQ.HOSTNAME.EQUALS_ANY(ps)", "action": "is-api"}},
        });
        let sets = renamed(&["policy_patset", "ps"], "hosts", root.clone());
        assert_eq!(sets["policy_expression"]["is-api"]["value"], "HTTP.REQ.URL.PATH.STARTSWITH_ANY(\"hosts\")");
        assert_eq!(sets["cs_policy"], root["cs_policy"]);
        assert_eq!(sets["responder_policy"]["ps"]["rule"], "HTTP.REQ.HOSTNAME.EQUALS_ANY(\"hosts\")");
        let named = renamed(&["policy_expression", "is-api"], "v2", root.clone());
        let rule = "(v2 || HTTP.REQ.HOSTNAME.EQ(\"ps\")) && !HTTP.REQ.URL.REGEX_MATCH(re/is-api/)";
        assert_eq!(named["cs_policy"]["a"]["rule"], rule);
        assert_eq!(named["responder_policy"], root["responder_policy"]);
    }

    #[test]
    fn what_is_named_after_an_object_follows_it() {
        let root = json!({"scenario": {"dr": {"activate": {"when":
            [["svc:spare/m1", "spare/m1:tcp"], ["sw:dc-a.maintenance", "dc:dc-a.wan@dc-b", "dc:dc-b.lan"], ["sc:main/to-backup"]]}}}});
        let when = |place: &[&str], to| renamed(place, to, root.clone())["scenario"]["dr"]["activate"]["when"].clone();
        assert_eq!(when(&["service_group", "spare"], "x")[0], json!(["svc:x/m1", "x/m1:tcp"]));
        assert_eq!(when(&["service_group", "spare", "member", "m1"], "m9")[0], json!(["svc:spare/m9", "spare/m9:tcp"]));
        assert_eq!(when(&["datacenter", "dc-a"], "x")[1], json!(["sw:x.maintenance", "dc:x.wan@dc-b", "dc:dc-b.lan"]));
        assert_eq!(when(&["datacenter", "dc-b"], "y")[1], json!(["sw:dc-a.maintenance", "dc:dc-a.wan@y", "dc:y.lan"]));
        assert_eq!(when(&["datacenter_pair", "main"], "p")[2], json!(["sc:p/to-backup"]));
        assert_eq!(when(&["monitor", "tcp"], "t")[0], json!(["svc:spare/m1", "spare/m1:t"]));
    }

    #[test]
    fn other_spellings_of_a_key_are_found() {
        let root = json!({"vserver": {"a": {"backup_vserver": "b", "certificate": ["c"]}},
            "zone": {"z": {"rrset": {"www A": {"records": [{"data": "x", "dr_cond": "dr", "check": "api!{fails:2}"}]}}}}});
        assert_eq!(renamed(&["cs_vserver", "b"], "n", root.clone())["vserver"]["a"]["backup_vserver"], json!("n"));
        assert_eq!(renamed(&["certificate", "c"], "n", root.clone())["vserver"]["a"]["certificate"], json!(["n"]));
        let record =
            |place: &[&str]| renamed(place, "n", root.clone())["zone"]["z"]["rrset"]["www A"]["records"][0].clone();
        assert_eq!(record(&["scenario", "dr"])["dr_cond"], json!("n"));
        assert_eq!(record(&["check", "api"])["check"], json!("n!{fails:2}"));
    }

    #[test]
    fn every_path_of_the_table_is_in_the_schema() {
        fn leads(kind: &'static Kind, keys: &[&str]) -> bool {
            let Some((first, rest)) = keys.split_first() else { return true };
            let by_name = map_of(kind).filter(|_| *first == "*").is_some_and(|inner| leads(inner, rest));
            let by_place = item_of(kind).filter(|_| *first == "*").is_some_and(|inner| leads(inner, rest));
            let by_key = schema_of(kind).is_some_and(|schema| {
                schema.keys.iter().any(|key| (*first == "*" || key.name == *first) && leads(&key.kind, rest))
            });
            by_name || by_place || by_key
        }
        for (path, _) in WHERE {
            let keys: Vec<&str> = path.split('.').collect();
            assert!(ROOT.key(keys[0]).is_some_and(|key| leads(&key.kind, &keys[1..])), "{path} leads nowhere");
        }
    }
}
