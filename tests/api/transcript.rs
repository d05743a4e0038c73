//! A session of the shell on an appliance, line by line with what it prints.

use regex::Regex;

use super::appliance::Appliance;
use super::shell::bascule;

const SESSION: &str = include_str!("../golden/shell/session.txt");

/// What is another at each run.
fn masked(text: &str) -> String {
    let masks = [
        (r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d \d{4}", "<date>"),
        (r"\d+ days, \d\d:\d\d:\d\d\.\d{3}", "<age>"),
        (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "<time>"),
        (r"uid:\d+", "<who>"),
        (r"Service in \d+ seconds", "Service in <n> seconds"),
        (r"127\.0\.0\.1:\d{5}\b", "127.0.0.1:<port>"),
    ];
    let masked = |text: String, (pattern, mask): &(&str, &str)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    };
    masks.iter().fold(text.to_owned(), masked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_prints_what_was_looked_at() {
    let appliance = Appliance::start();
    let mut out = String::new();
    for line in SESSION.lines() {
        if line.is_empty() || line.starts_with('#') {
            out += &format!("{line}\n");
            continue;
        }
        let (told, _) = bascule(&appliance, &["shell", "-c", line], "").await;
        out += &format!("> {line}\n{}", masked(&told));
    }
    insta::assert_snapshot!(out);
}
