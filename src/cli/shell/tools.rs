//! `show techsupport`, and `nstrace` as the appliance carries it out: what it answers, for people.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::client::Client;
use super::execute::{Answer, Refused};

pub(super) async fn techsupport(client: &Client) -> Result<Answer, Refused> {
    let json = client.call(Method::POST, "/api/v1/support", Some(&json!({}))).await?;
    let text = |key: &str| json[key].as_str().unwrap_or_default();
    let out = format!("\tFile: {}\n\tSize: {}\n\tFetch: {}\n", text("path"), size(&json), text("href"));
    let left_out = json["left_out"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let warnings = left_out.map(|what| format!("left out: {what}")).collect();
    Ok(Answer { text: out, json, warnings })
}

pub(super) async fn traces(client: &Client) -> Result<Answer, Refused> {
    let json = client.call(Method::GET, "/api/v1/traces", None).await?;
    let all = json["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_running = |trace: &&Value| trace["running"] == true;
    let mut out =
        format!("\tState: {}\n", if all.iter().any(|trace| is_running(&trace)) { "RUNNING" } else { "STOPPED" });
    for (at, trace) in all.iter().enumerate() {
        out += &format!("{})\t{}", at + 1, told(trace));
    }
    Ok(Answer { text: out, json, warnings: Vec::new() })
}

pub(super) async fn start(client: &Client, body: &Value) -> Result<Answer, Refused> {
    let json = client.call(Method::POST, "/api/v1/traces", Some(body)).await?;
    let until = json["ends_at"].as_str().unwrap_or_default();
    let text = format!(
        "\tTracing into {}, until {until} at the latest; `stop nstrace` ends it.\n",
        json["path"].as_str().unwrap_or_default()
    );
    let warnings = vec!["what is traced may hold secrets of clients".to_owned()];
    Ok(Answer { text, json, warnings })
}

pub(super) async fn stop(client: &Client) -> Result<Answer, Refused> {
    let json = client.call(Method::POST, "/api/v1/traces/stop", Some(&json!({}))).await?;
    let text = match &json["trace"] {
        Value::Null => "\tNo trace is running.\n".to_owned(),
        trace => format!("\t{}", told(trace)),
    };
    Ok(Answer { text, json, warnings: Vec::new() })
}

fn told(trace: &Value) -> String {
    let text = |key: &str| trace[key].as_str().unwrap_or_default();
    let end = match (&trace["running"], &trace["ended"]) {
        (Value::Bool(true), _) => format!("is being written, until {} at the latest", text("ends_at")),
        (_, Value::String(ended)) => ended.clone(),
        _ => format!("written until {}", text("written_at")),
    };
    format!("{}: {}; {end}\n\t\tFile: {}\n\t\tFetch: {}\n", text("name"), size(trace), text("path"), text("href"))
}

fn size(file: &Value) -> String {
    format!("{} KB", file["bytes"].as_u64().unwrap_or_default().div_ceil(1 << 10))
}
