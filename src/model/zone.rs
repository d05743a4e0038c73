//! Zones and steered records. Names are stored as wire-format labels in lower case; RDATA as uncompressed wire bytes.

mod contents;
mod rtype;

use std::sync::Arc;
use std::time::Duration;

use super::geo::Region;
use super::id::{Name, ScenarioId, WatchedId};

pub use contents::{AllContents, Received, ZoneContents, ZoneNews};
pub use rtype::RecordType;

/// A domain name: wire format without compression, lower case, ending in the root label. At most 255 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DnsName(pub Arc<[u8]>);

#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// As configured, without the final dot: `example.test`.
    pub name: Name,
    pub origin: DnsName,
    /// Default TTL of records that say none. 0..=2147483647 s; default 60 s.
    pub ttl: Duration,
    /// TTL of steered RRsets near a change, where they say none of their own. At most `ttl`; default: none.
    pub degraded_ttl: Option<Duration>,
    pub soa: Soa,
    /// The zone text as configured, and where it came from; `None`: none.
    pub text: Option<ZoneText>,
    /// Records of the zone text and the SOA, in order; RRsets with one owner and type share one TTL.
    pub records: Vec<StaticRecord>,
    pub rrsets: Vec<Rrset>,
    /// `None`: the zone is not signed.
    pub dnssec: Option<super::dnssec::Dnssec>,
    /// Default: the zone goes nowhere.
    pub transfer: super::transfer::Transfer,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ZoneText {
    Inline(Name),
    File { path: Name, text: Name },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Soa {
    pub mname: DnsName,
    pub rname: DnsName,
    pub serial: u32,
    pub refresh: Duration,
    pub retry: Duration,
    pub expire: Duration,
    /// TTL of negative answers (RFC 2308).
    pub minimum: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StaticRecord {
    pub owner: DnsName,
    pub rtype: RecordType,
    pub ttl: u32,
    pub rdata: Arc<[u8]>,
}

/// Everything about one steered RRset: `[zone."example.test".rrset."www A"]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rrset {
    /// The key as configured: `www A`.
    pub key: Name,
    pub owner: DnsName,
    pub rtype: RecordType,
    /// Seconds; the zone's where not said.
    pub ttl: u32,
    /// Whether the TTL was said.
    pub own_ttl: bool,
    /// Seconds, less than `ttl`: the TTL while the answer is not the usual one or may change soon (the snapshot says
    /// when). `None`: `ttl` holds always.
    pub degraded_ttl: Option<u32>,
    /// Whether it was said here, and not for the zone.
    pub own_degraded_ttl: bool,
    /// In the order of the configuration: DR sets are tried in it.
    pub records: Vec<Record>,
    pub on_empty: OnEmpty,
    pub select: Select,
    /// For people and for geography.
    pub datacenter: Option<Name>,
    /// What NetScaler's commands and NITRO call it; RRsets of one name are the domains of one GSLB vserver.
    pub gslb_vserver: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Presentation format, as configured.
    pub data: Name,
    /// Usually the type of the RRset; CNAME where a set is a CNAME.
    pub rtype: RecordType,
    pub rdata: Arc<[u8]>,
    /// Left out while the scenario is active (`true` in the second place: while it is inactive, `cond = "S!"`).
    pub cond: Option<(ScenarioId, bool)>,
    /// Member of the DR set of this scenario; `None`: of the primary set.
    pub dr_cond: Option<ScenarioId>,
    /// A term; false leaves the record out, unknown counts as up.
    pub check: Option<WatchedId>,
    /// `false`: in no answer at all.
    pub enabled: bool,
    /// 0..=65535; default 1. 0: only where all others of the answer have 0.
    pub weight: u32,
    pub datacenter: Option<Name>,
    /// Regions that it is for; empty: for clients that are in none of the others'.
    pub geo: Vec<Region>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OnEmpty {
    /// The base set.
    ServeAll,
    /// The next active DR set, else the primary set.
    OtherSet,
    Static(Vec<StaticData>),
    /// The last answer that was not empty; the base set where there was none yet.
    LastGood,
    NoData,
    ServFail,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StaticData {
    pub data: Name,
    pub rdata: Arc<[u8]>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// Records of the client's own data centre alone, where it stands in one that has a record left. Default false.
    pub topology: bool,
    /// Then: records for the narrowest region that holds the client. Default false.
    pub geo: bool,
    pub method: SelectMethod,
    /// How many records an answer holds; `None`: all.
    pub answers: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SelectMethod {
    /// The records in the order of the configuration.
    #[default]
    Ordered,
    /// A weighted permutation.
    Weighted,
    /// Rotated by one at each query.
    RoundRobin,
    /// By rendezvous hash of the client's address, so that a client keeps its answer.
    Hash,
}

// === impl Soa ===

impl Soa {
    /// RDATA in wire format.
    pub fn rdata(&self) -> Arc<[u8]> {
        let seconds = |d: Duration| u32::try_from(d.as_secs()).unwrap_or(u32::MAX).to_be_bytes();
        let mut rdata = Vec::with_capacity(self.mname.0.len() + self.rname.0.len() + 20);
        rdata.extend_from_slice(&self.mname.0);
        rdata.extend_from_slice(&self.rname.0);
        rdata.extend_from_slice(&self.serial.to_be_bytes());
        for timer in [self.refresh, self.retry, self.expire, self.minimum] {
            rdata.extend_from_slice(&seconds(timer));
        }
        rdata.into()
    }
}

// === impl DnsName ===

impl DnsName {
    /// The root.
    pub fn root() -> DnsName {
        DnsName(Arc::from([0u8].as_slice()))
    }

    /// From labels in wire format; lower-cases them. `None` where it is not one whole name of at most 255 bytes.
    pub fn from_wire(wire: &[u8]) -> Option<DnsName> {
        if wire.len() > 255 {
            return None;
        }
        let mut at = 0;
        loop {
            let length = usize::from(*wire.get(at)?);
            if length == 0 {
                return (at + 1 == wire.len()).then(|| DnsName(wire.to_ascii_lowercase().into()));
            }
            if length > 63 {
                return None;
            }
            at += 1 + length;
        }
    }

    /// From presentation format: absolute with a final dot, else relative to `origin`; `@` is the origin. Knows `\.`,
    /// `\\` and `\DDD` (RFC 1035 §5.1).
    pub fn parse(text: &str, origin: &DnsName) -> Option<DnsName> {
        if text == "@" {
            return Some(origin.clone());
        }
        if text == "." {
            return Some(DnsName::root());
        }
        let mut wire = Vec::with_capacity(text.len() + 2);
        let mut label: Vec<u8> = Vec::new();
        let mut bytes = text.bytes().peekable();
        let mut absolute = false;
        while let Some(byte) = bytes.next() {
            match byte {
                b'.' => {
                    if label.is_empty() || label.len() > 63 {
                        return None;
                    }
                    wire.push(label.len() as u8);
                    wire.append(&mut label);
                    absolute = bytes.peek().is_none();
                }
                b'\\' => match bytes.next()? {
                    d @ b'0'..=b'9' => {
                        let (e, f) = (bytes.next()?, bytes.next()?);
                        if !e.is_ascii_digit() || !f.is_ascii_digit() {
                            return None;
                        }
                        let value = u32::from(d - b'0') * 100 + u32::from(e - b'0') * 10 + u32::from(f - b'0');
                        label.push(u8::try_from(value).ok()?);
                    }
                    other => label.push(other),
                },
                other => label.push(other),
            }
        }
        if absolute {
            wire.push(0);
        } else {
            if label.is_empty() || label.len() > 63 {
                return None;
            }
            wire.push(label.len() as u8);
            wire.append(&mut label);
            wire.extend_from_slice(&origin.0);
        }
        DnsName::from_wire(&wire)
    }

    /// The labels from the left, without the root.
    pub fn labels(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || {
            let length = usize::from(*rest.first()?);
            if length == 0 {
                return None;
            }
            let label = &rest[1..=length];
            rest = &rest[1 + length..];
            Some(label)
        })
    }

    /// The name without its first label; `None` for the root.
    pub fn parent(&self) -> Option<DnsName> {
        let length = usize::from(self.0[0]);
        (length != 0).then(|| DnsName(self.0[1 + length..].into()))
    }

    /// Whether `self` is `zone` or below it.
    pub fn is_within(&self, zone: &DnsName) -> bool {
        let mut rest = &self.0[..];
        loop {
            if rest == &zone.0[..] {
                return true;
            }
            let length = usize::from(rest[0]);
            if length == 0 {
                return false;
            }
            rest = &rest[1 + length..];
        }
    }
}

/// Absolute presentation format with a final dot; bytes outside `!`..`~` and dots in labels are escaped.
impl std::fmt::Display for DnsName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.len() == 1 {
            return f.write_str(".");
        }
        for label in self.labels() {
            for &byte in label {
                match byte {
                    b'.' | b'\\' | b'"' | b';' | b'(' | b')' | b'@' | b'$' => write!(f, "\\{}", byte as char)?,
                    0x21..=0x7e => write!(f, "{}", byte as char)?,
                    _ => write!(f, "\\{byte:03}")?,
                }
            }
            f.write_str(".")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
