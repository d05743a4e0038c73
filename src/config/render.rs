//! Model → canonical TOML.
//!
//! The text says everything that the model holds, defaults too, in one order and one spelling, so that equal models
//! have equal texts: its hash tells whether two boxes mean the same, and a reader sees what is in force without knowing
//! a default. Loading it gives an equal model. What is generated (monitors at work on services, targets of access lists,
//! scenarios of pairs, maintenance switches, built-in monitors) is not printed; what it is generated from is.

mod adc;
mod admin;
mod alert;
mod balancing;
mod check;
mod dialogue;
mod dns;
mod gtm;
mod http;
mod limits;
mod network;
mod peer;
mod policy;
mod rule;
mod ship;
mod telling;
pub(super) mod text;
mod tls;
mod zone;

use std::fmt::Write;

use crate::config::units::{format_duration, format_size};
use crate::model::Model;
use crate::model::condition::Condition;
use crate::model::peer::SHARED_TABLES;
use crate::model::scenario::Secret;
use text::{Text, Value};

/// The whole model as one TOML document.
pub fn render(model: &Model) -> String {
    let mut out = Text::default();
    out.key("schema", Value::Int(1));
    once(&mut out, model);
    adc::monitors(&mut out, model);
    adc::servers(&mut out, model);
    adc::services(&mut out, model);
    adc::groups(&mut out, model);
    tls::certificates(&mut out, model);
    adc::vservers(&mut out, model);
    limits::lb_groups(&mut out, model);
    rule::criteria(&mut out, model);
    rule::rules(&mut out, model);
    policy::objects(&mut out, model);
    policy::global(&mut out, model);
    check::checks(&mut out, model);
    gtm::time_windows(&mut out, model);
    gtm::switches(&mut out, model);
    gtm::triggers(&mut out, model);
    gtm::queries(&mut out, model);
    alert::alerts(&mut out, model);
    gtm::scenarios(&mut out, model);
    gtm::datacenters(&mut out, model);
    gtm::pairs(&mut out, model);
    peer::peers(&mut out, model);
    gtm::drills(&mut out, model);
    dns::gslb(&mut out, model);
    dns::dns(&mut out, model);
    zone::zones(&mut out, model);
    out.finish()
}

/// What boxes of a cluster have in common, table by table: the names of [`SHARED_TABLES`], and what they say.
pub fn shared(model: &Model) -> [(&'static str, String); 9] {
    let printed = |print: fn(&mut Text, &Model)| {
        let mut out = Text::default();
        print(&mut out, model);
        out.finish()
    };
    let prints: [fn(&mut Text, &Model); 9] = [
        check::checks,
        gtm::time_windows,
        gtm::switches,
        gtm::triggers,
        gtm::queries,
        gtm::scenarios,
        gtm::datacenters,
        gtm::pairs,
        zone::zones,
    ];
    std::array::from_fn(|at| (SHARED_TABLES[at], printed(prints[at])))
}

/// The tables that stand once.
fn once(out: &mut Text, model: &Model) {
    out.table(&["appliance"]);
    out.key("name", Value::str(&model.appliance.name));
    out.maybe("site", model.appliance.site.as_ref().map(Value::str));

    admin::admin(out, model);

    out.table(&["features"]);
    out.key("lb", Value::Bool(model.features.lb));
    out.key("gslb", Value::Bool(model.features.gslb));

    out.table(&["journal"]);
    out.key("keep", Value::duration(model.journal.keep));
    out.key("size", Value::Str(format_size(model.journal.size)));
    ship::ships(out, model);

    if let Some(scripts) = &model.monitor_scripts {
        out.table(&["monitors"]);
        out.key("scripts", Value::str(scripts));
    }

    network::network(out, model);
    network::time(out, model);
    telling::log(out, model);
    telling::trace(out, model);

    if !model.resolver.name_servers.is_empty() {
        out.table(&["resolver"]);
        out.key("name_servers", Value::List(model.resolver.name_servers.iter().map(Value::show).collect()));
    }
}

fn secret_value(secret: &Secret) -> Value {
    match secret {
        Secret::Env(name) => Value::Inline(vec![("env".into(), Value::str(name))]),
        Secret::File(path) => Value::Inline(vec![("file".into(), Value::str(path))]),
    }
}

/// A condition under `key` of the table `path`: plain lists, or a table of its own where the groups have names.
fn condition(out: &mut Text, path: &[&str], key: &str, condition: &Condition) {
    let terms = |group: &crate::model::condition::Group| {
        Value::List(group.terms.iter().map(|term| Value::str(&term.text)).collect())
    };
    if condition.groups.iter().any(|group| group.named) {
        let mut path = path.to_vec();
        path.push(key);
        out.table(&path);
        for group in &condition.groups {
            out.key(&group.name, terms(group));
        }
    } else {
        out.key(key, Value::List(condition.groups.iter().map(terms).collect()));
    }
}

/// Whether [`condition`] opens a table, after which no key of the table around it can stand.
fn opens_a_table(condition: &Condition) -> bool {
    condition.groups.iter().any(|group| group.named)
}

// === impl Value ===

impl Value {
    fn duration(duration: std::time::Duration) -> Value {
        Value::Str(format_duration(duration))
    }

    fn show(value: impl std::fmt::Display) -> Value {
        let mut text = String::new();
        let _ = write!(text, "{value}");
        Value::Str(text)
    }
}

#[cfg(test)]
mod tests;
