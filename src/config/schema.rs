//! Every key of the configuration, as data: name, type, range, whether it must be there. The walk reports from it, the
//! nearest known spelling comes from it, and whoever documents or edits a configuration can read it.
//!
//! What NetScaler or the specification know and this build does not carry out is listed as `later`: it is refused by
//! name, with what there is instead, and never taken for a slip of the pen.

mod adc;
mod admin;
mod alert;
mod balancing;
mod gtm;
mod http;
mod limits;
mod monitor;
mod network;
mod peer;
mod policy;
mod rule;
mod ship;
mod telling;
mod tls;

pub use monitor::{is_probed, keys_of_kinds, kind_has_key};

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// Text that is not empty: the name of an object, a term, a data field.
    Name,
    Bool,
    /// Inclusive.
    Int(i64, i64),
    /// Inclusive, in milliseconds. Text with a unit; a bare number is seconds.
    Duration(u64, u64),
    /// Bytes, inclusive. Text with a unit, or a number of bytes.
    Size(u64, u64),
    /// bit/s, inclusive. Text with a unit.
    Rate(u64, u64),
    /// One of these words, in any case.
    Word(&'static Words),
    /// `192.0.2.1:80`, `[2001:db8::1]:80`.
    Socket,
    /// Like `Socket`, but a host name may stand in place of the address.
    HostPort,
    /// An address or a host name.
    Host,
    Ip,
    /// `10.0.0.0/8`
    Network,
    /// `200` or `200-204`
    Status,
    /// A regular expression of the crate `regex`.
    Pattern,
    /// A date and time.
    Moment,
    /// A calendar day.
    Day,
    /// Any value.
    Any,
    List(&'static Kind),
    /// A table keyed by names of the operator's choice.
    Map(&'static Kind),
    Table(&'static Schema),
    /// The first alternative that takes the TOML type at hand.
    OneOf(&'static [Kind]),
}

#[derive(Debug)]
pub struct Words {
    pub known: &'static [&'static str],
    /// Words of the field that this build does not carry out.
    pub later: &'static [&'static str],
}

/// A table with known keys.
#[derive(Debug)]
pub struct Schema {
    pub keys: &'static [Key],
    /// Keys of the field that this build does not carry out.
    pub later: &'static [&'static str],
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    /// Other spellings, read as `name`.
    pub aliases: &'static [&'static str],
    pub required: bool,
    pub kind: Kind,
}

pub(super) const SECOND: u64 = 1_000;
pub(super) const MINUTE: u64 = 60 * SECOND;
pub(super) const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;
pub(super) const YEAR: u64 = 366 * DAY;

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, aliases: &[], required: false, kind }
}

const fn required(name: &'static str, kind: Kind) -> Key {
    Key { name, aliases: &[], required: true, kind }
}

const fn aliased(name: &'static str, aliases: &'static [&'static str], kind: Kind) -> Key {
    Key { name, aliases, required: false, kind }
}

const fn schema(keys: &'static [Key]) -> Schema {
    Schema { keys, later: &[] }
}

const fn words(known: &'static [&'static str]) -> Words {
    Words { known, later: &[] }
}

const NAMES: Kind = Kind::List(&Kind::Name);
/// `{ Name = "value" }`
const HEADERS: Kind = Kind::Map(&Kind::Text);
const TTL: Kind = Kind::Duration(0, 2_147_483_647 * SECOND);
const NETWORKS: Kind = Kind::OneOf(&[Kind::List(&Kind::Network), Kind::Network]);
const STATUSES: Kind = Kind::List(&Kind::Status);

/// The whole document.
pub static ROOT: Schema = schema(&[
    key("schema", Kind::Int(1, i64::MAX)),
    key("include", Kind::OneOf(&[NAMES, Kind::Name])),
    key("appliance", Kind::Table(&APPLIANCE)),
    key("admin", Kind::Table(&admin::ADMIN)),
    key("features", Kind::Table(&FEATURES)),
    key("journal", Kind::Table(&JOURNAL)),
    key("network", Kind::Table(&network::NETWORK)),
    key("time", Kind::Table(&network::TIME)),
    key("log", Kind::Table(&telling::LOG)),
    key("trace", Kind::Table(&telling::TRACE)),
    key("resolver", Kind::Table(&RESOLVER)),
    key("defaults", Kind::Table(&DEFAULTS)),
    key("monitors", Kind::Table(&monitor::MONITORS)),
    key("monitor", Kind::Map(&Kind::Table(&monitor::MONITOR))),
    key("server", Kind::Map(&Kind::Table(&adc::SERVER))),
    key("service", Kind::Map(&Kind::Table(&adc::SERVICE))),
    key("service_group", Kind::Map(&Kind::Table(&adc::SERVICE_GROUP))),
    key("vserver", Kind::Map(&Kind::Table(&adc::VSERVER))),
    key("certificate", Kind::Map(&Kind::Table(&tls::CERTIFICATE))),
    key("cs_vserver", Kind::Map(&Kind::Table(&adc::CS_VSERVER))),
    key("lb_group", Kind::Map(&Kind::Table(&limits::LB_GROUP))),
    key("criterion", Kind::Map(&Kind::Table(&rule::CRITERION))),
    key("rule", Kind::Map(&Kind::Table(&rule::RULE))),
    key("policy_patset", Kind::Map(&Kind::Table(&policy::PATTERN_SET))),
    key("policy_expression", Kind::Map(&Kind::Table(&policy::EXPRESSION))),
    key("cs_action", Kind::Map(&Kind::Table(&policy::CS_ACTION))),
    key("cs_policy", Kind::Map(&Kind::Table(&policy::CS_POLICY))),
    key("responder_action", Kind::Map(&Kind::Table(&policy::RESPONDER_ACTION))),
    key("responder_policy", Kind::Map(&Kind::Table(&policy::POLICY))),
    key("rewrite_action", Kind::Map(&Kind::Table(&policy::REWRITE_ACTION))),
    key("rewrite_policy", Kind::Map(&Kind::Table(&policy::POLICY))),
    key("policy_global", Kind::Table(&policy::GLOBAL)),
    key("check", Kind::Map(&Kind::Table(&gtm::CHECK))),
    key("time_window", Kind::Map(&Kind::Table(&gtm::TIME_WINDOW))),
    key("switch", Kind::Map(&Kind::Table(&gtm::SWITCH))),
    key("trigger", Kind::Map(&Kind::Table(&gtm::TRIGGER))),
    key("query", Kind::Map(&Kind::Table(&gtm::QUERY))),
    key("alert", Kind::Map(&Kind::Table(&alert::ALERT))),
    key("scenario", Kind::Map(&Kind::Table(&gtm::SCENARIO))),
    key("datacenter", Kind::Map(&Kind::Table(&gtm::DATACENTER))),
    key("datacenter_pair", Kind::Map(&Kind::Table(&gtm::DATACENTER_PAIR))),
    key("peer_link", Kind::Table(&peer::PEER_LINK)),
    key("peer", Kind::Map(&Kind::Table(&peer::PEER))),
    key("drills", Kind::Table(&gtm::DRILLS)),
    key("gslb", Kind::Table(&gtm::GSLB)),
    key("dns", Kind::Table(&gtm::DNS)),
    key("zone", Kind::Map(&Kind::Table(&gtm::ZONE))),
]);

static APPLIANCE: Schema = schema(&[key("name", Kind::Name), key("site", Kind::Name)]);

/// `{ env = "NAME" }` or `{ file = "path" }`: the value itself never stands in a configuration.
static SECRET: Schema = schema(&[key("env", Kind::Name), key("file", Kind::Name)]);

static FEATURES: Schema = Schema {
    keys: &[key("lb", Kind::Bool), key("gslb", Kind::Bool)],
    later: &["ssl", "cs", "cmp", "ic", "rewrite", "responder", "cf", "wl", "sp", "hdosp", "pq", "appfw"],
};

static JOURNAL: Schema = schema(&[
    key("keep", Kind::Duration(MINUTE, 100 * YEAR)),
    key("size", Kind::Size(1 << 20, 1 << 50)),
    key("ship", Kind::Map(&Kind::Table(&ship::SHIP))),
]);

/// Who is asked for the names of servers.
static RESOLVER: Schema = schema(&[key("name_servers", Kind::List(&Kind::Name))]);

static DEFAULTS: Schema = schema(&[
    key("monitor", Kind::Table(&monitor::MONITOR_DEFAULTS)),
    key("service", Kind::Table(&adc::SERVICE_DEFAULTS)),
    key("vserver", Kind::Table(&adc::VSERVER_DEFAULTS)),
    key("check", Kind::Table(&gtm::CHECK_DEFAULTS)),
    key("scenario", Kind::Table(&gtm::SCENARIO_DEFAULTS)),
]);

// === impl Kind ===

impl Kind {
    /// What an operator is told to write, with its article.
    pub fn expected(&self) -> String {
        match self {
            Kind::Text | Kind::Name => "a string".into(),
            Kind::Bool => "true or false".into(),
            Kind::Int(..) => "an integer".into(),
            Kind::Duration(..) => "a duration such as \"30s\"".into(),
            Kind::Size(..) => "a size such as \"16KiB\"".into(),
            Kind::Rate(..) => "a rate such as \"10Mbit/s\"".into(),
            Kind::Word(words) => format!("one of {}", words.known.join(", ")),
            Kind::Socket => "an address and port such as \"192.0.2.1:80\"".into(),
            Kind::HostPort => "an address or host name and a port such as \"192.0.2.1:80\"".into(),
            Kind::Host => "an address or host name".into(),
            Kind::Ip => "an IP address".into(),
            Kind::Network => "a network such as \"10.0.0.0/8\"".into(),
            Kind::Status => "a status code such as \"200\" or \"200-204\"".into(),
            Kind::Pattern => "a regular expression".into(),
            Kind::Moment => "a date and time such as 2026-12-24T18:00:00Z".into(),
            Kind::Day => "a day such as 2026-12-24".into(),
            Kind::Any => "a value".into(),
            Kind::List(_) => "a list".into(),
            Kind::Map(_) | Kind::Table(_) => "a table".into(),
            Kind::OneOf(kinds) => kinds.iter().map(Kind::expected).collect::<Vec<_>>().join(" or "),
        }
    }
}

// === impl Schema ===

impl Schema {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}
