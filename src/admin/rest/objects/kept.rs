//! What the configuration keeps by name: one table, of which the routes, the OpenAPI document and the rules of editing
//! are made.

use serde_json::{Map, Value};

use crate::config::schema::{Kind, ROOT, Schema};
use crate::model::id;

/// A collection of objects of the configuration.
pub(crate) struct Kept {
    /// Below `/api/v1/`; `{name}` is the object that holds these.
    pub path: &'static str,
    pub noun: &'static str,
    /// Where they stand, keys from the root. `OUTER` is the object that holds them; the first table takes new ones.
    pub tables: &'static [&'static [&'static str]],
    /// What GET on the collection and its members answers.
    pub shows: Shows,
    /// Whether PUT replaces one; at some paths it does something else.
    pub put: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// State and statistics; the configuration is at `…/config`.
    State(Option<id::Kind>),
    /// The configuration.
    Config,
}

/// Stands for the name of the outer object in [`Kept::tables`].
pub(super) const OUTER: &str = "*";
/// Stands for the part of a name before its first slash.
const BEFORE_SLASH: &str = "/";

const fn kept(
    path: &'static str,
    noun: &'static str,
    tables: &'static [&'static [&'static str]],
    shows: Shows,
) -> Kept {
    Kept { path, noun, tables, shows, put: true }
}

const fn state(kind: id::Kind) -> Shows {
    Shows::State(Some(kind))
}

/// Every table of the schema that holds objects by name. A test compares it with the schema.
pub(crate) static KEPT: &[Kept] = &[
    kept("vservers", "vserver", &[&["vserver"], &["cs_vserver"]], state(id::Kind::Vserver)),
    kept("cs-vservers", "content switching vserver", &[&["cs_vserver"]], Shows::Config),
    kept(
        "vservers/{name}/client-limits",
        "client limit",
        &[&["vserver", OUTER, "client_limits"], &["cs_vserver", OUTER, "client_limits"]],
        Shows::Config,
    ),
    kept("services", "service", &[&["service"], &["service_group", BEFORE_SLASH, "member"]], state(id::Kind::Service)),
    kept("service-groups", "service group", &[&["service_group"]], state(id::Kind::ServiceGroup)),
    kept("service-groups/{name}/members", "member", &[&["service_group", OUTER, "member"]], Shows::Config),
    kept("servers", "server", &[&["server"]], state(id::Kind::Server)),
    Kept { put: false, ..kept("certificates", "certificate", &[&["certificate"]], Shows::State(None)) },
    kept("lb-groups", "lb group", &[&["lb_group"]], Shows::Config),
    kept("criteria", "criterion", &[&["criterion"]], Shows::Config),
    kept("rules", "rule", &[&["rule"]], Shows::State(None)),
    kept("pattern-sets", "pattern set", &[&["policy_patset"]], Shows::Config),
    kept("policy-expressions", "named expression", &[&["policy_expression"]], Shows::Config),
    kept("cs-actions", "content switching action", &[&["cs_action"]], Shows::Config),
    kept("cs-policies", "content switching policy", &[&["cs_policy"]], Shows::Config),
    kept("responder-actions", "responder action", &[&["responder_action"]], Shows::Config),
    kept("responder-policies", "responder policy", &[&["responder_policy"]], Shows::Config),
    kept("rewrite-actions", "rewrite action", &[&["rewrite_action"]], Shows::Config),
    kept("rewrite-policies", "rewrite policy", &[&["rewrite_policy"]], Shows::Config),
    kept("monitors", "monitor", &[&["monitor"]], Shows::State(None)),
    kept("checks", "check", &[&["check"]], state(id::Kind::Check)),
    kept("time-windows", "time window", &[&["time_window"]], Shows::Config),
    // PUT sets the switch.
    Kept { put: false, ..kept("switches", "switch", &[&["switch"]], state(id::Kind::Switch)) },
    kept("triggers", "trigger", &[&["trigger"]], Shows::State(None)),
    kept("queries", "query", &[&["query"]], Shows::State(None)),
    kept("alert-rules", "alert", &[&["alert"]], Shows::Config),
    kept("scenarios", "scenario", &[&["scenario"]], state(id::Kind::Scenario)),
    kept("datacenters", "data centre", &[&["datacenter"]], Shows::State(None)),
    kept("datacenter-pairs", "data-centre pair", &[&["datacenter_pair"]], state(id::Kind::Pair)),
    kept("peers", "peer", &[&["peer"]], state(id::Kind::Peer)),
    kept("zones", "zone", &[&["zone"]], Shows::State(None)),
    kept("zones/{name}/rrsets", "RRset", &[&["zone", OUTER, "rrset"]], Shows::Config),
    kept("users", "user", &[&["admin", "user"]], Shows::Config),
    kept("tokens", "token", &[&["admin", "token"]], Shows::Config),
    kept("journal-receivers", "receiver of the journal", &[&["journal", "ship"]], Shows::Config),
    kept("network-interfaces", "interface", &[&["network", "interface"]], Shows::Config),
    kept("tsig-keys", "TSIG key", &[&["dns", "tsig"]], Shows::Config),
];

/// An object: the keys that lead to it from the root, its own name last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place(pub Vec<String>);

// === impl Kept ===

impl Kept {
    /// Whether its objects stand within others.
    pub fn is_nested(&self) -> bool {
        self.path.contains("{name}")
    }

    /// `…/{name}`, `…/{name}/members/{member}`.
    pub fn one(&self) -> String {
        let own = match self.path.rsplit_once("{name}/") {
            Some((_, inner)) => inner.trim_end_matches('s').replace('-', "_"),
            None => "name".to_owned(),
        };
        format!("/api/v1/{}/{{{own}}}", self.path)
    }

    /// Places at which an object of this name may stand, the one for a new object first.
    pub(super) fn places(&self, outer: Option<&str>, name: &str) -> Vec<Place> {
        let places = self.tables.iter().filter_map(|table| {
            if !table.contains(&BEFORE_SLASH) {
                let keys = table.iter().map(|key| if *key == OUTER { outer.unwrap_or_default() } else { key });
                return Some(Place(keys.chain([name]).map(str::to_owned).collect()));
            }
            let (before, after) = name.split_once('/')?;
            let keys = table.iter().map(|key| if *key == BEFORE_SLASH { before } else { key });
            Some(Place(keys.chain([after]).map(str::to_owned).collect()))
        });
        places.collect()
    }

    /// Where the object of this name stands in a configuration.
    pub(super) fn find(&self, root: &Map<String, Value>, outer: Option<&str>, name: &str) -> Option<Place> {
        self.places(outer, name).into_iter().find(|place| place.get(root).is_some())
    }

    /// Names with their objects, in the order of the configuration.
    pub(super) fn all<'a>(&self, root: &'a Map<String, Value>, outer: Option<&str>) -> Vec<(&'a str, &'a Value)> {
        let tables = self.tables.iter().filter(|table| !table.contains(&BEFORE_SLASH));
        let maps = tables.filter_map(|table| {
            let keys: Vec<&str> =
                table.iter().map(|key| if *key == OUTER { outer.unwrap_or_default() } else { key }).collect();
            descend(root, &keys)?.as_object()
        });
        maps.flat_map(|map| map.iter().map(|(name, object)| (&**name, object))).collect()
    }

    /// Whether the object that holds these is there.
    pub(super) fn has_outer(&self, root: &Map<String, Value>, outer: &str) -> bool {
        self.tables.iter().any(|table| {
            let at = table.iter().position(|key| *key == OUTER);
            at.is_none_or(|at| {
                let keys: Vec<&str> = table[..at].iter().copied().chain([outer]).collect();
                descend(root, &keys).is_some()
            })
        })
    }

    /// The keys of one of these objects.
    pub fn schema(&self) -> Option<&'static Schema> {
        let table: Vec<String> = self.tables[0].iter().map(|key| (*key).to_owned()).collect();
        match kind_at(&Place([&table[..], &["x".to_owned()]].concat())) {
            Some(Kind::Table(schema)) => Some(schema),
            _ => None,
        }
    }
}

// === impl Place ===

impl Place {
    pub fn name(&self) -> &str {
        self.0.last().map_or("", |name| name)
    }

    pub fn get<'a>(&self, root: &'a Map<String, Value>) -> Option<&'a Value> {
        descend(root, &self.0)
    }

    /// Whether the object within which it stands, if any, is there.
    pub fn has_holder(&self, root: &Map<String, Value>, kept: &Kept) -> bool {
        !kept.is_nested() || self.0.get(..2).is_some_and(|holder| descend(root, holder).is_some())
    }

    /// Puts an object there. Errors: something else than a table stands on the way to it.
    pub fn set(&self, root: &mut Map<String, Value>, object: Value) -> Result<(), String> {
        let (name, tables) = self.0.split_last().ok_or("nothing is named")?;
        let mut at = root;
        for key in tables {
            let next = at.entry(key).or_insert_with(|| Value::Object(Map::new()));
            at = next.as_object_mut().ok_or_else(|| format!("`{key}` is no table"))?;
        }
        at.insert(name.clone(), object);
        Ok(())
    }

    /// Takes the object away, and its table where it was the last in it.
    pub fn remove(&self, root: &mut Map<String, Value>) -> Option<Value> {
        let (name, tables) = self.0.split_last()?;
        let table = tables.iter().try_fold(&mut *root, |at, key| at.get_mut(key)?.as_object_mut())?;
        let removed = table.shift_remove(name)?;
        if table.is_empty()
            && let Some((last, before)) = tables.split_last()
            && let Some(holder) = before.iter().try_fold(root, |at, key| at.get_mut(key)?.as_object_mut())
        {
            holder.shift_remove(last);
        }
        Some(removed)
    }

    /// `service web1`, `member spare1 of service_group spare`: as a list of users names it.
    pub fn spoken(&self) -> String {
        match &self.0[..] {
            [kind, name] => format!("{kind} {name}"),
            [kind, outer, inner, name] => format!("{inner} {name} of {kind} {outer}"),
            keys => keys.join(" "),
        }
    }
}

fn descend<'a>(root: &'a Map<String, Value>, keys: &[impl AsRef<str>]) -> Option<&'a Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(root.get(first.as_ref())?, |at, key| at.as_object()?.get(key.as_ref()))
}

/// The type of the value at a place, as the schema has it.
pub(super) fn kind_at(place: &Place) -> Option<&'static Kind> {
    let (first, rest) = place.0.split_first()?;
    let root: &'static Kind = &ROOT.key(first)?.kind;
    rest.iter().try_fold(root, |kind, key| match kind {
        Kind::Table(schema) => Some(&schema.key(key)?.kind),
        Kind::Map(inner) => Some(*inner),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every path of the schema to a table that holds tables by name; `*` stands for a name.
    fn named(schema: &'static Schema, path: &[&str], found: &mut Vec<Vec<String>>) {
        for key in schema.keys {
            let path = [path, &[key.name]].concat();
            match &key.kind {
                Kind::Map(Kind::Table(inner)) => {
                    found.push(path.iter().map(ToString::to_string).collect());
                    named(inner, &[&path[..], &["*"]].concat(), found);
                }
                Kind::Table(inner) => named(inner, &path, found),
                _ => {}
            }
        }
    }

    #[test]
    fn every_table_of_the_schema_that_holds_objects_by_name_has_a_path() {
        let mut found = Vec::new();
        named(&ROOT, &[], &mut found);
        let kept: Vec<Vec<&str>> = KEPT.iter().flat_map(|kept| kept.tables).map(|table| table.to_vec()).collect();
        for path in found {
            // Defaults say no limits of clients of their own by name elsewhere: they are a section.
            if path[0] != "defaults" {
                assert!(kept.iter().any(|table| *table == path), "{path:?} has no path in REST");
            }
        }
        assert!(KEPT.iter().all(|kept| kept.schema().is_some()), "a table of the schema is gone");
    }

    #[test]
    fn no_key_of_an_object_hides_what_an_answer_says_beside_it() {
        for kept in KEPT {
            let schema = kept.schema().unwrap();
            for word in super::super::BESIDE {
                assert!(schema.keys.iter().all(|key| key.name != word), "{} has a key `{word}`", kept.noun);
            }
        }
    }

    #[test]
    fn a_member_is_found_by_its_group_and_by_its_full_name() {
        let root = json!({"service_group": {"spare": {"member": {"s1": {"port": 1}}}}, "service": {"web": {}}});
        let root = root.as_object().unwrap();
        let of = |path: &str| KEPT.iter().find(|kept| kept.path == path).unwrap();
        let by_name = of("services").find(root, None, "spare/s1").unwrap();
        assert_eq!(by_name, of("service-groups/{name}/members").find(root, Some("spare"), "s1").unwrap());
        assert_eq!(by_name.spoken(), "member s1 of service_group spare");
        assert_eq!(of("services").find(root, None, "s1"), None);
        assert!(!of("service-groups/{name}/members").has_outer(root, "web"));
    }

    #[test]
    fn the_last_object_takes_its_table_along() {
        let mut root = json!({"admin": {"listen": "x", "user": {"a": {}}}, "service": {"a": {}, "b": {}}});
        let root = root.as_object_mut().unwrap();
        Place(vec!["admin".into(), "user".into(), "a".into()]).remove(root).unwrap();
        Place(vec!["service".into(), "a".into()]).remove(root).unwrap();
        assert_eq!(Value::Object(root.clone()), json!({"admin": {"listen": "x"}, "service": {"b": {}}}));
    }
}
