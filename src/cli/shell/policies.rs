//! `show cs policy` and its like: what the configuration says, and where a policy is bound.

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::super::client::Client;
use super::execute::{Answer, Refused};
use super::nitro::{self, Space};
use super::show::{self, Facts};
use crate::admin::dto::path_segment;
use crate::model::visible::on_one_line;
use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;

/// What `show` calls an attribute; others go by their own name.
const CALLED: [(&str, &str); 11] = [
    ("rule", "Rule"),
    ("url", "URL"),
    ("domain", "Domain"),
    ("action", "Action"),
    ("undefaction", "UndefAction"),
    ("type", "Operation"),
    ("target", "Target"),
    ("stringbuilderexpr", "Value"),
    ("responsestatuscode", "Response Status Code"),
    ("targetlbvserver", "Target LB Vserver"),
    ("value", "Expr"),
];

/// Resources that are counted.
const COUNTED: [&str; 3] = ["cspolicy", "responderpolicy", "rewritepolicy"];

/// What policies are bound to.
const OWNERS: [(&str, &str); 2] = [("csvserver", "CS VSERVER"), ("lbvserver", "LB VSERVER")];

/// How often policies were met, at all vservers together and at each.
#[derive(Default)]
struct Hits {
    policies: Vec<Facts>,
    /// By resource of the vserver.
    bindings: Vec<(&'static str, Vec<Facts>)>,
}

pub(super) async fn shown(client: &Client, nitro: &str, name: Option<&str>) -> Result<Answer, Refused> {
    let text = client.text("/api/v1/config", "application/toml").await?;
    let document = Document::from_toml(&text).map_err(Refused::Ours)?;
    let mut hits = Hits::default();
    if COUNTED.contains(&nitro) {
        hits.policies = nitro::objects(client, Space::Config, nitro, name).await;
        for (owner, _) in OWNERS.iter().filter(|_| name.is_some()) {
            let bindings = nitro::objects(client, Space::Config, &format!("{nitro}_{owner}_binding"), name).await;
            hits.bindings.push((owner, bindings));
        }
    }
    told(&document, nitro, name, &hits).map_err(Refused::Ours)
}

/// `stat cs policy` and its like; `detail`: each as if it were asked for alone.
pub(super) async fn counted(client: &Client, nitro: &str, name: Option<&str>, detail: bool) -> Result<Answer, Refused> {
    let mut path = format!("/nitro/v1/stat/{nitro}");
    if let Some(name) = name {
        path += &format!("/{}", path_segment(name));
    }
    let json = client.call(Method::GET, &path, None).await?;
    let all = Facts::list(&json, nitro);
    let text = match name.is_some() || detail {
        true => all.iter().map(|one| show::policy_counted(nitro, one)).collect::<Vec<_>>().join("\n"),
        false => show::policies_counted(nitro, &all),
    };
    Ok(Answer { text, json, warnings: Vec::new() })
}

fn told(document: &Document, nitro: &str, name: Option<&str>, hits: &Hits) -> Result<Answer, String> {
    let resource = Resource::find(nitro).ok_or_else(|| format!("No such command: show {nitro}"))?;
    let objects = match name {
        None => document.objects(resource),
        Some(name) => match document.object(resource, name) {
            Some(object) => vec![object],
            None => return Err(format!("No such resource [{}, {name}]", resource.key)),
        },
    };
    let mut out = String::new();
    for (at, object) in objects.iter().enumerate() {
        let number = if name.is_some() { String::new() } else { format!("{})", at + 1) };
        out += &format!("{number}\tName: {}\n", value(object, resource.key));
        let attributes = resource.attributes().filter(|attribute| attribute.nitro != resource.key);
        for attribute in attributes.filter(|attribute| object.contains_key(attribute.nitro)) {
            let called = CALLED.iter().find(|(known, _)| *known == attribute.nitro).map(|(_, called)| *called);
            let called = called.map_or_else(|| capital(attribute.cli), str::to_owned);
            out += &format!("\t{called}: {}\n", value(object, attribute.nitro));
        }
        if COUNTED.contains(&nitro) {
            let facts = Facts::of(&hits.policies, resource.key, &value(object, resource.key));
            out += &format!("\tHits: {}\n", facts.count("hits"));
            if nitro != "cspolicy" {
                out += &format!("\tUndef Hits: {}\n", facts.count("undefhits"));
            }
        }
        if name.is_some() {
            out += &bound(document, resource, &value(object, resource.key), hits);
        }
    }
    Ok(Answer { text: out, json: json!({ nitro: objects }), warnings: Vec::new() })
}

/// The patterns of a set, or the vservers of a policy.
fn bound(document: &Document, resource: &Resource, name: &str, hits: &Hits) -> String {
    let mut out = String::new();
    let rows = |binding: &str| Resource::find(binding).map(|binding| document.objects(binding)).unwrap_or_default();
    if resource.nitro == "policypatset" {
        let patterns = rows("policypatset_pattern_binding").into_iter().filter(|row| value(row, "name") == name);
        for (at, row) in patterns.enumerate() {
            out += &format!("{})\tBound pattern: {}\tIndex: {}\n", at + 1, value(&row, "String"), value(&row, "index"));
        }
        return out;
    }
    let mut at = 0;
    for (owner, called) in OWNERS {
        let counted = hits.bindings.iter().find(|(of, _)| *of == owner).map_or(&[][..], |(_, bindings)| bindings);
        for row in rows(&format!("{owner}_{}_binding", resource.nitro)) {
            if value(&row, "policyname") == name {
                at += 1;
                out += &format!(
                    "{at})\tBound to: {called} {}\tPriority: {}",
                    value(&row, "name"),
                    value(&row, "priority")
                );
                out += &format!("\tGotoPriorityExpression: {}", value(&row, "gotopriorityexpression"));
                out += &format!("\tHits: {}\n", Facts::of(counted, "boundto", &value(&row, "name")).count("hits"));
            }
        }
    }
    out
}

fn value(object: &Map<String, Value>, key: &str) -> String {
    match object.get(key) {
        Some(Value::String(text)) => on_one_line(text),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_shown_with_what_it_says_and_where_it_is_bound() {
        let text = "[vserver.web]\ntype = \"HTTP\"\n[cs_vserver.front]\ntype = \"HTTP\"\ncs_policies = { p = 10 }\n\
                    [cs_action.a]\ntarget = \"web\"\n[cs_policy.p]\nrule = 'HTTP.REQ.URL.EQ(\"/\")'\naction = \"a\"\n\
                    [policy_patset.s]\npatterns = [\"x\"]\n";
        let document = Document::from_toml(text).unwrap();
        let facts = |value: Value| Facts::list(&json!({ "x": [value] }), "x");
        let hits = Hits {
            policies: facts(json!({ "policyname": "p", "hits": "7" })),
            bindings: vec![("csvserver", facts(json!({ "boundto": "front", "hits": "6" })))],
        };
        let shown = |nitro: &str, name| told(&document, nitro, name, &hits).unwrap().text;
        let list = "1)\tName: p\n\tRule: HTTP.REQ.URL.EQ(\"/\")\n\tAction: a\n\tHits: 7\n";
        assert_eq!(shown("cspolicy", None), list);
        let one = shown("cspolicy", Some("p"));
        assert!(
            one.ends_with("1)\tBound to: CS VSERVER front\tPriority: 10\tGotoPriorityExpression: END\tHits: 6\n"),
            "{one}"
        );
        let set = shown("policypatset", Some("s"));
        assert!(set.contains("1)\tBound pattern: x\tIndex: 1\n"), "{set}");
        assert!(
            told(&document, "cspolicy", Some("q"), &hits).unwrap_err().contains("No such resource [policyname, q]")
        );
    }
}
