//! PUT on certificates: by files, or as PEM.
//!
//! What is uploaded goes into files of the state directory that only the appliance can read, named after what they hold:
//! a configuration that names them means the same for as long as it lives, and one that is refused leaves nothing behind.
//! A key goes in and never comes out.

mod kept;

use std::path::PathBuf;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::super::auth::Access;
use super::super::body;
use super::super::problem::Problem;
use super::super::route::{Reads, Route};
use super::objects::{self, Asked, KEPT, Kept};

const PATH: &str = "certificates";

/// Media types of PEM.
const PEM: [&str; 3] = ["application/x-pem-file", "application/pem-certificate-chain", "text/plain"];

pub(crate) fn routes() -> Vec<Route> {
    let Some(kept) = KEPT.iter().find(|kept| kept.path == PATH) else { return Vec::new() };
    let about = "Replace one certificate, or add it: by the names of files, or as PEM (chain and key), which is kept in the \
                 state directory. Connections go on.";
    let put = Route::put(kept.one(), Access::Configure, about, move |asked| put(kept, asked));
    vec![put.query(objects::CHANGE).reads(Reads::Certificate).answers_created(kept.schema())]
}

/// What is sent: the table as it goes into the configuration, and what goes into files first.
#[derive(Debug, PartialEq)]
struct Sent {
    table: Map<String, Value>,
    /// Key of the table, and text.
    uploads: Vec<(&'static str, String)>,
}

async fn put(kept: &'static Kept, asked: Asked) -> Result<Response, Problem> {
    let dry_run = asked.params.flag("dry_run")?;
    let mut sent = read(&asked)?;
    let stored = match sent.uploads.is_empty() {
        true => Vec::new(),
        false => store(&asked, &mut sent).await?,
    };
    let result = objects::replace(kept, &asked, sent.table, dry_run).await;
    // Files of a change that was not made serve nobody.
    let taken = result.as_ref().is_ok_and(|response| response.status().is_success()) && !dry_run;
    if !taken {
        let gone = tokio::task::spawn_blocking(move || stored.iter().for_each(|file| file.forget()));
        let _ = gone.await;
    }
    result
}

fn read(asked: &Asked) -> Result<Sent, Problem> {
    if PEM.contains(&&body::media_type(&asked.headers)[..]) {
        let text = std::str::from_utf8(&asked.body).map_err(|_| Problem::bad_request("the body is not UTF-8"))?;
        return of_pem(text);
    }
    of_json(body::object(&asked.headers, &asked.body)?)
}

/// Certificates and at most one key, one after the other.
fn of_pem(text: &str) -> Result<Sent, Problem> {
    let (chain, key) = split(text);
    if chain.is_empty() {
        return Err(objects::misfit("", "the body holds no certificate in PEM form".to_owned()));
    }
    let key = (!key.is_empty()).then_some(("key", key));
    Ok(Sent { table: Map::new(), uploads: [("certificate", chain)].into_iter().chain(key).collect() })
}

/// `certificate` and `key` are names of files, or PEM; `chain` is PEM that follows the certificate.
fn of_json(mut table: Map<String, Value>) -> Result<Sent, Problem> {
    let mut uploads = Vec::new();
    let is_pem = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| text.contains("-----BEGIN "));
    if let Some(spelled) = table.shift_remove("cert") {
        table.entry("certificate").or_insert(spelled);
    }
    let chain = table.shift_remove("chain");
    if is_pem(table.get("certificate")) || chain.is_some() {
        let mut text = String::new();
        for (name, part) in [("certificate", table.shift_remove("certificate")), ("chain", chain)] {
            match part {
                None => {}
                Some(Value::String(part)) if part.contains("-----BEGIN ") => text += &format!("{}\n", part.trim_end()),
                Some(_) => return Err(objects::misfit(&format!("/{name}"), format!("`{name}` is not PEM"))),
            }
        }
        let (chain, beside) = split(&text);
        if !beside.is_empty() {
            return Err(objects::misfit(
                "/certificate",
                "the key goes into `key`, not beside the certificate".to_owned(),
            ));
        }
        if chain.is_empty() {
            return Err(objects::misfit("/certificate", "`certificate` holds no certificate in PEM form".to_owned()));
        }
        uploads.push(("certificate", chain));
    }
    if is_pem(table.get("key")) {
        let text = table.shift_remove("key");
        let (_, key) = split(text.as_ref().and_then(Value::as_str).unwrap_or_default());
        if key.is_empty() {
            return Err(objects::misfit("/key", "`key` holds no private key in PEM form".to_owned()));
        }
        uploads.push(("key", key));
    }
    Ok(Sent { table, uploads })
}

/// The blocks of certificates, and those of keys.
fn split(text: &str) -> (String, String) {
    let (mut chain, mut key) = (String::new(), String::new());
    let mut into: Option<bool> = None;
    for line in text.lines().map(str::trim_end) {
        if let Some(kind) = line.strip_prefix("-----BEGIN ") {
            into = match kind {
                "CERTIFICATE-----" => Some(true),
                kind if kind.ends_with("PRIVATE KEY-----") => Some(false),
                _ => None,
            };
        }
        match into {
            Some(true) => chain += &format!("{line}\n"),
            Some(false) => key += &format!("{line}\n"),
            None => {}
        }
        if line.starts_with("-----END ") {
            into = None;
        }
    }
    (chain, key)
}

/// Writes the uploads and names the files in the table.
async fn store(asked: &Asked, sent: &mut Sent) -> Result<Vec<kept::File>, Problem> {
    let look = |world: &crate::control::World<'_>| {
        let texts: Vec<_> = world.sources.iter().map(|source| source.text.clone()).collect();
        (world.config.state.clone(), world.config.path.clone(), texts)
    };
    let (state, path, running): (Option<PathBuf>, Option<PathBuf>, _) = asked.app.read(look).await?;
    let Some(state) = state else {
        let detail = "this appliance keeps nothing (--ephemeral); send the names of files instead of PEM";
        return Err(Problem::new(StatusCode::CONFLICT, "conflict", detail));
    };
    let (name, uploads) = (asked.name(), std::mem::take(&mut sent.uploads));
    let written = tokio::task::spawn_blocking(move || {
        kept::clean(&state, path.as_deref(), &running);
        kept::write(&state, &name, &uploads)
    });
    let disk = |why: String| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "disk", why);
    let written = written.await.map_err(|_| disk("the certificate could not be kept".into()))?;
    let files = written.map_err(|error| disk(format!("the certificate could not be kept: {error}")))?;
    for file in &files {
        sent.table.insert(file.of.to_owned(), json!(file.path.display().to_string()));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAF: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    const KEY: &str = "-----BEGIN EC PRIVATE KEY-----\nBBBB\n-----END EC PRIVATE KEY-----\n";

    #[test]
    fn pem_is_split_into_chain_and_key_in_whatever_order_they_come() {
        let parameters = "-----BEGIN EC PARAMETERS-----\nCCCC\n-----END EC PARAMETERS-----\n";
        let text = format!("words\n{KEY}{parameters}{LEAF}{}", LEAF.replace("AAAA", "DDDD"));
        let (chain, key) = split(&text.replace('\n', "\r\n"));
        assert_eq!((chain, key), (format!("{LEAF}{}", LEAF.replace("AAAA", "DDDD")), KEY.to_owned()));
        assert!(of_pem("nothing").is_err());
        assert_eq!(of_pem(LEAF).unwrap().uploads.len(), 1, "an authority has no key");
    }

    #[test]
    fn json_names_files_or_holds_pem() {
        let of = |value: Value| of_json(value.as_object().unwrap().clone());
        let files = of(json!({"certificate": "a.pem", "key": "a.key"})).unwrap();
        assert!(files.uploads.is_empty() && files.table.len() == 2);
        let both = of(json!({"certificate": LEAF, "chain": LEAF, "key": KEY})).unwrap();
        assert_eq!(both.uploads, [("certificate", LEAF.repeat(2)), ("key", KEY.to_owned())]);
        assert!(both.table.is_empty());
        for wrong in [
            json!({"certificate": format!("{LEAF}{KEY}")}),
            json!({"certificate": LEAF, "key": LEAF}),
            json!({"certificate": "a.pem", "chain": LEAF}),
        ] {
            let problem = of(wrong).unwrap_err();
            assert!(problem.status == 422 && !problem.detail.contains("BBBB"), "{}", problem.detail);
        }
    }
}
