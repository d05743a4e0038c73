//! What the program depends on: `deny.toml` is enforced with nothing but cargo, because that is all a fresh clone has.

use std::process::Command;

use serde_json::Value;

use super::source;

/// Every package of the build on this machine, development dependencies included.
fn packages() -> Vec<Value> {
    let rustc = Command::new(option_env!("RUSTC").unwrap_or("rustc")).arg("-vV").output().expect("rustc runs");
    let about = String::from_utf8_lossy(&rustc.stdout).into_owned();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host])
        .current_dir(source::root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn deny() -> toml::Table {
    let text = std::fs::read_to_string(source::root().join("deny.toml")).expect("deny.toml is there");
    text.parse().expect("deny.toml is TOML")
}

fn list<'a>(deny: &'a toml::Table, table: &str, key: &str) -> &'a [toml::Value] {
    deny[table][key].as_array().unwrap_or_else(|| panic!("deny.toml: {table}.{key} is a list"))
}

fn is_ours(package: &Value) -> bool {
    package["source"].is_null()
}

#[test]
fn every_dependency_has_a_licence_that_deny_toml_allows() {
    let deny = deny();
    let allowed: Vec<&str> = list(&deny, "licenses", "allow").iter().filter_map(toml::Value::as_str).collect();
    let mut broken = Vec::new();
    for package in packages().iter().filter(|package| !is_ours(package)) {
        let licence = package["license"].as_str().unwrap_or("");
        if !is_allowed(licence, &allowed) {
            broken.push(format!("{} {}: {licence:?}", package["name"], package["version"]));
        }
    }
    assert!(broken.is_empty(), "licences that deny.toml does not allow:\n{}", broken.join("\n"));
}

#[test]
fn nothing_that_deny_toml_bans_is_in_the_tree() {
    let deny = deny();
    let packages = packages();
    let mut broken = Vec::new();
    for ban in list(&deny, "bans", "deny") {
        let (name, reason) = (ban["crate"].as_str().unwrap(), ban["reason"].as_str().unwrap());
        if packages.iter().any(|package| package["name"] == *name) {
            broken.push(format!("{name}: {reason}"));
        }
    }
    assert!(broken.is_empty(), "banned by deny.toml:\n{}", broken.join("\n"));
}

#[test]
fn every_dependency_comes_from_a_registry_that_deny_toml_names() {
    let deny = deny();
    let allowed: Vec<String> = list(&deny, "sources", "allow-registry")
        .iter()
        .filter_map(|url| Some(format!("registry+{}", url.as_str()?)))
        .collect();
    for package in packages().iter().filter(|package| !is_ours(package)) {
        let from = package["source"].as_str().unwrap_or("");
        assert!(allowed.iter().any(|url| url == from), "{} comes from {from}", package["name"]);
    }
}

#[test]
fn every_exception_says_why() {
    let deny = deny();
    for entry in list(&deny, "advisories", "ignore").iter().chain(list(&deny, "bans", "deny")) {
        assert!(entry.get("reason").and_then(toml::Value::as_str).is_some_and(|why| why.len() > 9), "{entry}");
    }
}

/// SPDX expressions as far as crates use them: OR binds weaker than AND, `/` is an old OR, parentheses group.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let value = any(&tokens, &mut at, allowed);
    value && at == tokens.len()
}

fn any(tokens: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut value = all(tokens, at, allowed);
    while tokens.get(*at) == Some(&"OR") {
        *at += 1;
        value |= all(tokens, at, allowed);
    }
    value
}

fn all(tokens: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut value = one(tokens, at, allowed);
    while tokens.get(*at) == Some(&"AND") {
        *at += 1;
        value &= one(tokens, at, allowed);
    }
    value
}

fn one(tokens: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let Some(&token) = tokens.get(*at) else { return false };
    *at += 1;
    if token == "(" {
        let value = any(tokens, at, allowed);
        *at += usize::from(tokens.get(*at) == Some(&")"));
        return value;
    }
    if tokens.get(*at) == Some(&"WITH") {
        let exception = tokens.get(*at + 1).copied().unwrap_or("");
        *at += 2;
        return allowed.contains(&&*format!("{token} WITH {exception}"));
    }
    allowed.contains(&token)
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "ISC", "A WITH B"];
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("MIT AND ISC", true),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("GPL-3.0 OR MIT AND GPL-2.0", false),
        ("A WITH B OR GPL-3.0", true),
        ("A WITH C", false),
        ("MIT ISC", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}
