//! Keys of the ADC: NetScaler's words in snake case, with its ranges.

use super::{Key, Kind, MINUTE, NAMES, SECOND, Schema, Words, aliased, key, required};

const WEIGHT: Kind = Kind::Int(1, 100);
/// The weight alone, or everything about the binding.
const BOUND: Kind = Kind::OneOf(&[WEIGHT, Kind::Table(&super::monitor::BINDING)]);
pub(super) const PORT: Kind = Kind::Int(1, 65_535);

pub(super) static SERVER: Schema = Schema {
    keys: &[
        aliased_required("address", &["ip_address", "domain"], Kind::Host),
        key("query_type", Kind::Word(&QUERY_TYPES)),
        // NetScaler's most.
        key("domain_resolve_retry", Kind::Duration(SECOND, 20_939 * SECOND)),
        super::http::COMMENT,
    ],
    later: &["state", "ipv6_address", "domain_resolve_now", "translation_ip", "translation_mask", "td", "internal"],
};

static QUERY_TYPES: Words = super::words(&["A", "AAAA", "SRV"]);
static AUTO_SCALE: Words = Words { known: &["DISABLED", "DNS"], later: &["POLICY", "CLOUD", "API"] };

const fn aliased_required(name: &'static str, aliases: &'static [&'static str], kind: Kind) -> Key {
    Key { name, aliases, required: true, kind }
}

const PROTOCOLS_LATER: &[&str] = &[
    "FTP",
    "NNTP",
    "RTSP",
    "SIP_UDP",
    "SIP_TCP",
    "RADIUS",
    "DIAMETER",
    "MYSQL",
    "MSSQL",
    "ORACLE",
    "RDP",
    "DTLS",
    "QUIC",
    "HTTP_QUIC",
    "MQTT",
    "GRPC",
];
pub(super) static PROTOCOLS: Words = Words {
    known: &["HTTP", "SSL", "TCP", "SSL_TCP", "SSL_BRIDGE", "UDP", "DNS", "DNS_TCP", "ANY"],
    later: PROTOCOLS_LATER,
};

/// Settings of a service, or of a group for its members.
macro_rules! service_keys {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            key("type", Kind::Word(&PROTOCOLS)),
            key("monitors", Kind::OneOf(&[NAMES, Kind::Map(&BOUND)])),
            key("health_monitor", Kind::Bool),
            aliased("mon_threshold", &["monitor_threshold"], Kind::Int(0, 65_535)),
            key("max_client", Kind::Int(0, 4_294_967_294)),
            super::limits::MAX_BANDWIDTH,
            key("down_state_flush", Kind::Bool),
            key("cip", Kind::Bool),
            aliased("cip_header", &["client_ip_header"], Kind::Name),
            aliased("svr_timeout", &["server_timeout"], Kind::Duration(0, 31_536_000 * SECOND)),
            key("connect_timeout", Kind::Duration(1, 10 * MINUTE)),
            super::http::HTTP2,
            super::http::MAX_REQUESTS,
            super::tls::SERVER_TLS,
            super::tls::PROXY_OUT,
            super::balancing::PASSIVE,
            super::http::APP_FLOW_LOG,
        ]
    };
}

const SERVICE_LATER: &[&str] = &[
    "usip",
    "sp",
    "clt_timeout",
    "cka",
    "tcpb",
    "cmp",
    "access_down",
    "use_proxy_port",
    "clear_text_port",
    "cache_type",
    "tcp_profile_name",
    "http_profile_name",
    "td",
    "state",
    "gslb",
    "auto_scale",
    "member_port",
    "net_profile",
    "pathmonitor",
    "monconnectionclose",
];

pub(super) static SERVICE: Schema = Schema {
    keys: service_keys!(
        key("server", Kind::Name),
        key("address", Kind::OneOf(&[Kind::Name])),
        key("port", PORT),
        super::balancing::HASH_ID,
        super::balancing::CUSTOM_SERVER_ID,
        super::http::COMMENT,
    ),
    later: SERVICE_LATER,
};
pub(super) static SERVICE_GROUP: Schema = Schema {
    keys: service_keys!(
        key("member", Kind::Map(&Kind::Table(&MEMBER))),
        aliased("auto_scale", &["autoscale"], Kind::Word(&AUTO_SCALE)),
        key("auto_disable_delay", Kind::Duration(0, 31_536_000 * SECOND)),
        key("auto_disable_graceful", Kind::Bool),
        key("auto_delayed_trofs", Kind::Bool),
        super::http::COMMENT,
    ),
    later: SERVICE_LATER,
};
pub(super) static SERVICE_DEFAULTS: Schema = Schema { keys: service_keys!(), later: SERVICE_LATER };

static MEMBER: Schema = Schema {
    keys: &[
        key("server", Kind::Name),
        key("address", Kind::Name),
        key("port", PORT),
        super::balancing::MEMBER_WEIGHT,
        super::balancing::MEMBER_ORDER,
        super::balancing::HASH_ID,
        super::balancing::CUSTOM_SERVER_ID,
    ],
    later: &["state"],
};

/// Keys of every vserver, whatever it does with its clients.
macro_rules! any_vserver_keys {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            super::limits::REDIRECT_URL,
            super::limits::CLIENT_LIMITS,
            key("disable_primary_on_down", Kind::Bool),
            key("down_state_flush", Kind::Bool),
            aliased("clt_timeout", &["client_timeout"], Kind::Duration(1, 31_536_000 * SECOND)),
            super::http::FORWARDED_FOR,
            super::http::X_FORWARDED,
            super::http::FORWARDED,
            super::http::HTTP2,
            super::http::ABORT_ON_CLOSE,
            super::http::RETRY,
            super::http::COMMENT,
            super::http::APP_FLOW_LOG,
            key("diagnostics", Kind::OneOf(&[Kind::List(&Kind::Network), Kind::Network])),
            super::tls::CERTIFICATES,
            super::tls::CLIENT_TLS,
            super::tls::PROXY_IN,
        ]
    };
}

/// Those of one that balances.
macro_rules! vserver_keys {
    ($($own:expr),* $(,)?) => {
        any_vserver_keys!(
            $($own,)*
            key("type", Kind::Word(&PROTOCOLS)),
            super::balancing::LB_METHOD,
            super::balancing::BACKUP_LB_METHOD,
            super::balancing::HASH_LENGTH,
            super::balancing::NETMASK,
            super::balancing::V6_NETMASK_LEN,
            super::balancing::SLOW_START,
            super::limits::PERSISTENCE,
            super::limits::SKIP_PERSISTENCY,
            key("health_threshold", Kind::Int(0, 100)),
            super::limits::SPILLOVER,
            super::limits::SURGE,
            key("trofs_persistence", Kind::Bool),
        )
    };
}

const VSERVER_LATER: &[&str] = &[
    "res_rule",
    "m",
    "tos_id",
    "data_length",
    "state",
    "td",
    "push",
    "listen_policy",
    "listen_priority",
    "authentication",
    "new_service_request",
    "range",
    "ip_pattern",
    "ip_mask",
    "icmp_vsr_response",
    "rhi_state",
    "order",
    "http_profile_name",
    "tcp_profile_name",
    "net_profile",
    "db_profile_name",
    "min_autoscale_members",
];

pub(super) static VSERVER: Schema = Schema {
    keys: vserver_keys!(
        key("address", Kind::Socket),
        key("interface", Kind::Name),
        super::balancing::SERVICES,
        key("groups", NAMES),
        super::balancing::TOKEN,
        super::balancing::SPLIT,
        super::balancing::PROXIMITY,
        super::policy::RESPONDER_POLICIES,
        super::policy::REWRITE_POLICIES,
        aliased("backup", &["backup_vserver"], Kind::Name),
    ),
    later: VSERVER_LATER,
};
pub(super) static VSERVER_DEFAULTS: Schema = Schema { keys: vserver_keys!(), later: VSERVER_LATER };

pub(super) static CS_VSERVER: Schema = Schema {
    keys: any_vserver_keys!(
        required("type", Kind::Word(&PROTOCOLS)),
        key("address", Kind::Socket),
        key("interface", Kind::Name),
        key("default", Kind::Name),
        super::policy::RESPONDER_POLICIES,
        super::policy::REWRITE_POLICIES,
        super::policy::CS_POLICIES,
        aliased("backup", &["backup_vserver"], Kind::Name),
    ),
    later: &["state_update", "precedence", "case_sensitive", "target_type", "range", "state", "td"],
};
