//! Why an answer is what it is, asked in the words of a front end.

use std::net::{IpAddr, SocketAddr};

use crate::dataplane::dns::explain::explain_at;
use crate::dataplane::l7::policy;
use crate::model::time::{Tick, Wall};
use crate::model::zone::{DnsName, RecordType};
use crate::snapshot::Snapshot;

pub use crate::dataplane::dns::explain::{Explanation, Step};

/// Explains what `client` gets at `now` for `name` (taken as absolute) and `rtype` (`A`, `TYPE65`) from `snapshot`.
///
/// Errors: a name that is no domain name, a type that is none; in words, for the caller.
pub fn dns(snapshot: &Snapshot, name: &str, rtype: &str, client: IpAddr, now: Wall) -> Result<Explanation, String> {
    let name = DnsName::parse(name.trim(), &DnsName::root()).ok_or_else(|| format!("`{name}` is not a domain name"))?;
    let rtype = RecordType::parse(rtype.trim())
        .ok_or_else(|| format!("`{rtype}` is not a record type; write it like A, AAAA or TYPE65"))?;
    Ok(explain_at(snapshot, &name, rtype, client, now))
}

/// A request that nobody sends.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    /// With query.
    pub target: String,
    /// Empty: none.
    pub host: String,
    /// Names in any case.
    pub fields: Vec<(String, String)>,
    pub client: SocketAddr,
    /// `None`: as the vserver has it.
    pub tls: Option<bool>,
    pub server_name: Option<String>,
}

/// What would become of a request on the vserver of this name. `None`: there is none. Nothing is counted or moved.
pub fn request(snapshot: &Snapshot, vserver: &str, asked: &Asked, now: Tick) -> Option<policy::explain::Explanation> {
    let id = snapshot.model.vserver_id(vserver)?;
    let vserver = snapshot.model.vserver(id);
    let local = vserver.address.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
    let fields: Vec<(&str, &[u8])> = asked.fields.iter().map(|(name, value)| (&name[..], value.as_bytes())).collect();
    let request = policy::Request {
        method: &asked.method,
        target: &asked.target,
        host: &asked.host,
        fields: &fields,
        client: asked.client.ip(),
        port: local.port(),
        tls: asked.tls.unwrap_or(vserver.protocol.is_tls()),
        server_name: asked.server_name.as_deref(),
    };
    Some(policy::explain::explain(snapshot, id, &request, (asked.client, local), now))
}
