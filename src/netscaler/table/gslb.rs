//! GSLB: sites, services, vservers, and what is bound to them.

use super::{Kind, NO, Place, ZERO, name, only, other, refused, row};
use crate::netscaler::resource::{Attribute, Resource, Shape};

const NONE: &[&str] = &["NONE"];
const ENABLED: &[&str] = &["ENABLED"];
const DISABLED: &[&str] = &["DISABLED"];
const NO_EXCHANGE: &str = "sites tell each other nothing here";
const OF_TRAFFIC: &str = "a record leads clients to an address; what is there sees to its traffic";
const ONE_ANSWER: &str = "all clients are told the same address";
const NO_NAPTR: &str = "records of type NAPTR are not steered; write them into the zone";
const NO_ORDER: &str = "members have no order: use a backup vserver";
const NO_LOAD: &str = "load at a site moves nobody to another one";
const NO_COOKIE: &str = "no cookie leads clients back to a site";

/// Why an attribute takes its default alone.
pub(super) fn why_only(nitro: &str) -> &'static str {
    match nitro {
        "metricexchange" | "nwmetricexchange" | "sessionexchange" | "backupparentlist" => NO_EXCHANGE,
        "triggermonitor" => "monitors probe always: there is no exchange that could say more",
        "state" => "whether it is disabled is state, no configuration: disable it once a domain leads to it",
        "cookietimeout" => NO_COOKIE,
        "naptrorder" | "naptrdomainttl" | "naptrpreference" => NO_NAPTR,
        "sitepersistence" => "a connection is not led on to the site that a client had before",
        "persistencetype" | "persistenceid" | "timeout" => "`-lbMethod SOURCEIPHASH` keeps a client's answer, for ever",
        "persistmask" | "v6persistmasklen" | "netmask" | "v6netmasklen" => {
            "a client is its whole address, or the subnet that its resolver tells"
        }
        "backuplbmethod" | "tolerance" => "round trips are not measured",
        "dynamicweight" => "weights are those of the bindings",
        "ecs" | "ecsaddrvalidation" => "the subnet that a resolver tells counts for all names: `[dns] ecs` in the file",
        "somethod" | "sopersistence" => NO_LOAD,
        "backupsessiontimeout" => "an answer is chosen anew for each question",
        "order" | "toggleorder" | "orderthreshold" => NO_ORDER,
        "iptype" => "the type of its records says it: `-dnsRecordType`",
        "proxymode" => "answers of other servers are not passed on: -proxyMode NO is a zone",
        "dnssecoffload" | "nsec" => "see `dnssec` of a zone",
        _ => OF_TRAFFIC,
    }
}

/// Kept in NetScaler's words, and made something of by [`gslb`](crate::netscaler::gslb).
const fn said(nitro: &'static str, cli: &'static str, kind: Kind) -> Attribute {
    row(nitro, cli, kind, Place::Line, "")
}

pub static SITE: Resource = Resource {
    nitro: "gslbsite",
    words: &["gslb", "site"],
    shape: Shape::Lines,
    key: "sitename",
    lists: &[&[
        name("sitename", "siteName"),
        said("sitetype", "siteType", Kind::Text),
        said("siteipaddress", "siteIPAddress", Kind::Text),
        only("metricexchange", "metricExchange", Kind::Text, DISABLED),
        only("nwmetricexchange", "nwMetricExchange", Kind::Text, DISABLED),
        only("sessionexchange", "sessionExchange", Kind::Text, DISABLED),
        only("triggermonitor", "triggerMonitor", Kind::Text, &["ALWAYS"]),
        only("backupparentlist", "backupParentList", Kind::Text, &["None"]),
        said("publicip", "publicIP", Kind::Text),
        refused("clip", "clip", NO_EXCHANGE),
        refused("publicclip", "publicCLIP", NO_EXCHANGE),
        refused("parentsite", "parentSite", NO_EXCHANGE),
        refused("naptrreplacementsuffix", "naptrReplacementSuffix", NO_NAPTR),
    ]],
    positional: &["sitename", "siteipaddress|sitetype", "siteipaddress"],
    required: &["siteipaddress"],
};

pub static SERVICE: Resource = Resource {
    nitro: "gslbservice",
    words: &["gslb", "service"],
    shape: Shape::Lines,
    key: "servicename",
    lists: &[&[
        name("servicename", "serviceName"),
        said("ip", "IP", Kind::Text),
        said("servername", "serverName", Kind::Text),
        said("ipaddress", "IPAddress", Kind::Text),
        said("servicetype", "serviceType", Kind::Text),
        said("port", "port", Kind::Integer),
        said("cnameentry", "cnameEntry", Kind::Text),
        said("publicip", "publicIP", Kind::Text),
        said("publicport", "publicPort", Kind::Integer),
        said("sitename", "siteName", Kind::Text),
        said("healthmonitor", "healthMonitor", Kind::Text),
        said("monthreshold", "monThreshold", Kind::Double),
        only("state", "state", Kind::Text, ENABLED),
        only("maxclient", "maxClient", Kind::Double, ZERO),
        only("maxbandwidth", "maxBandwidth", Kind::Double, ZERO),
        only("maxaaausers", "maxAAAUsers", Kind::Double, ZERO),
        only("cip", "cip", Kind::Text, DISABLED),
        only("sitepersistence", "sitePersistence", Kind::Text, NONE),
        only("downstateflush", "downStateFlush", Kind::Text, ENABLED),
        only("appflowlog", "appflowLog", Kind::Text, DISABLED),
        refused("cipheader", "cipHeader", OF_TRAFFIC),
        only("cookietimeout", "cookieTimeout", Kind::Double, ZERO),
        refused("siteprefix", "sitePrefix", "a site has no domain of its own"),
        // What a saved file says of every service, by its type.
        only("clttimeout", "cltTimeout", Kind::Double, &["180", "9000", "120"]),
        only("svrtimeout", "svrTimeout", Kind::Double, &["360", "9000", "120"]),
        refused("hashid", "hashId", OF_TRAFFIC),
        refused("viewname", "viewName", ONE_ANSWER),
        refused("viewip", "viewIP", ONE_ANSWER),
        refused("comment", "comment", "a comment stands behind `#` in the file"),
        refused("naptrreplacement", "naptrReplacement", NO_NAPTR),
        only("naptrorder", "naptrOrder", Kind::Double, &["1"]),
        refused("naptrservices", "naptrServices", NO_NAPTR),
        only("naptrdomainttl", "naptrDomainTTL", Kind::Double, &["3600"]),
        only("naptrpreference", "naptrPreference", Kind::Double, &["1"]),
    ]],
    positional: &["servicename", "ip|servername", "servicetype", "port"],
    required: &["sitename"],
};

pub static SERVICE_MONITOR: Resource = Resource {
    nitro: "gslbservice_lbmonitor_binding",
    words: &["gslb", "service"],
    shape: Shape::Binding { owner: "gslbservice", to: "lbmonitor" },
    key: "servicename",
    lists: &[&[
        name("servicename", "serviceName"),
        row("monitor_name", "monitorName", Kind::Text, Place::Other, ""),
        said("weight", "weight", Kind::Double),
        said("monstate", "monState", Kind::Text),
    ]],
    positional: &["servicename"],
    required: &["monitor_name"],
};

pub static VSERVER: Resource = Resource {
    nitro: "gslbvserver",
    words: &["gslb", "vserver"],
    shape: Shape::Lines,
    key: "name",
    lists: &[&[
        name("name", "name"),
        said("servicetype", "serviceType", Kind::Text),
        said("dnsrecordtype", "dnsRecordType", Kind::Text),
        said("lbmethod", "lbMethod", Kind::Text),
        said("backupvserver", "backupVServer", Kind::Text),
        said("mir", "MIR", Kind::Text),
        said("edr", "EDR", Kind::Text),
        said("disableprimaryondown", "disablePrimaryOnDown", Kind::Text),
        said("considereffectivestate", "considerEffectiveState", Kind::Text),
        only("iptype", "iptype", Kind::Text, &["IPV4", "IPV6"]),
        only("backuplbmethod", "backupLBMethod", Kind::Text, &["ROUNDROBIN"]),
        only("persistencetype", "persistenceType", Kind::Text, NONE),
        only("persistenceid", "persistenceId", Kind::Double, ZERO),
        only("timeout", "timeout", Kind::Double, &["2"]),
        only("persistmask", "persistMask", Kind::Text, &["255.255.255.255"]),
        only("v6persistmasklen", "v6persistmasklen", Kind::Double, &["128"]),
        only("netmask", "netmask", Kind::Text, &["255.255.255.255"]),
        only("v6netmasklen", "v6netmasklen", Kind::Double, &["128"]),
        only("tolerance", "tolerance", Kind::Double, ZERO),
        only("dynamicweight", "dynamicWeight", Kind::Text, DISABLED),
        only("state", "state", Kind::Text, ENABLED),
        only("ecs", "ECS", Kind::Text, DISABLED),
        only("ecsaddrvalidation", "ecsAddrValidation", Kind::Text, DISABLED),
        only("appflowlog", "appflowLog", Kind::Text, DISABLED),
        only("somethod", "soMethod", Kind::Text, NONE),
        only("sopersistence", "soPersistence", Kind::Text, DISABLED),
        only("backupsessiontimeout", "backupSessionTimeout", Kind::Double, ZERO),
        only("toggleorder", "toggleOrder", Kind::Text, &["ASCENDING"]),
        only("orderthreshold", "orderThreshold", Kind::Double, ZERO),
        refused("sothreshold", "soThreshold", NO_LOAD),
        refused("sopersistencetimeout", "soPersistenceTimeOut", NO_LOAD),
        refused("sobackupaction", "soBackupAction", NO_LOAD),
        refused("rule", "rule", "methods here need no expression"),
        refused("comment", "comment", "a comment stands behind `#` in the file"),
    ]],
    positional: &["name", "servicetype"],
    required: &["servicetype"],
};

pub static VSERVER_SERVICE: Resource = Resource {
    nitro: "gslbvserver_gslbservice_binding",
    words: &["gslb", "vserver"],
    shape: Shape::Binding { owner: "gslbvserver", to: "gslbservice" },
    key: "name",
    lists: &[&[
        name("name", "name"),
        other("servicename", "serviceName"),
        said("weight", "weight", Kind::Double),
        only("order", "order", Kind::Double, ZERO),
    ]],
    positional: &["name"],
    required: &["servicename"],
};

pub static VSERVER_DOMAIN: Resource = Resource {
    nitro: "gslbvserver_domain_binding",
    words: &["gslb", "vserver"],
    shape: Shape::Binding { owner: "gslbvserver", to: "gslbdomain" },
    key: "name",
    lists: &[&[
        name("name", "name"),
        other("domainname", "domainName"),
        said("ttl", "TTL", Kind::Double),
        said("backupip", "backupIP", Kind::Text),
        only("backupipflag", "backupIPFlag", Kind::Boolean, &["false"]),
        only("cookie_domainflag", "cookie_domainflag", Kind::Boolean, &["false"]),
        only("order", "order", Kind::Double, ZERO),
        refused("cookie_domain", "cookie_domain", NO_COOKIE),
        refused("cookietimeout", "cookieTimeout", NO_COOKIE),
        refused("sitedomainttl", "sitedomainTTL", "a site has no domain of its own"),
    ]],
    positional: &["name"],
    required: &["domainname"],
};

const RECORD_TTL: Attribute = said("ttl", "TTL", Kind::Double);

pub static DNS_ZONE: Resource = Resource {
    nitro: "dnszone",
    words: &["dns", "zone"],
    shape: Shape::Lines,
    key: "zonename",
    lists: &[&[
        name("zonename", "zoneName"),
        only("proxymode", "proxyMode", Kind::Text, NO),
        only("dnssecoffload", "dnssecOffload", Kind::Text, DISABLED),
        only("nsec", "nsec", Kind::Text, DISABLED),
        refused("keyname", "keyName", "see `dnssec` of a zone"),
        refused("type", "type", "every zone here is one that is answered from"),
    ]],
    positional: &["zonename"],
    required: &["proxymode"],
};

pub static DNS_SOA: Resource = Resource {
    nitro: "dnssoarec",
    words: &["dns", "soaRec"],
    shape: Shape::Lines,
    key: "domain",
    lists: &[&[
        name("domain", "domain"),
        said("originserver", "originServer", Kind::Text),
        said("contact", "contact", Kind::Text),
        said("serial", "serial", Kind::Double),
        said("refresh", "refresh", Kind::Double),
        said("retry", "retry", Kind::Double),
        said("expire", "expire", Kind::Double),
        said("minimum", "minimum", Kind::Double),
        RECORD_TTL,
        refused("ecssubnet", "ecsSubnet", ONE_ANSWER),
    ]],
    positional: &["domain"],
    required: &["originserver", "contact"],
};

macro_rules! record {
    ($nitro:literal, $said:literal, $key:literal, $spelled:literal, [$($row:expr),*], $positional:expr, $required:expr) => {
        Resource {
            nitro: $nitro,
            words: &["dns", $said],
            shape: Shape::Lines,
            key: $key,
            lists: &[&[name($key, $spelled), $($row,)* RECORD_TTL, refused("ecssubnet", "ecsSubnet", ONE_ANSWER)]],
            positional: $positional,
            required: $required,
        }
    };
}

pub static DNS_A: Resource = record!(
    "dnsaddrec",
    "addRec",
    "hostname",
    "hostName",
    [said("ipaddress", "IPAddress", Kind::List)],
    &["hostname", "ipaddress"],
    &["ipaddress"]
);
pub static DNS_AAAA: Resource = record!(
    "dnsaaaarec",
    "aaaaRec",
    "hostname",
    "hostName",
    [said("ipv6address", "IPv6Address", Kind::List)],
    &["hostname", "ipv6address"],
    &["ipv6address"]
);
pub static DNS_CNAME: Resource = record!(
    "dnscnamerec",
    "cnameRec",
    "aliasname",
    "aliasName",
    [said("canonicalname", "canonicalName", Kind::Text)],
    &["aliasname", "canonicalname"],
    &["canonicalname"]
);
pub static DNS_NS: Resource = record!(
    "dnsnsrec",
    "nsRec",
    "domain",
    "domain",
    [said("nameserver", "nameServer", Kind::Text)],
    &["domain", "nameserver"],
    &["nameserver"]
);
pub static DNS_MX: Resource = record!(
    "dnsmxrec",
    "mxRec",
    "domain",
    "domain",
    [said("mx", "mx", Kind::Text), said("pref", "pref", Kind::Double)],
    &["domain", "mx"],
    &["mx"]
);
pub static DNS_TXT: Resource = record!(
    "dnstxtrec",
    "txtRec",
    "domain",
    "domain",
    [said("string", "String", Kind::List), refused("recordid", "recordId", "name the text itself")],
    &["domain", "string"],
    &["string"]
);
pub static DNS_SRV: Resource = record!(
    "dnssrvrec",
    "srvRec",
    "domain",
    "domain",
    [
        said("target", "target", Kind::Text),
        said("priority", "priority", Kind::Double),
        said("weight", "weight", Kind::Double),
        said("port", "port", Kind::Double)
    ],
    &["domain", "target"],
    &["target", "port"]
);
pub static DNS_PTR: Resource = record!(
    "dnsptrrec",
    "ptrRec",
    "reversedomain",
    "reverseDomain",
    [said("domain", "domain", Kind::Text)],
    &["reversedomain", "domain"],
    &["domain"]
);
