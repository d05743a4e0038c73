//! NOTIFY (RFC 1996): each secondary of a zone is told when the zone has a new serial, and told again until it answers
//! or the waits are over; then it finds out by itself at the zone's `refresh`.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use super::tsig::{Key, Signer};
use super::unix_now;
use crate::model::transfer::TsigKey;
use crate::model::zone::{DnsName, RecordType};
use crate::snapshot::Snapshot;

/// How long each try waits for an answer. Seconds.
const WAITS: [u64; 6] = [1, 2, 4, 8, 16, 32];
const OPCODE_NOTIFY: u8 = 4;

/// Who has been told of what.
#[derive(Default)]
pub struct Notifier {
    told: HashMap<(DnsName, SocketAddr), Told>,
}

struct Told {
    serial: u32,
    telling: JoinHandle<()>,
}

// === impl Notifier ===

impl Notifier {
    /// Tells whoever has not been told of the serials of `snapshot`. Must be called inside a tokio runtime.
    pub fn follow(&mut self, snapshot: &Snapshot) {
        let mut wanted = Vec::new();
        // Before the first round of probes the answers are refused.
        let is_there = |at: usize| snapshot.ready && snapshot.zones.zone(at).missing.is_none();
        let zones = snapshot.model.zones.iter().enumerate().filter(|(at, _)| is_there(*at));
        for (at, zone) in zones {
            let key = zone.transfer.key.and_then(|key| snapshot.model.dns.tsig.get(key as usize));
            for &target in &zone.transfer.notify {
                wanted.push((zone.origin.clone(), target));
                let serial = snapshot.serial(at);
                let known = self.told.get(&(zone.origin.clone(), target)).map(|told| told.serial);
                if known != Some(serial) {
                    let telling = tokio::spawn(tell(zone.origin.clone(), target, key.cloned()));
                    let told = Told { serial, telling };
                    if let Some(old) = self.told.insert((zone.origin.clone(), target), told) {
                        old.telling.abort();
                    }
                }
            }
        }
        if snapshot.ready {
            self.told.retain(|who, told| {
                let stays = wanted.contains(who);
                if !stays {
                    told.telling.abort();
                }
                stays
            });
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        for told in self.told.values() {
            told.telling.abort();
        }
    }
}

async fn tell(origin: DnsName, target: SocketAddr, key: Option<TsigKey>) {
    for wait in WAITS {
        let tried = tokio::time::timeout(Duration::from_secs(wait), ask(&origin, target, key.as_ref()));
        let begun = tokio::time::Instant::now();
        match tried.await {
            Ok(Ok(0)) => return tracing::debug!(zone = %origin, %target, "NOTIFY taken"),
            Ok(Ok(rcode)) => {
                return tracing::warn!(zone = %origin, %target, rcode, "the secondary does not take NOTIFY");
            }
            // Refused by the machine itself, at once: the secondary may be about to start.
            Ok(Err(_)) => tokio::time::sleep_until(begun + Duration::from_secs(wait)).await,
            Err(_) => {}
        }
    }
    tracing::warn!(zone = %origin, %target, "the secondary does not answer NOTIFY");
}

/// Sends one NOTIFY and waits for its answer; the RCODE.
async fn ask(origin: &DnsName, target: SocketAddr, key: Option<&TsigKey>) -> std::io::Result<u8> {
    let any: SocketAddr = match target {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(target).await?;
    let id = random_id();
    let message = notify(origin, id, key);
    socket.send(&message).await?;
    let mut answer = [0; 512];
    loop {
        let length = socket.recv(&mut answer).await?;
        let is_answer = length >= 12 && answer[..2] == id.to_be_bytes() && answer[2] >> 3 == 0x10 | OPCODE_NOTIFY;
        if is_answer {
            return Ok(answer[3] & 0x0f);
        }
    }
}

/// Random, as only who saw the message may answer it.
pub(super) fn random_id() -> u16 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() as u16
}

fn notify(origin: &DnsName, id: u16, key: Option<&TsigKey>) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    // NOTIFY with AA, one question.
    message.extend_from_slice(&[OPCODE_NOTIFY << 3 | 0x04, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    message.extend_from_slice(&origin.0);
    message.extend_from_slice(&RecordType::SOA.0.to_be_bytes());
    message.extend_from_slice(&[0, 1]);
    if let Some(key) = key.and_then(Key::load) {
        Signer::new(key, &[]).sign(&mut message, unix_now());
    }
    message
}
