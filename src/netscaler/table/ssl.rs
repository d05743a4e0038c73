//! Certificates and TLS.

use super::{DISABLED, Joint, Kind, name, only, other, refused, text, with};
use crate::netscaler::resource::{Attribute, Resource, Shape};

const PROFILE: &str = "`tls` of the vserver or service says how TLS is spoken";
const CIPHERS: &str = "the suites are those of TLS 1.3, and those of TLS 1.2 with forward secrecy";
const REVOKED: &str = "certificates are not asked for at their issuer";

pub static CERT_KEY: Resource = Resource {
    nitro: "sslcertkey",
    words: &["ssl", "certKey"],
    shape: Shape::Object { section: "certificate" },
    key: "certkey",
    lists: &[&[
        name("certkey", "certkeyName"),
        text("cert", "cert", &["certificate"]),
        text("key", "key", &["key"]),
        only("inform", "inform", Kind::Text, &["PEM"]),
        only("bundle", "bundle", Kind::Text, &["NO", "YES"]),
        only("expirymonitor", "expiryMonitor", Kind::Text, &["ENABLED"]),
        only("notificationperiod", "notificationPeriod", Kind::Double, &["30"]),
        only("password", "password", Kind::Boolean, &["false"]),
        only("nodomaincheck", "noDomainCheck", Kind::Boolean, &["false", "true"]),
        refused("passplain", "passplain", "keys are kept without a password, in a file for their owner alone"),
        refused("fipskey", "fipsKey", "there is no FIPS card"),
        refused("hsmkey", "hsmKey", "there is no HSM"),
        refused("linkcertkeyname", "linkCertKeyName", "the chain stands in the certificate's file"),
        refused("ocspstaplingcache", "ocspStaplingCache", REVOKED),
    ]],
    positional: &["certkey"],
    required: &["cert"],
};

/// Of whatever speaks TLS.
static TLS: &[Attribute] = &[
    with("tls12", "tls12", Kind::Text, Joint::Tls, "ENABLED"),
    with("tls13", "tls13", Kind::Text, Joint::Tls, "ENABLED"),
    only("ssl2", "ssl2", Kind::Text, DISABLED),
    only("ssl3", "ssl3", Kind::Text, DISABLED),
    only("tls1", "tls1", Kind::Text, DISABLED),
    only("tls11", "tls11", Kind::Text, DISABLED),
    only("dh", "dh", Kind::Text, DISABLED),
    only("dhkeyexpsizelimit", "dhKeyExpSizeLimit", Kind::Text, DISABLED),
    only("ersa", "eRSA", Kind::Text, DISABLED),
    only("cipherredirect", "cipherRedirect", Kind::Text, DISABLED),
    only("sslv2redirect", "sslv2Redirect", Kind::Text, DISABLED),
    only("sslredirect", "sslRedirect", Kind::Text, DISABLED),
    only("redirectportrewrite", "redirectPortRewrite", Kind::Text, DISABLED),
    only("sendclosenotify", "sendCloseNotify", Kind::Text, &["YES"]),
    only("ocspstapling", "ocspStapling", Kind::Text, DISABLED),
    only("strictsigdigestcheck", "strictSigDigestCheck", Kind::Text, DISABLED),
    only("zerorttearlydata", "zeroRttEarlyData", Kind::Text, DISABLED),
    refused("sslprofile", "sslProfile", PROFILE),
    refused("dhcount", "dhCount", CIPHERS),
    refused("ersacount", "eRSACount", CIPHERS),
    only("dtls1", "dtls1", Kind::Text, DISABLED),
    only("dtls12", "dtls12", Kind::Text, DISABLED),
    only("sslclientlogs", "sslClientLogs", Kind::Text, DISABLED),
    refused("dtlsprofilename", "dtlsProfileName", "no DTLS"),
    refused("dhfile", "dhFile", PROFILE),
    refused("cipherurl", "cipherURL", PROFILE),
    refused("sslv2url", "sslv2URL", PROFILE),
    refused("pushenctrigger", "pushEncTrigger", PROFILE),
];

static OF_VSERVER: &[Attribute] = &[
    name("vservername", "vServerName"),
    with("clientauth", "clientAuth", Kind::Text, Joint::Tls, "DISABLED"),
    with("clientcert", "clientCert", Kind::Text, Joint::Tls, ""),
    with("sessreuse", "sessReuse", Kind::Text, Joint::Tls, "ENABLED"),
    only("snienable", "SNIEnable", Kind::Text, &["ENABLED", "DISABLED"]),
    with("hsts", "HSTS", Kind::Text, Joint::Tls, "DISABLED"),
    with("maxage", "maxage", Kind::Double, Joint::Tls, "0"),
    with("includesubdomains", "IncludeSubdomains", Kind::Text, Joint::Tls, "NO"),
    with("preload", "preload", Kind::Text, Joint::Tls, "NO"),
    only("sesstimeout", "sessTimeout", Kind::Double, &["120"]),
    only("cleartextport", "clearTextPort", Kind::Integer, &["0"]),
];

pub static SSL_VSERVER: Resource = Resource {
    nitro: "sslvserver",
    words: &["ssl", "vserver"],
    shape: Shape::Part { of: "lbvserver" },
    key: "vservername",
    lists: &[OF_VSERVER, TLS],
    positional: &["vservername"],
    required: &[],
};

pub static SSL_VSERVER_CERT: Resource = Resource {
    nitro: "sslvserver_sslcertkey_binding",
    words: &["ssl", "vserver"],
    shape: Shape::Binding { owner: "sslvserver", to: "sslcertkey" },
    key: "vservername",
    lists: &[&[
        name("vservername", "vServerName"),
        other("certkeyname", "certkeyName"),
        // Which certificate is shown hangs on the name that a client asks for, always.
        only("snicert", "SNICert", Kind::Boolean, &["false", "true"]),
        with("ca", "CA", Kind::Boolean, Joint::Tls, "false"),
        only("skipcaname", "skipCAName", Kind::Boolean, &["false"]),
        only("crlcheck", "crlCheck", Kind::Text, &["Optional"]),
        only("ocspcheck", "ocspCheck", Kind::Text, &["Optional"]),
        refused("ciphername", "cipherName", CIPHERS),
        refused("ecccurvename", "eccCurveName", CIPHERS),
        refused("policyname", "policyName", "a rule looks at the client's certificate"),
    ]],
    positional: &["vservername"],
    required: &["certkeyname"],
};

static TO_SERVERS: &[Attribute] = &[
    with("serverauth", "serverAuth", Kind::Text, Joint::Tls, "DISABLED"),
    with("commonname", "commonName", Kind::Text, Joint::Tls, ""),
    only("snienable", "SNIEnable", Kind::Text, &["DISABLED", "ENABLED"]),
    only("clientauth", "clientAuth", Kind::Text, DISABLED),
    only("sessreuse", "sessReuse", Kind::Text, &["ENABLED"]),
    only("sesstimeout", "sessTimeout", Kind::Double, &["300"]),
];

pub static SSL_SERVICE: Resource = Resource {
    nitro: "sslservice",
    words: &["ssl", "service"],
    shape: Shape::Part { of: "service" },
    key: "servicename",
    lists: &[&[name("servicename", "serviceName")], TO_SERVERS, TLS],
    positional: &["servicename"],
    required: &[],
};

pub static SSL_SERVICE_GROUP: Resource = Resource {
    nitro: "sslservicegroup",
    words: &["ssl", "serviceGroup"],
    shape: Shape::Part { of: "servicegroup" },
    key: "servicegroupname",
    lists: &[&[name("servicegroupname", "serviceGroupName")], TO_SERVERS, TLS],
    positional: &["servicegroupname"],
    required: &[],
};
