//! Why an answer is what it is, asked in the words of a front end.

use std::net::IpAddr;

use crate::dataplane::dns::explain::explain;
use crate::model::zone::{DnsName, RecordType};
use crate::snapshot::Snapshot;

pub use crate::dataplane::dns::explain::{Explanation, Step};

/// Explains what `client` gets for `name` (taken as absolute) and `rtype` (`A`, `TYPE65`) from `snapshot`.
///
/// Errors: a name that is no domain name, a type that is none; in words, for the caller.
pub fn dns(snapshot: &Snapshot, name: &str, rtype: &str, client: IpAddr) -> Result<Explanation, String> {
    let name = DnsName::parse(name.trim(), &DnsName::root()).ok_or_else(|| format!("`{name}` is not a domain name"))?;
    let rtype = RecordType::parse(rtype.trim())
        .ok_or_else(|| format!("`{rtype}` is not a record type; write it like A, AAAA or TYPE65"))?;
    Ok(explain(snapshot, &name, rtype, client))
}
