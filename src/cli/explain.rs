//! `bascule explain dns`: asks the running appliance.

use std::process::ExitCode;

use serde_json::Value;

use super::args::ExplainDnsArgs;
use super::client::{Client, runtime};
use super::{fail, say};
use crate::admin::dto::path_segment;

pub(super) fn dns(args: &ExplainDnsArgs) -> ExitCode {
    if args.at.is_some() {
        return fail("explain dns: --at is not available in this build");
    }
    let mut path = format!("/api/v1/explain/dns?name={}&type={}", path_segment(&args.name), path_segment(&args.rtype));
    if let Some(client) = args.client {
        path += &format!("&client={}", path_segment(&client.to_string()));
    }
    let answer = Client::find(&args.target)
        .and_then(|client| Ok((client, runtime()?)))
        .and_then(|(client, runtime)| runtime.block_on(client.get::<Value>(&path)).map_err(|e| e.to_string()));
    match answer {
        Ok(answer) if args.json => say(&format!("{answer:#}")),
        Ok(answer) => say(told(&answer).trim_end()),
        Err(error) => return fail(&format!("explain dns: {error}")),
    }
    ExitCode::SUCCESS
}

/// The question, each step with what it left and why, the answer.
fn told(answer: &Value) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |value: &Value, key: &str| -> Vec<String> {
        let items = value.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut out = format!("{} {} for {}\n", text(answer, "name"), text(answer, "type"), text(answer, "client"));
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
