//! L3: probes. One sample of a check against a real socket, and the runner that takes samples when they are due, on
//! threads of its own and never more than a bounded number at once. Every probe opens a new connection.
//!
//! A sample answers one question: did the peer, within the check's time-out, do what the check asks for? The time-out
//! covers everything from the name lookup to the last byte. Whatever a peer sends (nothing, garbage, an endless head, a
//! body that is shorter than announced) ends in exactly one verdict with a reason in words, and never in more memory
//! than the bounds beside each protocol. Three outcomes are kept apart:
//!
//! - **Fail**: the peer, or the way to it, did not do what was asked.
//! - **Void**: this machine could not ask (no permission for ICMP, no file descriptors left, a kind that this build
//!   cannot probe). That says nothing about the peer, so it changes nothing.
//! - A **name that does not resolve** is void for a monitor, because its service is then UNKNOWN, and a failure for a
//!   user's check or a data-centre target, where being resolvable is part of what is checked.

pub mod call;
mod connect;
mod dialogue;
mod dns;
mod ecv;
mod h2;
mod http;
mod icmp;
pub mod inline;
mod load;
pub mod outgoing;
mod plan;
mod resolve;
pub mod runner;
mod several;
pub mod sql;
mod surroundings;
mod tcp;
mod tls;
mod udp;
mod user;
mod wire;

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::model::check::{Check, Origin, Probe, Target, TlsProbe};
use crate::model::event::{Outcome, Verdict};

pub use inline::Traffic;
pub use runner::Runner;
pub use surroundings::Surroundings;

/// A sample to take.
#[derive(Clone, Debug)]
pub struct Job {
    pub check: Arc<Check>,
    pub due: Instant,
    /// What users of the service got, for HTTP-INLINE; no other kind looks at it.
    pub traffic: Option<Arc<dyn Traffic>>,
    pub way: Way,
}

/// What is known of the way to a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Where its name leads: it is not looked up then.
    pub address: Option<IpAddr>,
    /// What it leaves from, where the target names no address of its own.
    pub source: Option<IpAddr>,
}

/// A sample taken.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The definition it was taken under: the receiver drops it where that is no longer the check of this name.
    pub check: Arc<Check>,
    pub verdict: Verdict,
    /// How long after `due` the attempt began.
    pub late_by: Duration,
}

/// What a probe found: an outcome and its reason in words.
type Found = Result<Answer, Miss>;

/// The peer answered as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    /// It asked to be drained.
    trofs: bool,
    detail: String,
    /// How busy it says it is (LOAD).
    load: Option<u32>,
}

/// There is no answer that passes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Miss {
    Fail(String),
    Void(String),
}

/// By when the sample must be complete.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: tokio::time::Instant,
    timeout: Duration,
}

/// Longest part of a peer's words that is repeated in a detail. Characters.
const QUOTED_MAX: usize = 60;

/// Takes one sample of `check`, where nothing on this machine is needed for it. See [`sample_in`].
pub async fn sample(check: &Check) -> Verdict {
    sample_in(check, &Surroundings::default(), None).await
}

/// Takes one sample of `check`. Ends by the check's time-out; needs a tokio runtime with I/O and time.
pub async fn sample_in(check: &Check, around: &Surroundings, traffic: Option<&dyn Traffic>) -> Verdict {
    sample_at(check, around, traffic, Way::default()).await
}

/// [`sample_in`], on a way that is known.
async fn sample_at(check: &Check, around: &Surroundings, traffic: Option<&dyn Traffic>, way: Way) -> Verdict {
    let start = Instant::now();
    let deadline = Deadline::after(check.schedule.timeout);
    if let Probe::Several { probes, quorum } = &check.probe {
        return several::sample(check, probes, *quorum, around, deadline).await;
    }
    let found = attempt(check, &check.probe, around, traffic, way, deadline).await;
    verdict(found, start.elapsed())
}

fn verdict(found: Found, latency: Duration) -> Verdict {
    match found {
        Ok(Answer { trofs: false, detail, load }) => Verdict::new(Outcome::Pass, latency, detail).with_load(load),
        Ok(Answer { trofs: true, detail, .. }) => Verdict::new(Outcome::Trofs, latency, detail),
        Err(Miss::Fail(detail)) => Verdict::new(Outcome::Fail, latency, detail),
        Err(Miss::Void(detail)) => Verdict::new(Outcome::Void, latency, detail),
    }
}

/// `probe`: the check's, or one of its several.
async fn attempt(
    check: &Check,
    probe: &Probe,
    around: &Surroundings,
    traffic: Option<&dyn Traffic>,
    way: Way,
    deadline: Deadline,
) -> Found {
    let monitor = matches!(check.origin, Origin::Monitor { .. });
    let Some(target) = probe.target() else {
        return Err(Miss::Void(format!("probes of type {} are not available in this build", probe.word())));
    };
    if let Probe::HttpInline { .. } = probe
        && let Some(found) = traffic.and_then(|traffic| inline::judge(traffic.since_last()))
    {
        return found;
    }
    let with_source;
    let target = match way.source.filter(|_| target.source.is_none()) {
        None => target,
        source => {
            with_source = Target { source, ..target.clone() };
            &with_source
        }
    };
    let addresses = match way.address {
        Some(ip) => vec![SocketAddr::new(ip, target.port)],
        None => resolve::lookup(target, monitor, deadline).await?,
    };
    let considered = if monitor { http::CONSIDERED_BY_MONITORS } else { http::CONSIDERED_BY_CHECKS };
    let to = |tls| To { target, addresses: &addresses, tls, deadline };
    // On the heap: the state of a TLS handshake and a head of 16 KiB would make every sample that large.
    match probe {
        Probe::Tcp { .. } => tcp::probe(&addresses, target.source, deadline).await,
        Probe::Http { tls, request, expect, .. } | Probe::HttpInline { tls, request, expect, .. } => {
            Box::pin(http::probe(to(tls.as_ref()), request, expect, considered)).await
        }
        Probe::Http2 { tls, request, expect, .. } => {
            Box::pin(h2::probe(to(tls.as_ref()), request, expect, considered)).await
        }
        Probe::Ping { .. } => icmp::probe(addresses[0].ip(), target.source, deadline).await,
        Probe::Dns { tcp, query, qtype, expect, .. } => {
            dns::probe((&addresses, target.source), *tcp, query, *qtype, expect, deadline).await
        }
        Probe::TcpEcv { tls, send, receive, trofs, .. } => {
            let ecv = ecv::Dialogue { send, receive, trofs: trofs.as_deref() };
            Box::pin(ecv::probe(target, &addresses, tls.as_ref(), ecv, deadline)).await
        }
        Probe::UdpEcv { send, receive, .. } => udp::probe(addresses[0], target.source, send, receive, deadline).await,
        Probe::Dialogue { tls, dialogue, .. } => {
            let peer = dialogue::Peer { target, addresses: &addresses, tls: tls.as_ref(), around, deadline };
            Box::pin(dialogue::probe(peer, dialogue)).await
        }
        Probe::Load { tls, query, .. } => Box::pin(load::probe(to(tls.as_ref()), query, considered)).await,
        Probe::User { script, .. } => {
            Box::pin(user::probe(target, addresses[0], script, &check.name, around, deadline)).await
        }
        Probe::Several { .. } | Probe::Derived { .. } | Probe::Unavailable { .. } => unreachable!("it has no target"),
    }
}

/// Where a request goes.
#[derive(Clone, Copy)]
struct To<'a> {
    target: &'a Target,
    addresses: &'a [SocketAddr],
    tls: Option<&'a TlsProbe>,
    deadline: Deadline,
}

// === impl Answer ===

impl Answer {
    fn pass(detail: impl Into<String>) -> Answer {
        Answer { trofs: false, detail: detail.into(), load: None }
    }

    fn trofs(detail: impl Into<String>) -> Answer {
        Answer { trofs: true, detail: detail.into(), load: None }
    }
}

// === impl Miss ===

impl Miss {
    /// What an error of a socket means. `what` names the act and the address: `connection to 192.0.2.1:80`.
    fn from_io(error: &io::Error, what: &str) -> Miss {
        // Nothing about the peer follows from a shortage on this machine.
        const OUT_OF: [i32; 5] = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM, libc::EADDRNOTAVAIL];
        if error.raw_os_error().is_some_and(|code| OUT_OF.contains(&code)) {
            return Miss::Void(format!("{what}: not tried, this machine is short of resources ({error})"));
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Miss::Fail(format!("{what}: connection refused")),
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                Miss::Fail(format!("{what}: connection reset"))
            }
            io::ErrorKind::HostUnreachable => Miss::Fail(format!("{what}: host unreachable")),
            io::ErrorKind::NetworkUnreachable => Miss::Fail(format!("{what}: no route to the network")),
            io::ErrorKind::UnexpectedEof => Miss::Fail(format!("{what}: connection closed early")),
            _ => Miss::Fail(format!("{what}: {error}")),
        }
    }
}

// === impl Deadline ===

impl Deadline {
    fn after(timeout: Duration) -> Deadline {
        Deadline { at: tokio::time::Instant::now() + timeout, timeout }
    }

    /// Waits for `act`; at the deadline it is dropped and the sample has failed. `waiting_for` completes the sentence
    /// "timed out after 500 ms, waiting for …".
    async fn within<T>(self, waiting_for: impl FnOnce() -> String, act: impl Future<Output = T>) -> Result<T, Miss> {
        tokio::time::timeout_at(self.at, act).await.map_err(|_| self.passed(&waiting_for()))
    }

    fn passed(self, waiting_for: &str) -> Miss {
        Miss::Fail(format!("timed out after {} ms, waiting for {waiting_for}", self.timeout.as_millis()))
    }
}

/// A peer's bytes as they may stand in a log line: printable ASCII, escaped otherwise, and cut.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for (i, &byte) in bytes.iter().enumerate() {
        if i == QUOTED_MAX {
            text.push('…');
            break;
        }
        let _ = write!(text, "{}", byte.escape_ascii());
    }
    text.push('"');
    text
}

/// Whether `needle` is in `haystack`; the part before `seen` was searched before.
fn contains(haystack: &[u8], needle: &[u8], seen: usize) -> bool {
    if needle.is_empty() {
        return true;
    }
    let from = seen.saturating_sub(needle.len() - 1).min(haystack.len());
    haystack[from..].windows(needle.len()).any(|window| window == needle)
}

/// Bytes that an outsider cannot guess: query ids, echo payloads.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // The generator reads from the kernel and does not fail on a booted machine. Were it to, a constant is safe for
    // its two uses: an answer must come from the address that was asked, too.
    let _ = rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peers_words_are_escaped_and_cut() {
        assert_eq!(quoted(b"ok\0\x1b[2J\n"), r#""ok\x00\x1b[2J\n""#);
        assert_eq!(quoted(&[b'a'; 61]).chars().count(), 60 + 3);
    }

    #[test]
    fn a_text_is_found_across_the_border_of_two_reads() {
        assert!(contains(b"hea|lthy", b"|", 0));
        assert!(contains(b"xxhealthy", b"healthy", 5));
        assert!(!contains(b"healthy xx", b"healthy", 9));
        assert!(contains(b"", b"", 0));
        assert!(!contains(b"", b"a", 7));
    }

    #[test]
    fn a_shortage_on_this_machine_is_no_failure_of_the_peer() {
        let miss = Miss::from_io(&io::Error::from_raw_os_error(libc::EMFILE), "connection to 192.0.2.1:80");
        assert!(matches!(miss, Miss::Void(detail) if detail.contains("this machine")));
    }
}
