//! Where a probe goes: an address as it stands, or a name that is looked up anew for every sample, so that a server that
//! moved is probed where it is now.

use std::net::{IpAddr, SocketAddr};

use super::{Deadline, Miss};
use crate::model::check::{Host, Target};

/// A name may have many addresses; a sample tries the first of them.
const ADDRESSES_MAX: usize = 4;

/// The addresses of `target`, at least one. A name without addresses is void for a monitor, a failure otherwise.
pub(super) async fn lookup(target: &Target, monitor: bool, deadline: Deadline) -> Result<Vec<SocketAddr>, Miss> {
    let name = match &target.host {
        Host::Ip(ip) => return Ok(vec![SocketAddr::new(*ip, target.port)]),
        Host::Name(name) => name,
    };
    let unresolved = |why: String| match monitor {
        true => Miss::Void(format!("the name {name} does not resolve: {why}")),
        false => Miss::Fail(format!("the name {name} does not resolve: {why}")),
    };
    let lookup = tokio::net::lookup_host((&**name, target.port));
    let found: Vec<SocketAddr> = match tokio::time::timeout_at(deadline.at, lookup).await {
        Err(_) => return Err(unresolved(format!("no answer within {} ms", deadline.timeout.as_millis()))),
        Ok(Err(error)) => return Err(unresolved(error.to_string())),
        Ok(Ok(found)) => found.collect(),
    };
    let mut found = within_reach(found, target.source)
        .map_err(|source| Miss::Fail(format!("{name} has no address of the family of its source {source}")))?;
    found.dedup();
    found.truncate(ADDRESSES_MAX);
    if found.is_empty() {
        return Err(unresolved("it has no address".to_owned()));
    }
    Ok(found)
}

/// Those that `source` can reach: addresses of its family. Errors: there is none left.
fn within_reach(mut found: Vec<SocketAddr>, source: Option<IpAddr>) -> Result<Vec<SocketAddr>, IpAddr> {
    if let Some(source) = source.filter(|_| !found.is_empty()) {
        found.retain(|address| address.is_ipv4() == source.is_ipv4());
        if found.is_empty() {
            return Err(source);
        }
    }
    Ok(found)
}

/// The host as it stands in a URL or a Host field: an IPv6 address in brackets.
pub(super) fn bracketed(host: &Host) -> String {
    match host {
        Host::Ip(IpAddr::V6(ip)) => format!("[{ip}]"),
        other => other.to_string(),
    }
}
