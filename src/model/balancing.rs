//! How a vserver chooses a member: NetScaler's `lbMethod` and what belongs to it.

use std::sync::Arc;
use std::time::Duration;

use super::id::{Name, ServiceId};
use super::net::Network;

/// A split by name: every bound group once, with its percent of new clients.
pub type Shares = Arc<[(Name, u8)]>;

/// How a member is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Balancing {
    pub method: Method,
    /// NetScaler's `backupLBMethod`: where the method finds nothing to go by (no URL parameter, no load figure yet).
    /// Default ROUNDROBIN.
    pub backup_method: Method,
    /// NetScaler's `hashLength`: bytes of a URL or host name that are hashed. 1..=4096, default 80.
    pub hash_length: u32,
    /// NetScaler's `netmask` and `v6netmasklen`: which bits of an address are hashed. Default 32 and 128.
    pub prefix_v4: u8,
    pub prefix_v6: u8,
    /// What TOKEN and CALLIDHASH hash. `None` otherwise.
    pub token: Option<Extract>,
    /// A member that comes UP is given new clients from a tenth of its weight to all of it over this time. 0: at once.
    pub slow_start: Duration,
    /// Share of new clients for each bound group (in the order of `groups`), in percent, 100 together; empty: by weights
    /// alone. A person can move it at run time, see `VserverView::split`.
    pub split: Vec<u8>,
    /// STATICPROXIMITY: which clients are near which member; the longest prefix wins.
    pub proximity: Vec<(Network, ServiceId)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// NetScaler's default. HTTP: requests in flight; TCP: open connections; both divided by weight.
    #[default]
    LeastConnection,
    RoundRobin,
    /// Least (time to first byte × connections) / weight.
    LeastResponseTime,
    /// Least bit/s of the last seconds / weight.
    LeastBandwidth,
    /// Least packets (reads and writes) per second / weight.
    LeastPackets,
    /// Least requests in flight / weight, over all vservers.
    LeastRequest,
    UrlHash,
    DomainHash,
    SourceIpHash,
    DestinationIpHash,
    SrcIpDestIpHash,
    SrcIpSrcPortHash,
    CallIdHash,
    Token,
    /// Least load told by LOAD monitors / weight.
    CustomLoad,
    StaticProximity,
}

/// A value taken from a request (or, for persistence by rule, from a response).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extract {
    /// The first field of this name.
    Header(Name),
    Cookie(Name),
    /// A parameter of the query.
    Query(Name),
    /// The n-th segment of the path, from 1.
    PathSegment(u32),
    Path,
    /// The path with its query, as sent.
    Url,
    Host,
    ClientIp,
    /// The first bracket of a regular expression (crate `regex`) over another extract.
    Regex {
        of: Box<Extract>,
        pattern: Name,
    },
}

// === impl Balancing ===

impl Default for Balancing {
    fn default() -> Balancing {
        Balancing {
            method: Method::default(),
            backup_method: Method::RoundRobin,
            hash_length: 80,
            prefix_v4: 32,
            prefix_v6: 128,
            token: None,
            slow_start: Duration::ZERO,
            split: Vec::new(),
            proximity: Vec::new(),
        }
    }
}

// === impl Method ===

impl Method {
    pub const ALL: [Method; 16] = [
        Method::LeastConnection,
        Method::RoundRobin,
        Method::LeastResponseTime,
        Method::LeastBandwidth,
        Method::LeastPackets,
        Method::LeastRequest,
        Method::UrlHash,
        Method::DomainHash,
        Method::SourceIpHash,
        Method::DestinationIpHash,
        Method::SrcIpDestIpHash,
        Method::SrcIpSrcPortHash,
        Method::CallIdHash,
        Method::Token,
        Method::CustomLoad,
        Method::StaticProximity,
    ];

    /// Whether it compares figures.
    pub fn compares(self) -> bool {
        !self.hashes() && !matches!(self, Method::RoundRobin | Method::StaticProximity)
    }

    /// Whether it gives the same key to the same member.
    pub fn hashes(self) -> bool {
        self.hashes_text() || self.hashes_address()
    }

    /// Whether it hashes something that a request says.
    pub fn hashes_text(self) -> bool {
        matches!(self, Method::UrlHash | Method::DomainHash | Method::CallIdHash | Method::Token)
    }

    /// Whether it hashes an address.
    pub fn hashes_address(self) -> bool {
        matches!(
            self,
            Method::SourceIpHash | Method::DestinationIpHash | Method::SrcIpDestIpHash | Method::SrcIpSrcPortHash
        )
    }

    /// NetScaler's word.
    pub fn word(self) -> &'static str {
        match self {
            Method::LeastConnection => "LEASTCONNECTION",
            Method::RoundRobin => "ROUNDROBIN",
            Method::LeastResponseTime => "LEASTRESPONSETIME",
            Method::LeastBandwidth => "LEASTBANDWIDTH",
            Method::LeastPackets => "LEASTPACKETS",
            Method::LeastRequest => "LEASTREQUEST",
            Method::UrlHash => "URLHASH",
            Method::DomainHash => "DOMAINHASH",
            Method::SourceIpHash => "SOURCEIPHASH",
            Method::DestinationIpHash => "DESTINATIONIPHASH",
            Method::SrcIpDestIpHash => "SRCIPDESTIPHASH",
            Method::SrcIpSrcPortHash => "SRCIPSRCPORTHASH",
            Method::CallIdHash => "CALLIDHASH",
            Method::Token => "TOKEN",
            Method::CustomLoad => "CUSTOMLOAD",
            Method::StaticProximity => "STATICPROXIMITY",
        }
    }
}

/// `blue 90, green 10`: a split in words.
pub fn shares_text<'a>(shares: impl Iterator<Item = (&'a Name, u8)>) -> String {
    shares.map(|(group, share)| format!("{group} {share}")).collect::<Vec<_>>().join(", ")
}

/// A split in the order of `groups`. Refused, in words, where it does not name each of them once, or is not 100 together.
pub fn split_of(groups: &[&Name], shares: &[(Name, u8)]) -> Result<Vec<u8>, String> {
    let mut split = Vec::with_capacity(groups.len());
    if let Some((name, _)) = shares.iter().find(|(name, _)| !groups.contains(&name)) {
        return Err(format!("`{name}` is not among the groups of the split: {}", listed(groups)));
    }
    for group in groups {
        let mut of = shares.iter().filter(|(name, _)| name == *group).map(|(_, share)| *share);
        match (of.next(), of.next()) {
            (Some(share), None) => split.push(share),
            (None, _) => return Err(format!("the split says nothing of `{group}`; 0 gives it no new clients")),
            (Some(_), Some(_)) => return Err(format!("the split names `{group}` twice")),
        }
    }
    match split.iter().map(|&share| u32::from(share)).sum::<u32>() {
        100 => Ok(split),
        total => Err(format!("the shares are {total} together, not 100")),
    }
}

fn listed(names: &[&Name]) -> String {
    names.iter().map(|name| &***name).collect::<Vec<_>>().join(", ")
}
