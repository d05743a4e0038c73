//! Traffic rules: what a vserver does with a request before it balances it, and with the answer before it goes out.

use super::check::StatusRange;
use super::condition::Condition;
use super::id::{GroupId, Name, ServiceId, VserverId};
use super::net::Network;

/// A named property of a request or answer, referred to by id in the conditions of rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub name: Name,
    pub test: CriterionTest,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CriterionTest {
    /// The path of the target without query, percent-decoded once.
    Path(TextTest),
    /// The path as [`Path`](Self::Path) sees it and, where there is one, `?` and the query as sent.
    Url(TextTest),
    /// The query as sent, without its `?`; empty where there is none.
    QueryString(TextTest),
    /// The Host field without port, lower-cased; the test is case-insensitive.
    Host(TextTest),
    /// One of these methods.
    Method(Vec<Name>),
    /// A field with this name whose value passes the test (`None`: is present).
    Header { name: Name, test: Option<TextTest> },
    /// A cookie with this name whose value passes the test (`None`: is present).
    Cookie { name: Name, test: Option<TextTest> },
    /// A parameter of the query with this name, percent-decoded once, whose value passes the test (`None`: is present).
    Query { name: Name, test: Option<TextTest> },
    /// The client's address is in one of these networks.
    Client(Vec<Network>),
    /// The VIP's port.
    Port(Vec<u16>),
    /// The server name of the TLS handshake, lower-cased. Also for SSL_BRIDGE and SSL_TCP.
    Sni(TextTest),
    /// The request came over TLS.
    Tls,
    /// Response phase only: the status is in one of these ranges.
    Status(Vec<StatusRange>),
    /// Response phase only: a field of the answer.
    ResponseHeader { name: Name, test: Option<TextTest> },
}

/// Exactly one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextTest {
    Equals(Name),
    StartsWith(Name),
    EndsWith(Name),
    Contains(Name),
    /// One of these (NetScaler's pattern set).
    OneOf(Vec<Name>),
    /// Syntax of the crate `regex`; unanchored; linear time.
    Regex(Name),
}

/// Rules are asked by priority, then by name. Each whose condition is true acts; the first whose action decides (routes,
/// answers, refuses) ends the walk, edits and mirrors go on unless the rule says `stop`. Terms are criteria and, with
/// prefix or as checks, board terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Appears in log, `explain` and counters.
    pub name: Name,
    pub vserver: VserverId,
    /// Lower first. 1..=2147483647, unique within a vserver.
    pub priority: u32,
    pub phase: Phase,
    pub when: Condition,
    /// For each group and term of `when`: where its board value stands (`None` for criteria).
    pub watched: Vec<Vec<Option<super::id::WatchedId>>>,
    pub action: Action,
    /// Once it acted, the rest of its bank is not asked: of the same vserver and phase those that come from policies of
    /// the same kind, or those that come from none. Never beside an action that decides.
    pub stop: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    #[default]
    Request,
    /// Edits of the answer's fields and status only.
    Response,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An answer of our own.
    Respond { status: u16, headers: Vec<(Name, Name)>, body: Vec<u8> },
    /// The connection is reset without an answer.
    Reject,
    /// 301, 302, 303, 307 or 308. `{path}`, `{query}`, `{url}`, `{host}` and `{hostname}` in the location are replaced.
    Redirect { status: u16, location: Name },
    /// Content switching: the request goes there instead of to the vserver's own members. Over TLS without HTTP
    /// (SSL_BRIDGE, SSL_TCP) on criteria of the connection only.
    Route(Route),
    /// Fields, path and cookies are changed; the walk goes on.
    Edit(Vec<Edit>),
    /// A copy of `percent` of the requests goes to a vserver; its answers are dropped. The walk goes on.
    Mirror { to: VserverId, percent: u8, body_limit: u64 },
    /// Nothing but that it is counted; the walk goes on.
    Count,
}

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Vserver(VserverId),
    /// This service of the vserver's own members, while it is UP; else the rule does not act.
    Service(ServiceId),
    /// Only members of this group of the vserver's own, by its method; while none is UP the rule does not act.
    Group(GroupId),
}

/// One change. Values may hold what [`Filled`](super::filled::Filled) names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// All fields of this name are replaced by one.
    Set {
        name: Name,
        value: Name,
    },
    /// One more field.
    Add {
        name: Name,
        value: Name,
    },
    Remove {
        name: Name,
    },
    /// Request: the path (without query) is replaced where it matches; `$1` … are the brackets.
    Path {
        pattern: Name,
        to: Name,
    },
    /// Request: path and query become this; `whole` false: the path alone, and the query stays. Filled in as values are.
    Url {
        to: Name,
        whole: bool,
    },
    /// Request: a cookie is removed before the server sees it. Response: `Set-Cookie` of this name is removed.
    RemoveCookie {
        name: Name,
    },
    /// Response: `Set-Cookie`.
    SetCookie {
        name: Name,
        value: Name,
    },
    /// Response: the status.
    Status(u16),
}

// === impl Action ===

impl Action {
    /// Whether the walk ends with it.
    pub fn decides(&self) -> bool {
        !matches!(self, Action::Edit(_) | Action::Mirror { .. } | Action::Count)
    }

    /// Whether it gives an answer another status.
    pub fn sets_status(&self) -> bool {
        matches!(self, Action::Edit(edits) if edits.iter().any(|edit| matches!(edit, Edit::Status(_))))
    }
}
