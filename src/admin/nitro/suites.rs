//! Which cipher suites and curves are spoken: those of the TLS library, for everybody the same. They are shown as bindings,
//! and cannot be chosen.

use rustls::crypto::ring::default_provider;
use rustls::{CipherSuite, NamedGroup, SupportedCipherSuite};

use super::answer::Object;
use super::live::put;
use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;

/// Bindings of an object of `owner` (`sslvserver`, `sslservice`, `sslservicegroup`); `None`: of another kind. An object
/// that speaks no TLS has none.
pub(super) fn read(document: &Document, owner: &'static str, resource: &str, name: &str) -> Option<Vec<Object>> {
    let key = Resource::find(owner)?.key;
    let rows = match resource.strip_prefix(owner)? {
        "_sslciphersuite_binding" => suites(document, owner, name),
        "_ecccurve_binding" => curves(),
        _ => return None,
    };
    if !speaks_tls(document, owner, name) {
        return Some(Vec::new());
    }
    let numbered = rows.into_iter().enumerate().map(|(at, (attribute, word))| {
        let mut object = Object::new();
        put(&mut object, key, name);
        put(&mut object, attribute, word);
        if attribute == "ciphername" {
            put(&mut object, "cipherpriority", (at + 1).to_string());
        }
        object
    });
    Some(numbered.collect())
}

fn speaks_tls(document: &Document, owner: &str, name: &str) -> bool {
    let of: &[&str] = match owner {
        "sslvserver" => &["lbvserver", "csvserver"],
        "sslservice" => &["service"],
        _ => &["servicegroup"],
    };
    let objects = of.iter().filter_map(|nitro| document.object(Resource::find(nitro)?, name));
    let mut types = objects.filter_map(|object| object.get("servicetype")?.as_str().map(str::to_owned));
    types.any(|word| matches!(&word[..], "SSL" | "SSL_TCP"))
}

fn suites(document: &Document, owner: &str, name: &str) -> Vec<(&'static str, &'static str)> {
    let part = Resource::find(owner).and_then(|resource| document.object(resource, name)).unwrap_or_default();
    let is_on = |key: &str| part.get(key).is_none_or(|value| value == "ENABLED");
    let spoken = default_provider().cipher_suites.into_iter().filter(|suite| match suite {
        SupportedCipherSuite::Tls13(_) => is_on("tls13"),
        _ => is_on("tls12"),
    });
    spoken.filter_map(|one| Some(("ciphername", suite(one.suite())?))).collect()
}

fn curves() -> Vec<(&'static str, &'static str)> {
    let known = default_provider().kx_groups;
    known.iter().filter_map(|group| Some(("ecccurvename", curve(group.name())?))).collect()
}

/// As NetScaler calls it.
fn suite(suite: CipherSuite) -> Option<&'static str> {
    Some(match suite {
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS1.3-AES256-GCM-SHA384",
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS1.3-AES128-GCM-SHA256",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS1.3-CHACHA20-POLY1305-SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => "TLS1.2-ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => "TLS1.2-ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => "TLS1.2-ECDHE-ECDSA-CHACHA20-POLY1305",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => "TLS1.2-ECDHE-RSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => "TLS1.2-ECDHE-RSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => "TLS1.2-ECDHE-RSA-CHACHA20-POLY1305",
        _ => return None,
    })
}

fn curve(group: NamedGroup) -> Option<&'static str> {
    Some(match group {
        NamedGroup::secp256r1 => "P_256",
        NamedGroup::secp384r1 => "P_384",
        NamedGroup::X25519 => "X_25519",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_and_curve_that_is_spoken_has_a_name() {
        let provider = default_provider();
        assert!(provider.cipher_suites.iter().all(|one| suite(one.suite()).is_some()));
        assert!(provider.kx_groups.iter().all(|one| curve(one.name()).is_some()));
    }

    #[test]
    fn an_object_shows_the_suites_of_the_versions_that_it_speaks() {
        let text = "[vserver.tls]\ntype = \"SSL\"\ntls = { min_version = \"1.3\" }\n[service.web]\ntype = \"HTTP\"\n";
        let document = Document::from_toml(text).unwrap();
        let of = |owner, resource, name| read(&document, owner, resource, name).map(|rows| rows.len());
        assert_eq!(of("sslvserver", "sslvserver_sslciphersuite_binding", "tls"), Some(3));
        assert_eq!(of("sslvserver", "sslvserver_ecccurve_binding", "tls"), Some(3));
        assert_eq!(of("sslservice", "sslservice_sslciphersuite_binding", "web"), Some(0));
        assert_eq!(of("sslvserver", "sslvserver_sslpolicy_binding", "tls"), None);
    }
}
