//! The rows of the tables.

mod gslb;
mod lb;
mod monitor;
mod network;
mod other;
mod policy;
mod service;
mod ssl;

use super::resource::{Attribute, Form, Joint, Kind, Place, Resource};

pub(super) static RESOURCES: &[&Resource] = &[
    &service::SERVER,
    &service::SERVICE,
    &service::SERVICE_GROUP,
    &service::MEMBER,
    &service::SERVICE_MONITOR,
    &service::GROUP_MONITOR,
    &monitor::MONITOR,
    &lb::LB_VSERVER,
    &lb::LB_VSERVER_SERVICE,
    &lb::LB_VSERVER_GROUP,
    &lb::CS_VSERVER,
    &lb::CS_DEFAULT,
    &lb::LB_GROUP,
    &lb::LB_GROUP_VSERVER,
    &ssl::CERT_KEY,
    &ssl::SSL_VSERVER,
    &ssl::SSL_VSERVER_CERT,
    &ssl::SSL_SERVICE,
    &ssl::SSL_SERVICE_GROUP,
    &policy::PATTERN_SET,
    &policy::PATTERN,
    &policy::EXPRESSION,
    &policy::CS_ACTION,
    &policy::CS_POLICY,
    &policy::RESPONDER_ACTION,
    &policy::RESPONDER_POLICY,
    &policy::REWRITE_ACTION,
    &policy::REWRITE_POLICY,
    &policy::CS_VSERVER_CS_POLICY,
    &policy::CS_VSERVER_RESPONDER,
    &policy::CS_VSERVER_REWRITE,
    &policy::LB_VSERVER_RESPONDER,
    &policy::LB_VSERVER_REWRITE,
    &gslb::SITE,
    &gslb::SERVICE,
    &gslb::SERVICE_MONITOR,
    &gslb::VSERVER,
    &gslb::VSERVER_SERVICE,
    &gslb::VSERVER_DOMAIN,
    &gslb::DNS_ZONE,
    &gslb::DNS_SOA,
    &gslb::DNS_A,
    &gslb::DNS_AAAA,
    &gslb::DNS_CNAME,
    &gslb::DNS_NS,
    &gslb::DNS_MX,
    &gslb::DNS_TXT,
    &gslb::DNS_SRV,
    &gslb::DNS_PTR,
    &network::IP,
    &network::IP6,
    &network::ROUTE,
    &network::ROUTE6,
    &network::VLAN,
    &network::VLAN_INTERFACE,
    &network::VLAN_IP,
    &network::NAME_SERVER,
    &network::NTP_SERVER,
    &other::FEATURE,
    &other::HOST_NAME,
    &other::LB_PARAMETER,
    &other::CONFIG,
];

/// Taken in whatever case and shape, and nothing here follows from it.
const OFF: &[&str] = &["OFF"];
const NO: &[&str] = &["NO"];
const DISABLED: &[&str] = &["DISABLED"];
const ZERO: &[&str] = &["0"];
/// NetScaler's built-in profiles: what nobody has changed. Others are refused by name.
const TCP_PROFILE: &[&str] = &["nstcp_default_profile"];
const HTTP_PROFILE: &[&str] = &["nshttp_default_profile"];

/// Why an attribute takes its default alone.
const WHY: &[(&str, &str)] = &[
    ("accessdown", "`healthMonitor NO` takes a service for UP"),
    ("cka", "clients are kept alive always"),
    ("cleartextport", "make a vserver of type HTTP"),
    ("clttimeout", "how long clients may be idle is the vserver's: `set lb vserver NAME -cltTimeout`"),
    ("cmp", "nothing is compressed"),
    ("connfailover", "each box is on its own"),
    ("gslb", "records and scenarios do that"),
    ("httponlycookieflag", "cookies are HttpOnly always"),
    ("httpprofilename", "there are no profiles: its settings stand in the vserver or service"),
    ("icmpvsrresponse", "the kernel answers pings of addresses that it has"),
    ("ipv6address", "`queryType AAAA` asks for IPv6"),
    ("l2conn", "connections are told apart by addresses and ports"),
    ("listenpolicy", "a rule chooses by what a connection or request is"),
    ("listenpriority", "one vserver listens on an address and port"),
    ("m", "requests go to the server's address; there is no MAC, tunnel or TOS mode"),
    ("maxautoscalemembers", "nothing scales servers from here"),
    ("mgmtaccess", "the management listens where `[admin] listen` says"),
    ("minautoscalemembers", "nothing scales servers from here"),
    ("monconnectionclose", "a probe closes its connection"),
    ("newservicerequest", "`slow_start` in the TOML gives a member its share over a time"),
    ("newservicerequestincrementinterval", "`slow_start` in the TOML gives a member its share over a time"),
    ("pathmonitor", "bind a monitor"),
    ("pathmonitorindv", "bind a monitor"),
    ("push", "there is no server push"),
    ("range", "one address each: add a vserver for each"),
    ("rhistate", "no routing protocol is spoken"),
    ("sp", "the surge queue belongs to the vserver: `surge` in the TOML"),
    ("ssl3", "TLS 1.2 and 1.3 are spoken"),
    ("tcpb", "buffering is the kernel's"),
    ("tcpprofilename", "there are no profiles: the kernel's settings are used"),
    ("td", "there are no traffic domains"),
    ("tls1", "TLS 1.2 and 1.3 are spoken"),
    ("tls11", "TLS 1.2 and 1.3 are spoken"),
    ("transparent", "probes go to the service's address, or to `destIP`"),
    ("useproxyport", "the client's port is not used towards servers"),
    ("usip", "servers see the appliance's address; the PROXY protocol, `cip` and X-Forwarded-For tell the client's"),
];

/// The same of what belongs to GSLB and DNS.
pub(super) fn why_only_of_gslb(attribute: &str) -> &'static str {
    gslb::why_only(attribute)
}

/// Why `attribute` (NITRO's name) takes no other value; empty: it goes without saying.
pub(super) fn why_only(attribute: &str) -> &'static str {
    WHY.iter().find(|(name, _)| *name == attribute).map_or("", |(_, why)| why)
}

const fn row(nitro: &'static str, cli: &'static str, kind: Kind, place: Place, default: &'static str) -> Attribute {
    Attribute { nitro, cli, kind, place, default }
}

const fn name(nitro: &'static str, cli: &'static str) -> Attribute {
    row(nitro, cli, Kind::Text, Place::Name, "")
}

const fn other(nitro: &'static str, cli: &'static str) -> Attribute {
    row(nitro, cli, Kind::Text, Place::Other, "")
}

const fn text(nitro: &'static str, cli: &'static str, path: &'static [&'static str]) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Text), "")
}

const fn word(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Word), default)
}

const fn enabled(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Enabled), default)
}

const fn yes_no(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::YesNo), default)
}

/// NITRO's `<Double>`.
const fn double(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    form: Form,
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Double, Place::At(path, form), default)
}

/// NITRO's `<Integer>`.
const fn integer(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Integer, Place::At(path, Form::Number), default)
}

const fn with(nitro: &'static str, cli: &'static str, kind: Kind, joint: Joint, default: &'static str) -> Attribute {
    row(nitro, cli, kind, Place::With(joint), default)
}

const fn only(nitro: &'static str, cli: &'static str, kind: Kind, values: &'static [&'static str]) -> Attribute {
    row(nitro, cli, kind, Place::Only(values), "")
}

const fn refused(nitro: &'static str, cli: &'static str, why: &'static str) -> Attribute {
    row(nitro, cli, Kind::Text, Place::Refused(why), "")
}

const STATE: Attribute = row("state", "state", Kind::Text, Place::State, "");
