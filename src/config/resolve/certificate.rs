//! Certificates: their files are read when the configuration is, so that what is wrong with them is known before they are
//! in use, and a reload takes them anew.

use std::sync::Arc;

use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::Context;
use super::object::Object;
use crate::config::document::{Node, Path};
use crate::model::id::{CertificateId, Name};
use crate::model::peer::PeerTls;
use crate::model::tls::{Certificate, Facts, KeyKind, Pem};

/// Warned of this long before it expires. Days.
const SOON_DAYS: i64 = 14;
const DAY_SECONDS: i64 = 86_400;
/// Bits of an RSA key below which it is weak.
const RSA_BITS_LEAST: usize = 2048;
/// Certificates in one file.
const CHAIN_MOST: usize = 1000;

pub fn all(cx: &mut Context<'_>) -> Vec<Certificate> {
    let root = Path::Root;
    let section = root.key("certificate");
    let mut certificates = Vec::new();
    for (name, place, table) in cx.section("certificate") {
        let object = Object::new(table, None, section.key(name), place);
        certificates.push(certificate(cx, &object, name));
    }
    certificates.sort_by(|a, b| a.name.cmp(&b.name));
    certificates
}

/// Finds one by name. `with_key`: it is to be shown, and so needs one.
pub fn find(
    cx: &mut Context<'_>,
    certificates: &[Certificate],
    node: &Node,
    path: Path<'_>,
    with_key: bool,
) -> Option<CertificateId> {
    let id = cx.names.certificates.find(cx.report, node.text()?, node.place, path)?;
    let found = certificates.get(id)?;
    if with_key && found.key.is_none() {
        let why = format!("{path}: the certificate `{}` has no `key`, so it can only be an authority", found.name);
        cx.report.error(node.place, path, why);
    }
    Some(CertificateId::from_index(id))
}

/// `certificate`, `key` and `ca` of one end of a link between boxes; `None` where something is missing and was said.
pub fn of_peer(cx: &mut Context<'_>, object: &Object<'_>) -> Option<PeerTls> {
    for key in ["certificate", "key", "ca"] {
        object.require(cx.report, key);
    }
    let leaf = chain(cx, object, "certificate");
    let key = key(cx, object);
    let ca = chain(cx, object, "ca");
    if let (Some((_, certificates)), Some((_, Some(key)))) = (&leaf, &key) {
        fits(cx, object, certificates, key);
    }
    if let Some(first) = leaf.as_ref().and_then(|(_, certificates)| certificates.first()) {
        judge(cx, object, first, true);
    }
    Some(PeerTls { certificate: leaf?.0, key: key?.0, ca: ca?.0 })
}

fn certificate(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Certificate {
    let chain = chain(cx, object, "certificate");
    let key = key(cx, object);
    if let (Some((_, certificates)), Some((_, Some(key)))) = (&chain, &key) {
        fits(cx, object, certificates, key);
    }
    if let Some(first) = chain.as_ref().and_then(|(_, certificates)| certificates.first()) {
        judge(cx, object, first, key.is_some());
    }
    let nothing = || Pem { file: "".into(), text: "".into() };
    // One that cannot be read was told; whoever uses the certificate does not miss it as well.
    let key = key.map(|(pem, _)| pem).or_else(|| object.get("key").map(|_| nothing()));
    Certificate { name: name.into(), chain: chain.map_or_else(nothing, |(pem, _)| pem), key }
}

/// The certificates of the file, and nothing else of it: a key that stands beside them is not copied. None of them where
/// the file is not to be had here.
fn chain(cx: &mut Context<'_>, object: &Object<'_>, of: &str) -> Option<(Pem, Vec<CertificateDer<'static>>)> {
    let node = object.get(of)?;
    let path = node.text().filter(|path| !path.is_empty())?;
    let (relative, shown) = cx.report.beside(node.place.file, path);
    let text = match cx.files.read_named(&relative) {
        Ok(Some(text)) => text,
        Ok(None) => return Some((Pem { file: relative.into(), text: "".into() }, Vec::new())),
        Err(why) => {
            object.wrong(cx.report, of, format!("`{path}` cannot be read: {why}"));
            return None;
        }
    };
    let text: Arc<str> = certificates_only(&text).into();
    let pem = Pem { file: relative.into(), text: Arc::clone(&text) };
    match pem.certificates() {
        Ok(certificates) if certificates.len() <= CHAIN_MOST => {
            cx.report.add(shown, text, true);
            Some((pem, certificates))
        }
        Ok(_) => {
            object.wrong(cx.report, of, format!("`{path}` holds more than {CHAIN_MOST} certificates"));
            None
        }
        Err(why) => {
            object.wrong(cx.report, of, format!("`{path}` {why}"));
            None
        }
    }
}

/// The blocks of certificates of a PEM text.
fn certificates_only(text: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in text.lines() {
        inside |= line.trim_end() == "-----BEGIN CERTIFICATE-----";
        if inside {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
        inside &= line.trim_end() != "-----END CERTIFICATE-----";
    }
    kept
}

/// `None` within: it is not to be had here, and not missed.
fn key(cx: &mut Context<'_>, object: &Object<'_>) -> Option<(Pem, Option<PrivateKeyDer<'static>>)> {
    let node = object.get("key")?;
    let path = node.text().filter(|path| !path.is_empty())?;
    let (relative, _) = cx.report.beside(node.place.file, path);
    let text = match cx.files.read_key(&relative) {
        Ok(Some(text)) => text,
        Ok(None) => return Some((Pem { file: relative.into(), text: "".into() }, None)),
        Err(why) => {
            object.wrong(cx.report, "key", format!("`{path}` cannot be read: {why}"));
            return None;
        }
    };
    if cx.files.is_private(&relative) == Some(false) {
        let path = object.path.key("key");
        let what = format!("{path}: others on this machine can read the key; `chmod 600` it");
        cx.report.warning(node.place, path, what);
    }
    let pem = Pem { file: relative.into(), text: text.into() };
    match pem.private_key() {
        Ok(key) => Some((pem, Some(key))),
        Err(why) => {
            object.wrong(cx.report, "key", format!("`{path}` {why}"));
            None
        }
    }
}

/// The key is the one of the first certificate, and one that can sign.
fn fits(cx: &mut Context<'_>, object: &Object<'_>, certificates: &[CertificateDer<'static>], key: &PrivateKeyDer<'_>) {
    let provider = rustls::crypto::ring::default_provider();
    let signing = match provider.key_provider.load_private_key(key.clone_key()) {
        Ok(signing) => signing,
        Err(error) => return object.wrong(cx.report, "key", format!("cannot be used: {error}")),
    };
    let of = |certificate: &CertificateDer<'static>| {
        let shown = rustls::sign::CertifiedKey::new(vec![certificate.clone()], Arc::clone(&signing));
        shown.keys_match()
    };
    let mismatch = |error: &rustls::Error| matches!(error, rustls::Error::InconsistentKeys(why) if *why == rustls::InconsistentKeys::KeyMismatch);
    let Some(first) = certificates.first() else { return };
    match of(first) {
        Err(error) if mismatch(&error) => {
            let why = match certificates.iter().position(|certificate| of(certificate).is_ok()) {
                Some(at) => {
                    format!("is that of certificate {} of the file; the one to be shown must stand first", at + 1)
                }
                None => "is not the key of the certificate".to_owned(),
            };
            object.wrong(cx.report, "key", why);
        }
        Err(rustls::Error::InconsistentKeys(_)) | Ok(()) => {}
        Err(error) => object.wrong(cx.report, "certificate", format!("cannot be used: {error}")),
    }
}

/// Dates and strength.
fn judge(cx: &mut Context<'_>, object: &Object<'_>, leaf: &CertificateDer<'static>, has_key: bool) {
    let facts = match Facts::of(leaf) {
        Ok(facts) => facts,
        Err(why) => return object.wrong(cx.report, "certificate", why),
    };
    let path = object.path.key("certificate");
    let place = object.place_of("certificate");
    let mut warn = |what: String| cx.report.warning(place, path, format!("{path}: {what}"));
    if let Some(now) = cx.files.now() {
        let left = facts.not_after - now;
        if left < 0 {
            warn(format!("expired on {}", day(facts.not_after)));
        } else if left < SOON_DAYS * DAY_SECONDS {
            let days = left / DAY_SECONDS;
            warn(format!("expires on {}, in {days} {}", day(facts.not_after), if days == 1 { "day" } else { "days" }));
        }
        if facts.not_before > now {
            warn(format!("is not valid before {}", day(facts.not_before)));
        }
    }
    match facts.key {
        KeyKind::Rsa(bits) if bits < RSA_BITS_LEAST => {
            warn(format!("an RSA key of {bits} bits is weak; clients want {RSA_BITS_LEAST} at least"));
        }
        _ => {}
    }
    if facts.weak_signature {
        warn("is signed with MD5 or SHA-1, which nobody accepts any more".to_owned());
    }
    if has_key && facts.names.is_empty() && facts.addresses.is_empty() {
        warn("names no host, so that no client will take it for one".to_owned());
    }
}

/// `2026-12-24`
fn day(seconds: i64) -> Name {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "?".into(), |at| at.strftime("%Y-%m-%d").to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_beside_the_certificates_is_not_kept() {
        let text = "Subject: x\n-----BEGIN CERTIFICATE-----\r\nAAAA\n-----END CERTIFICATE-----\n\
                    -----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n\
                    -----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n";
        let kept = certificates_only(text);
        assert!(kept.contains("AAAA") && kept.contains("BBBB") && !kept.contains("SECRET") && !kept.contains('\r'));
    }
}
