//! Conversations from files. `# …` is a comment, `> METHOD path` begins a request, further `>` lines are header fields,
//! the lines below them the body; `< 201 Created` is the status line that must come, further `<` lines are header
//! fields that must be there and begin so, the lines below them JSON that must be in the answer: members that are not
//! named do not matter, `"<absent>"` must not be there, `"<any>"` may be anything, `"<text> …"` is a pattern.
//! `{{token}}` is the last sessionid. A file that begins with `config:` starts with that text behind the usual
//! configuration.

use std::path::Path;

use serde_json::Value;

use super::rig::{CONFIG, Rig, hash};

#[derive(Debug, Default)]
struct Exchange {
    at: usize,
    request: String,
    fields: Vec<String>,
    body: String,
    line: String,
    answer_fields: Vec<String>,
    answer: String,
}

fn parse(text: &str) -> (String, Vec<Exchange>) {
    let (mut config, mut exchanges, mut answering) = (String::new(), Vec::<Exchange>::new(), false);
    for (at, line) in text.lines().enumerate() {
        if let Some(more) = line.strip_prefix("config:") {
            config += &format!("{}\n", more.trim_start());
        } else if let Some(said) = line.strip_prefix("> ") {
            let begins = ["GET ", "POST ", "PUT ", "DELETE ", "PATCH ", "OPTIONS "].iter().any(|m| said.starts_with(m));
            if begins {
                exchanges.push(Exchange { at: at + 1, request: said.into(), ..Exchange::default() });
                answering = false;
            } else {
                exchanges.last_mut().expect("a request first").fields.push(said.into());
            }
        } else if let Some(said) = line.strip_prefix("< ") {
            let last = exchanges.last_mut().expect("a request first");
            if answering {
                last.answer_fields.push(said.into())
            } else {
                last.line = said.into()
            }
            answering = true;
        } else if let (false, Some(last)) = (line.starts_with('#') || line.trim().is_empty(), exchanges.last_mut()) {
            if answering { last.answer += line } else { last.body += line }
        }
    }
    (config, exchanges)
}

/// Why `got` does not have what is wanted.
fn differs(wanted: &Value, got: Option<&Value>, path: &str) -> Option<String> {
    let wrong = || Some(format!("{path}: wanted {wanted}, got {}", got.map_or("nothing".into(), Value::to_string)));
    match (wanted, got) {
        (Value::String(word), got) if word == "<absent>" => got.is_some().then(wrong).flatten(),
        (_, None) => wrong(),
        (Value::String(word), _) if word == "<any>" => None,
        (Value::String(word), Some(got)) if word.starts_with("<text> ") => {
            let pattern = regex::Regex::new(&word["<text> ".len()..]).expect("a pattern");
            let fits = got.as_str().is_some_and(|text| pattern.is_match(text));
            (!fits).then(wrong).flatten()
        }
        (Value::Object(wanted), Some(Value::Object(got))) => {
            wanted.iter().find_map(|(key, value)| differs(value, got.get(key), &format!("{path}.{key}")))
        }
        (Value::Array(items), Some(Value::Array(got))) if items.len() == got.len() => items
            .iter()
            .zip(got)
            .enumerate()
            .find_map(|(at, (one, other))| differs(one, Some(other), &format!("{path}[{at}]"))),
        (wanted, Some(got)) if wanted == got => None,
        _ => wrong(),
    }
}

fn hold(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let (more, exchanges) = parse(&text);
    let rig = Rig::start(&format!("{CONFIG}{}", more.replace("{{hash}}", &hash(b"s3cret"))));
    let mut token = String::new();
    let mut wrong = Vec::new();
    assert!(!exchanges.is_empty(), "{}", file.display());
    for exchange in exchanges {
        let fill = |text: &str| text.replace("{{token}}", &token);
        let fields: Vec<String> = exchange.fields.iter().map(|field| fill(field)).collect();
        let answer = rig.ask(&fill(&exchange.request), &fields, &fill(&exchange.body));
        let mut say = |what: String| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            wrong.push(format!("{name}:{} {}: {what}\n  {}", exchange.at, exchange.request, answer.body));
        };
        if answer.line != exchange.line {
            say(format!("wanted `{}`, got `{}`", exchange.line, answer.line));
        }
        for field in &exchange.answer_fields {
            let (name, begin) = field.split_once(": ").expect("a field");
            if !answer.field(name).starts_with(begin) {
                say(format!("wanted `{field}`, got `{}`", answer.field(name)));
            }
        }
        let kind = answer.field("content-type");
        if !kind.starts_with("application/json") && exchange.request.contains(" /nitro") {
            say(format!("the answer is {kind}"));
            continue;
        }
        let got = answer.json();
        if let Some(id) = got["sessionid"].as_str() {
            token = id.to_owned();
        }
        if !exchange.answer.is_empty() {
            let wanted = serde_json::from_str(&exchange.answer).unwrap_or_else(|e| panic!("{}: {e}", exchange.at));
            if let Some(difference) = differs(&wanted, Some(&got), "") {
                say(difference);
            }
        }
    }
    wrong
}

#[test]
fn every_conversation_goes_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/nitro");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "txt"));
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    let wrong: Vec<String> = files.iter().flat_map(|file| hold(file)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
