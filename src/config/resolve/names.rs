//! The names of everything, by kind, sorted: a position in one of these tables is the id in the model.

use std::collections::HashMap;

use crate::config::document::{Node, Path, Place, Table};
use crate::config::report::{Report, nearest};
use crate::model::condition::Signal;
use crate::model::id::Name;
use crate::model::scenario::PairPlace;

/// The names of one kind of object.
#[derive(Default)]
pub struct NameTable {
    /// `service`, `check`: for problems.
    pub what: &'static str,
    sorted: Vec<Name>,
    ids: HashMap<Name, u32>,
}

pub struct Names {
    pub monitors: NameTable,
    /// All of them: the operator's, instances of monitors, targets of access lists.
    pub checks: NameTable,
    pub servers: NameTable,
    /// With the members of groups.
    pub services: NameTable,
    pub groups: NameTable,
    pub vservers: NameTable,
    pub certificates: NameTable,
    pub criteria: NameTable,
    pub time_windows: NameTable,
    /// With the maintenance switches.
    pub switches: NameTable,
    pub triggers: NameTable,
    pub queries: NameTable,
    /// With the generated ones.
    pub scenarios: NameTable,
    pub datacenters: NameTable,
    /// Data centres, this box's site, witnesses and sites of peers: whoever may stand after `@`.
    pub sites: NameTable,
}

/// Prefixes of ids that are no plain checks or criteria.
pub const PREFIXES: [&str; 6] = ["vs:", "svc:", "sc:", "dc:", "tw:", "sw:"];

/// Above this many names the nearest spelling is looked for among those with the same first letter only.
const NAMES_SEARCHED_MOST: usize = 2_000;

// === impl NameTable ===

impl NameTable {
    /// Reports and leaves out what stands twice.
    fn build(report: &mut Report, what: &'static str, mut names: Vec<(Name, Place)>) -> NameTable {
        names.sort();
        names.dedup_by(|later, first| {
            let twice = later.0 == first.0;
            if twice {
                let elsewhere = report.describe(first.1);
                let text = format!("the {what} `{}` is defined twice; first at {elsewhere}", later.0);
                report.error(later.1, &later.0, text);
            }
            twice
        });
        let sorted: Vec<Name> = names.into_iter().map(|(name, _)| name).collect();
        let ids = sorted.iter().enumerate().map(|(id, name)| (name.clone(), id as u32)).collect();
        NameTable { what, sorted, ids }
    }

    pub fn id(&self, name: &str) -> Option<usize> {
        self.ids.get(name).map(|id| *id as usize)
    }

    pub fn name(&self, id: usize) -> Option<&Name> {
        self.sorted.get(id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Name> {
        self.sorted.iter()
    }

    pub fn has(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }

    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    pub fn nearest(&self, report: &mut Report, name: &str) -> Option<String> {
        if !report.may_spell() {
            return None;
        }
        let many = self.sorted.len() > NAMES_SEARCHED_MOST;
        let candidates = self.sorted.iter().filter(|c| !many || c.chars().next() == name.chars().next());
        nearest(name, candidates.map(|c| &**c)).map(str::to_owned)
    }

    /// The id, or a problem with the nearest spelling.
    pub fn find(&self, report: &mut Report, name: &str, place: Place, path: Path<'_>) -> Option<usize> {
        let id = self.id(name);
        if id.is_none() {
            let meant = self.nearest(report, name);
            report.error_meant(place, path, format!("{path}: there is no {} `{name}`", self.what), meant);
        }
        id
    }
}

// === impl Names ===

impl Names {
    pub fn collect(report: &mut Report, document: &Table) -> Names {
        let keys = |section: &str| -> Vec<(Name, Place)> {
            // What is no table was reported by the walk and becomes no object.
            let objects = super::section(document, section).into_iter();
            objects.map(|(name, place, _)| (Name::from(name), place)).collect()
        };
        let mut simple = |what, section| NameTable::build(report, what, keys(section));
        let servers = simple("server", "server");
        let groups = simple("service group", "service_group");
        let mut vservers = keys("vserver");
        vservers.extend(keys("cs_vserver"));
        let certificates = simple("certificate", "certificate");
        let criteria = simple("criterion", "criterion");
        let time_windows = simple("time window", "time_window");
        let triggers = simple("trigger", "trigger");
        let queries = simple("query", "query");
        let datacenters = simple("data centre", "datacenter");

        let mut monitors = keys("monitor");
        refuse_builtin(report, &mut monitors);
        monitors.extend(super::monitor::builtin_names().map(|name| (name.into(), Place::default())));
        let mut services = keys("service");
        no_slash(report, "service", &services);
        no_slash(report, "service group", &keys("service_group"));
        services.extend(members(document));
        let mut switches = keys("switch");
        switches.extend(keys("datacenter").into_iter().map(|(name, place)| (maintenance(&name), place)));
        let mut scenarios = keys("scenario");
        scenarios.extend(generated_scenarios(document));
        let mut checks = keys("check");
        no_prefix(report, "check", &checks);
        no_prefix(report, "criterion", &keys("criterion"));
        no_namesakes(report, &keys("criterion"), document);
        checks.extend(super::check::instance_names(document));
        checks.extend(super::access::target_names(document));
        let mut sites = keys("datacenter");
        sites.extend(extra_sites(document));
        sites.extend(super::peer::sites(document));
        sites.sort();
        sites.dedup_by(|a, b| a.0 == b.0);

        let vservers = NameTable::build(report, "vserver", vservers);

        Names {
            monitors: NameTable::build(report, "monitor", monitors),
            checks: NameTable::build(report, "check", checks),
            servers,
            services: NameTable::build(report, "service", services),
            groups,
            vservers,
            certificates,
            criteria,
            time_windows,
            switches: NameTable::build(report, "switch", switches),
            triggers,
            queries,
            scenarios: NameTable::build(report, "scenario", scenarios),
            datacenters,
            sites: NameTable::build(report, "site", sites),
        }
    }
}

/// The switch of a data centre's maintenance.
pub fn maintenance(datacenter: &str) -> Name {
    format!("{datacenter}.{}", Signal::Maintenance.word()).into()
}

/// The key of a pair that names a scenario of one's own for a place.
pub fn own_key(place: PairPlace) -> &'static str {
    match place {
        PairPlace::FromActive => "from_active",
        PairPlace::ToBackup => "to_backup",
        PairPlace::ToActive => "to_active",
        PairPlace::FromBackup => "from_backup",
    }
}

/// Members of groups are services named `GROUP/MEMBER`; where DNS names them, only an answer tells their names.
fn members(document: &Table) -> Vec<(Name, Place)> {
    let mut names = Vec::new();
    for (group, _, table) in super::section(document, "service_group") {
        if super::auto_scale::is_on(table) {
            continue;
        }
        let members = table.get("member").and_then(Node::table);
        let entries = members.map_or(&[][..], |members| &members.entries[..]).iter();
        let tables = entries.filter(|entry| entry.node.table().is_some());
        names.extend(tables.map(|entry| (format!("{group}/{}", entry.key).into(), entry.place)));
    }
    names
}

fn generated_scenarios(document: &Table) -> Vec<(Name, Place)> {
    let mut names = Vec::new();
    for (pair, place, table) in super::section(document, "datacenter_pair") {
        let generated = PairPlace::ALL.into_iter().filter(|place| table.get(own_key(*place)).is_none());
        names.extend(generated.map(|at| (format!("{pair}/{}", at.word()).into(), place)));
    }
    names
}

fn extra_sites(document: &Table) -> Vec<(Name, Place)> {
    let site = document.get("appliance").and_then(Node::table).and_then(|table| table.get("site"));
    let pairs = super::section(document, "datacenter_pair");
    let witnesses = pairs.into_iter().filter_map(|(_, _, table)| table.get("witness"));
    site.into_iter().chain(witnesses).filter_map(|node| Some((node.text()?.into(), node.place))).collect()
}

fn refuse_builtin(report: &mut Report, monitors: &mut Vec<(Name, Place)>) {
    monitors.retain(|(name, place)| {
        let builtin = super::monitor::builtin_names().any(|builtin| builtin == &**name);
        if builtin {
            report.error(
                *place,
                format!("monitor.{name}"),
                format!(
                    "`{name}` is a built-in monitor and cannot be changed; bind it as `monitors = [\"{name}\"]`, or define \
                     one of another name"
                ),
            );
        }
        !builtin
    });
}

fn no_slash(report: &mut Report, what: &str, names: &[(Name, Place)]) {
    for (name, place) in names.iter().filter(|(name, _)| name.contains('/')) {
        let text = format!("the {what} `{name}` has a `/` in its name, which is for members of groups");
        report.error(*place, name, text);
    }
}

/// A plain id that begins like a prefixed one could never be written in a condition.
fn no_prefix(report: &mut Report, what: &str, names: &[(Name, Place)]) {
    for (name, place) in names {
        if let Some(prefix) = PREFIXES.iter().find(|prefix| name.starts_with(**prefix)) {
            report.error(
                *place,
                name,
                format!("the {what} `{name}` begins with `{prefix}`, which is for other kinds of ids"),
            );
        }
        if name.contains('!') || name.contains(',') {
            report.error(
                *place,
                name,
                format!("the {what} `{name}` has a `!` or `,` in its name, which conditions need"),
            );
        }
    }
}

/// In rules a plain id is a criterion or a check; a name that is both would be either.
fn no_namesakes(report: &mut Report, criteria: &[(Name, Place)], document: &Table) {
    let checks = document.get("check").and_then(Node::table);
    let checks: HashMap<&str, Place> =
        checks.map_or_else(HashMap::new, |t| t.entries.iter().map(|e| (&*e.key, e.place)).collect());
    for (name, place) in criteria {
        if let Some(check) = checks.get(&**name) {
            let elsewhere = report.describe(*check);
            let text = format!("`{name}` is a criterion and, at {elsewhere}, a check; conditions could not tell which");
            report.error(*place, name, text);
        }
    }
}
