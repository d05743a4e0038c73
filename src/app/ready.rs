//! Telling that it is ready: one line a listener on stdout, and the ready file with the real ports.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;

use parking_lot::Mutex;
use serde_json::json;

use crate::snapshot::Snapshot;
use crate::snapshot::live::Listening;

/// Where everything listens.
#[derive(Debug)]
pub(super) struct Listeners {
    admin: SocketAddr,
    /// Of the certificate that it shows, where it speaks TLS.
    pub fingerprint: Option<String>,
    /// Name, protocol, and the address or why there is none; only those with a VIP.
    vservers: Vec<(String, &'static str, Result<SocketAddr, String>)>,
    /// Word for people, key for programs, and the addresses.
    dns: [(&'static str, &'static str, Addresses); 3],
}

/// Where they are bound, or why not.
type Addresses = Vec<Result<SocketAddr, String>>;

// === impl Listeners ===

impl Listeners {
    pub fn of(admin: SocketAddr, snapshot: &Snapshot) -> Listeners {
        let vservers = snapshot.model.vservers.iter().zip(&snapshot.vservers);
        Listeners {
            admin,
            fingerprint: None,
            vservers: vservers
                .filter_map(|(vserver, entry)| {
                    let bound = bound(vserver.address?, &entry.live.listen.lock());
                    Some((vserver.name.to_string(), vserver.protocol.word(), bound))
                })
                .collect(),
            dns: [
                ("dns", "dns", addresses(&snapshot.dns.listening)),
                ("dns-tls", "dns_tls", addresses(&snapshot.dns.listening_tls)),
                ("dns-https", "dns_https", addresses(&snapshot.dns.listening_https)),
            ],
        }
    }

    /// Vservers that listen.
    pub fn count(&self) -> usize {
        self.vservers.iter().filter(|(_, _, at)| at.is_ok()).count()
    }

    /// For people.
    pub fn print(&self, mut out: impl Write) -> io::Result<()> {
        match &self.fingerprint {
            Some(fingerprint) => writeln!(out, "admin https://{} fingerprint {fingerprint}", self.admin)?,
            None => writeln!(out, "admin http://{}", self.admin)?,
        }
        for (name, protocol, address) in &self.vservers {
            match address {
                Ok(address) => writeln!(out, "vserver {name} {protocol} {address}")?,
                Err(why) => writeln!(out, "vserver {name} {protocol} not listening: {why}")?,
            }
        }
        for (word, address) in self.dns.iter().flat_map(|(word, _, all)| all.iter().map(move |one| (word, one))) {
            match address {
                Ok(address) => writeln!(out, "{word} {address}")?,
                Err(why) => writeln!(out, "{word} not listening: {why}")?,
            }
        }
        writeln!(out, "ready")?;
        out.flush()
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        let vservers: serde_json::Map<String, serde_json::Value> = self
            .vservers
            .iter()
            .filter_map(|(name, _, address)| Some((name.clone(), json!(address.as_ref().ok()?))))
            .collect();
        let mut all = json!({ "admin": self.admin, "vservers": vservers });
        for (_, key, addresses) in &self.dns {
            let bound: Vec<&SocketAddr> = addresses.iter().filter_map(|address| address.as_ref().ok()).collect();
            all[*key] = json!(bound);
        }
        if let Some(fingerprint) = &self.fingerprint {
            all["fingerprint"] = json!(fingerprint);
        }
        all["pid"] = json!(std::process::id());
        all
    }
}

/// Whoever sees the file sees all of it.
pub(super) fn write(path: &Path, content: &serde_json::Value) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    std::fs::write(&new, format!("{content}\n"))?;
    std::fs::rename(&new, path)
}

fn addresses(listening: &Mutex<Vec<(SocketAddr, Listening)>>) -> Addresses {
    listening.lock().iter().map(|(asked, listening)| bound(*asked, listening)).collect()
}

fn bound(asked: SocketAddr, listening: &Listening) -> Result<SocketAddr, String> {
    match listening {
        Listening::Bound { address, .. } => Ok(*address),
        Listening::Failed { error } => Err(format!("{asked}: {error}")),
        Listening::None => Err(format!("{asked}: not yet bound")),
    }
}
