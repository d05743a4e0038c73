//! Names of servers: what is asked of DNS, what it answers, and the members of groups that follow from the answers.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::id::Name;
use super::time::{Now, Tick, Wall};

/// Members that one group takes from DNS at most; addresses beyond it wait until one leaves.
pub const MEMBERS_MOST: usize = 256;

/// `[resolver]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolver {
    /// Name servers, asked in this order. Default none: those of the system, with its file of hosts.
    pub name_servers: Vec<SocketAddr>,
}

/// How the name of a server is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// NetScaler's `queryType`. Default: A, and AAAA where there is no A.
    pub query: Query,
    /// NetScaler's `domainResolveRetry`: the wait after a failure. 1 s..=20 939 s, default 5 s.
    pub retry: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Query {
    /// A, and AAAA where there is no A.
    #[default]
    Either,
    A,
    Aaaa,
    /// RFC 2782; for groups with `auto_scale` only.
    Srv,
}

/// What is asked, once however many servers and groups want to know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Question {
    pub name: Name,
    pub query: Query,
}

/// What was answered; without addresses it is a failure, not an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// In the order of the answer.
    pub found: Vec<Found>,
    /// The least of all records that led here.
    pub ttl: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    pub address: IpAddr,
    /// `Some` exactly for SRV.
    pub srv: Option<Srv>,
}

/// The fields of an SRV record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Srv {
    pub target: Name,
    pub port: u16,
    pub priority: u16,
    pub weight: u16,
}

/// How a question stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// The last good one: it stays in force while the resolver fails.
    pub answer: Option<Answer>,
    /// When it came.
    pub answered_at: Option<Wall>,
    /// What the last attempt failed with; `None` after a good one.
    pub error: Option<Arc<str>>,
    /// When the failures since then began.
    pub failing_since: Option<Wall>,
    /// Failed attempts in a row.
    pub failures: u32,
    /// The address in use for a server: the former one for as long as the answer holds it.
    pub address: Option<IpAddr>,
    /// When it is asked next.
    pub due: Tick,
}

/// All questions.
pub type KnownNames = BTreeMap<Question, Known>;

/// Groups whose members come from DNS, by name; members by address.
pub type Membership = BTreeMap<Name, BTreeMap<SocketAddr, DnsMember>>;

/// A member that DNS named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsMember {
    /// Name within the group of the entry that it comes from.
    pub source: Name,
    /// The name that led to the address: that of the server, or the target of the SRV record.
    pub host: Name,
    /// 1..=100.
    pub weight: u32,
    /// 1..=8192.
    pub order: u32,
    /// It is not in the answer any more: it drains, and goes when it is out.
    pub leaving: Option<Leaving>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    pub since: Now,
    /// When its drain begins: at once, or later under `auto_delayed_trofs`.
    pub drains_at: Tick,
    /// Its drain was ordered.
    pub drains: bool,
}

// === impl Query ===

impl Query {
    /// NetScaler's word; `A+AAAA` for the default.
    pub fn word(self) -> &'static str {
        match self {
            Query::Either => "A+AAAA",
            Query::A => "A",
            Query::Aaaa => "AAAA",
            Query::Srv => "SRV",
        }
    }
}

impl Default for Lookup {
    fn default() -> Lookup {
        Lookup { query: Query::default(), retry: Duration::from_secs(5) }
    }
}

// === impl Question ===

/// `app.example.test (SRV)`
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.query.word())
    }
}
