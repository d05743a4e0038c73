//! `bascule explain`: asks the running appliance.

use std::process::ExitCode;

use reqwest::Method;
use serde_json::{Value, json};

use super::args::{ExplainDnsArgs, ExplainRequestArgs, ExplainServiceArgs};
use super::client::{Client, runtime};
use super::{fail, say, say_json};
use crate::admin::dto::path_segment;

pub(super) fn dns(args: &ExplainDnsArgs) -> ExitCode {
    let client = args.client.map(|client| client.to_string());
    let path = dns_path(&args.name, &args.rtype, client.as_deref(), args.at.as_deref());
    let answer = Client::find(&args.target)
        .and_then(|client| Ok((client, runtime()?)))
        .and_then(|(client, runtime)| runtime.block_on(client.get::<Value>(&path)).map_err(|e| e.to_string()));
    match answer {
        Ok(answer) if args.json => say_json(&answer),
        Ok(answer) => say(told(&answer).trim_end()),
        Err(error) => return fail(&format!("explain dns: {error}")),
    }
    ExitCode::SUCCESS
}

pub(super) fn request(args: &ExplainRequestArgs) -> ExitCode {
    let body = json!({
        "vserver": args.vserver, "path": args.path, "method": args.method, "host": args.host, "client": args.client,
        "headers": args.header, "server_name": args.server_name,
    });
    let answer =
        Client::find(&args.target).and_then(|client| Ok((client, runtime()?))).and_then(|(client, runtime)| {
            let call = client.call(Method::POST, "/api/v1/explain/request", Some(&body));
            runtime.block_on(call).map_err(|e| e.to_string())
        });
    match answer {
        Ok(answer) if args.json => say_json(&answer),
        Ok(answer) => say(request_told(&answer).trim_end()),
        Err(error) => return fail(&format!("explain request: {error}")),
    }
    ExitCode::SUCCESS
}

pub(super) fn service(args: &ExplainServiceArgs) -> ExitCode {
    let path = service_path(&args.name);
    let answer = Client::find(&args.target)
        .and_then(|client| Ok((client, runtime()?)))
        .and_then(|(client, runtime)| runtime.block_on(client.get::<Value>(&path)).map_err(|e| e.to_string()));
    match answer {
        Ok(answer) if args.json => say_json(&answer),
        Ok(answer) => say(service_told(&answer).trim_end()),
        Err(error) => return fail(&format!("explain service: {error}")),
    }
    ExitCode::SUCCESS
}

pub(super) fn dns_path(name: &str, rtype: &str, client: Option<&str>, at: Option<&str>) -> String {
    let mut path = format!("/api/v1/explain/dns?name={}&type={}", path_segment(name), path_segment(rtype));
    for (parameter, value) in [("client", client), ("at", at)] {
        if let Some(value) = value {
            path += &format!("&{parameter}={}", path_segment(value));
        }
    }
    path
}

pub(super) fn service_path(name: &str) -> String {
    format!("/api/v1/explain/service?name={}", path_segment(name))
}

/// The state, then what has a say in it, a line each.
pub(super) fn service_told(answer: &Value) -> String {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut out = format!("service {} is {}\n", text(answer, "service"), text(answer, "state"));
    for one in answer["because"].as_array().into_iter().flatten() {
        out += &format!("  {} {}: {}\n", text(one, "what"), text(one, "name"), text(one, "says"));
    }
    out
}

/// Rules with their terms, the verdict, the chain, the members, who serves.
pub(super) fn request_told(answer: &Value) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut out = format!("vserver {}\n", text(answer, "vserver"));
    for limit in list(answer, "limits") {
        out += &format!("  limit {}: not tried, as that would count\n", limit.as_str().unwrap_or_default());
    }
    for rule in list(answer, "rules") {
        let acted = if rule["acted"] == true { ", acts" } else { "" };
        out +=
            &format!("  rule {} of {}: {}{acted}\n", text(&rule, "rule"), text(&rule, "vserver"), text(&rule, "value"));
        for group in list(&rule, "groups") {
            let terms = group.as_array().into_iter().flatten();
            let terms: Vec<String> = terms.map(|t| format!("{} is {}", text(t, "term"), text(t, "value"))).collect();
            out += &format!("    {}\n", if terms.is_empty() { "always".into() } else { terms.join(", ") });
        }
    }
    out += &format!("verdict: {} by {}\n", text(answer, "verdict"), text(answer, "balanced_by"));
    for link in list(answer, "chain") {
        out += &format!(
            "  {} is {}, new clients: {}\n",
            text(&link, "vserver"),
            text(&link, "state"),
            text(&link, "new_clients")
        );
    }
    for member in list(answer, "candidates") {
        let (service, state) = (text(&member, "service"), text(&member, "state"));
        out += &format!(
            "  {service} {state} weight {} active {}: {}\n",
            member["weight"],
            member["active"],
            text(&member, "why")
        );
    }
    match answer.get("chosen").filter(|chosen| chosen.is_object()) {
        Some(chosen) => {
            let how = match (chosen["persistent"] == true, chosen["spilled_before"] == true) {
                (true, _) => ", by persistence",
                (_, true) => ", where it spilled before",
                _ => "",
            };
            out += &format!(
                "served by {} ({}) of {}{how}\n",
                text(chosen, "service"),
                text(chosen, "address"),
                text(chosen, "by")
            );
        }
        None if answer["redirected_to"].is_string() => {
            out += &format!("redirected to {}\n", text(answer, "redirected_to"))
        }
        None if answer["refused"].is_string() => out += &format!("refused: {}\n", text(answer, "refused")),
        None => {}
    }
    out
}

/// The question, each step with what it left and why, the answer.
pub(super) fn told(answer: &Value) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |value: &Value, key: &str| -> Vec<String> {
        let items = value.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let past = &answer["past"];
    let when = if past.is_object() { format!(" at {}", text(past, "at")) } else { String::new() };
    let (name, rtype, client) = (text(answer, "name"), text(answer, "type"), text(answer, "client"));
    let mut out = format!("{name} {rtype} for {client}{when}\n");
    for step in answer.get("steps").and_then(Value::as_array).into_iter().flatten() {
        let (given, left) = (list(step, "in").join(", "), list(step, "out").join(", "));
        let flow = match (&given[..], &left[..]) {
            ("", "") => String::new(),
            ("", left) => format!("{left}: "),
            (given, "") => format!("{given} → nothing: "),
            (given, left) if given == left => format!("{left}: "),
            (given, left) => format!("{given} → {left}: "),
        };
        out += &format!("  {:<9} {flow}{}\n", text(step, "name"), text(step, "because"));
    }
    out += &format!("{}\n", text(answer, "rcode"));
    for record in list(answer, "answer").into_iter().chain(list(answer, "authority")) {
        out += &format!("  {record}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_that_a_redirect_url_serves_is_said_to_be_redirected() {
        let answer = json!({
            "vserver": "web", "rules": [], "verdict": "balance", "balanced_by": "web", "limits": [], "candidates": [],
            "chain": [{ "vserver": "web", "state": "DOWN", "new_clients": "redirected" }], "chosen": null,
            "refused": "appliance/queue/redirected", "redirected_to": "https://sorry.test/x",
        });
        let told = request_told(&answer);
        assert!(told.ends_with("web is DOWN, new clients: redirected\nredirected to https://sorry.test/x\n"), "{told}");
    }

    #[test]
    fn an_explanation_reads_from_the_question_to_the_answer() {
        let answer = json!({
            "name": "www.example.test.", "type": "A", "client": "127.0.0.1", "rcode": "NOERROR",
            "answer": ["www.example.test. 30 IN A 192.0.2.11"],
            "steps": [
                { "name": "zone", "in": [], "out": ["example.test."], "because": "the longest match" },
                { "name": "filter", "in": ["192.0.2.10", "192.0.2.11"], "out": ["192.0.2.11"], "because": "cond" },
            ],
        });
        assert_eq!(
            told(&answer),
            "www.example.test. A for 127.0.0.1\n\
             \x20 zone      example.test.: the longest match\n\
             \x20 filter    192.0.2.10, 192.0.2.11 → 192.0.2.11: cond\n\
             NOERROR\n\
             \x20 www.example.test. 30 IN A 192.0.2.11\n"
        );
    }
}
