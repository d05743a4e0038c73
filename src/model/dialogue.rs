//! What monitors and checks speak beside HTTP, DNS and plain bytes: application protocols, as their clients, until the
//! peer has shown that it works. And scripts, which speak whatever they like.

use std::net::IpAddr;
use std::time::Duration;

use super::check::{HttpRequest, StatusRange};
use super::id::Name;
use super::scenario::Secret;

/// One dialogue with a server. TLS, where the monitor is `secure`, is spoken from the first byte.
#[derive(Clone, Debug, PartialEq)]
pub enum Dialogue {
    /// The greeting (220); with a login also USER and PASS; with a file (FTP-EXTENDED) its size.
    Ftp { login: Option<Login>, file: Option<Name> },
    /// Greeting, EHLO and QUIT.
    Smtp,
    /// The greeting; with a login also USER and PASS.
    Pop3 { login: Option<Login> },
    /// The greeting; with a group also GROUP.
    Nntp { group: Option<Name> },
    /// A simple bind (anonymous without a login); with a search also one that must find an entry.
    Ldap { login: Option<Login>, search: Option<LdapSearch> },
    /// Access-Request; over UDP. `codes`: of the answers that pass (2 is Access-Accept, 3 Access-Reject).
    Radius { login: Login, secret: Secret, nas_ip: Option<IpAddr>, codes: Vec<u8> },
    /// Accounting-Request (Start, then Stop); over UDP.
    RadiusAccounting { user: Option<Name>, secret: Secret, nas_ip: Option<IpAddr> },
    /// The greeting; with a login also that, and a query.
    Mysql { login: Option<Login>, database: Option<Name>, query: Option<SqlQuery> },
    /// Without a login: that the server answers a start-up at all.
    Postgresql { login: Option<Login>, database: Option<Name>, query: Option<SqlQuery> },
    /// A login and a query that only reads; without one `select 1 from dual`. In a process of its own, see
    /// `probe::sql`.
    Oracle { login: Login, database: Name, query: Option<SqlQuery> },
    /// PING; with a login AUTH before it.
    Redis { login: Option<Login> },
    /// CONNECT and PINGREQ, in MQTT 3.1.1.
    Mqtt { login: Option<Login>, client_id: Option<Name> },
    /// `grpc.health.v1.Health/Check`; an empty name asks for the server as a whole.
    Grpc { service: Name },
}

/// Who logs in. The password is never part of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub user: Name,
    pub password: Option<Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LdapSearch {
    pub base_dn: Name,
    /// RFC 4515, without extensible matches.
    pub filter: Name,
    /// Must be there in the entry found.
    pub attribute: Option<Name>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlQuery {
    pub sql: Name,
    /// The first column of the first row, as text. `None`: any row.
    pub expect: Option<Name>,
}

/// A script of the operator's (type USER).
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// `[monitors] scripts`; relative to the folder of the configuration.
    pub directory: Name,
    /// A file name in it.
    pub name: Name,
    /// After address and port.
    pub arguments: Vec<Name>,
    /// Handed to it beside the `BASCULE_` variables and PATH.
    pub environment: Vec<(Name, Value)>,
    pub limits: ScriptLimits,
}

/// A value that stands in the configuration, or a secret that does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Plain(Name),
    Secret(Secret),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Address space of each process. Default 512 MiB.
    pub memory: u64,
    /// CPU time of each process. Default: the time-out of the monitor, rounded up to seconds.
    pub cpu: Option<Duration>,
    /// Largest file that it may write. Default 1 MiB; 0: none.
    pub file_size: u64,
    /// Files open at once in each process. Default 64.
    pub open_files: u32,
}

/// How busy a server says it is (type LOAD): one number, over HTTP.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadQuery {
    pub request: HttpRequest,
    pub status: Vec<StatusRange>,
    /// Where the number stands in a JSON body; `None`: the body is the number.
    pub pointer: Option<Name>,
    /// A load above it is a failed sample. `None`: every number passes.
    pub threshold: Option<u32>,
}

/// What follows where HTTP-INLINE finds that user traffic is answered badly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InlineAction {
    /// It is counted and shown.
    None,
    /// A warning is logged as well.
    Log,
    /// The service goes down.
    Down,
}

// === impl Dialogue ===

impl Dialogue {
    /// NetScaler's word where it has one.
    pub fn word(&self) -> &'static str {
        match self {
            Dialogue::Ftp { file: None, .. } => "FTP",
            Dialogue::Ftp { file: Some(_), .. } => "FTP-EXTENDED",
            Dialogue::Smtp => "SMTP",
            Dialogue::Pop3 { .. } => "POP3",
            Dialogue::Nntp { .. } => "NNTP",
            Dialogue::Ldap { .. } => "LDAP",
            Dialogue::Radius { .. } => "RADIUS",
            Dialogue::RadiusAccounting { .. } => "RADIUS_ACCOUNTING",
            Dialogue::Mysql { query: None, .. } => "MYSQL",
            Dialogue::Mysql { query: Some(_), .. } => "MYSQL-ECV",
            Dialogue::Postgresql { .. } => "POSTGRESQL",
            Dialogue::Oracle { .. } => "ORACLE",
            Dialogue::Redis { .. } => "REDIS",
            Dialogue::Mqtt { .. } => "MQTT",
            Dialogue::Grpc { .. } => "GRPC",
        }
    }

    /// Over UDP: no TLS.
    pub fn is_datagram(&self) -> bool {
        matches!(self, Dialogue::Radius { .. } | Dialogue::RadiusAccounting { .. })
    }
}

// === impl ScriptLimits ===

impl Default for ScriptLimits {
    fn default() -> ScriptLimits {
        ScriptLimits { memory: 512 << 20, cpu: None, file_size: 1 << 20, open_files: 64 }
    }
}

// === impl InlineAction ===

impl InlineAction {
    pub const ALL: [InlineAction; 3] = [InlineAction::None, InlineAction::Log, InlineAction::Down];

    pub fn word(self) -> &'static str {
        match self {
            InlineAction::None => "NONE",
            InlineAction::Log => "LOG",
            InlineAction::Down => "DOWN",
        }
    }
}
