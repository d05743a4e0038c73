//! Keys of certificates, and of TLS towards clients and servers.

use super::{Key, Kind, NAMES, Schema, Words, YEAR, aliased, key, words};

pub(super) static CERTIFICATE: Schema = Schema {
    keys: &[Key { name: "certificate", aliases: &["cert"], required: true, kind: Kind::Name }, key("key", Kind::Name)],
    later: &["pass_plain", "password", "inform", "expiry_monitor", "notification_period", "bundle", "ocsp"],
};

static VERSIONS: Words = Words { known: &["1.2", "1.3"], later: &["1.0", "1.1"] };
static CLIENT_AUTH: Words = words(&["none", "optional", "required"]);
static PROXY_VERSIONS: Words = words(&["v1", "v2"]);

static HSTS: Schema = Schema {
    keys: &[
        key("max_age", Kind::Duration(0, 50 * YEAR)),
        aliased("include_subdomains", &["includesubdomains"], Kind::Bool),
        key("preload", Kind::Bool),
    ],
    later: &[],
};

/// Of a vserver.
static CLIENTS: Schema = Schema {
    keys: &[
        key("min_version", Kind::Word(&VERSIONS)),
        key("max_version", Kind::Word(&VERSIONS)),
        key("client_auth", Kind::Word(&CLIENT_AUTH)),
        aliased("client_ca", &["ca", "ca_certificate"], Kind::Name),
        key("strict_sni", Kind::Bool),
        aliased("resumption", &["sess_reuse"], Kind::Bool),
        key("hsts", Kind::Table(&HSTS)),
    ],
    later: &[
        "ciphers",
        "cipher_suites",
        "ecc_curves",
        "sess_timeout",
        "dh",
        "ersa",
        "ssl3",
        "tls1",
        "tls11",
        "tls12",
        "tls13",
        "ssl_redirect",
        "max_age",
        "ocsp_stapling",
        "ocsp_check",
        "crl_check",
        "sni_enable",
        "ssl_profile",
        "zero_rtt_early_data",
    ],
};

/// Of a service.
static SERVERS: Schema = Schema {
    keys: &[
        aliased("verify", &["server_auth"], Kind::Bool),
        aliased("ca", &["ca_certificate"], Kind::Name),
        aliased("server_name", &["common_name", "sni"], Kind::Name),
        key("certificate", Kind::Name),
        key("min_version", Kind::Word(&VERSIONS)),
    ],
    later: &["max_version", "ciphers", "cipher_suites", "sess_reuse", "ocsp_check", "crl_check", "ssl_profile"],
};

pub(super) const CERTIFICATES: Key = aliased("certificates", &["certificate", "certkey_name"], NAMES);
pub(super) const CLIENT_TLS: Key = key("tls", Kind::Table(&CLIENTS));
pub(super) const PROXY_IN: Key = key("proxy_protocol", Kind::Bool);
pub(super) const SERVER_TLS: Key = key("tls", Kind::Table(&SERVERS));
pub(super) const PROXY_OUT: Key = key("proxy_protocol", Kind::Word(&PROXY_VERSIONS));
