//! Copies of requests for another vserver, for looking at and never for the client: their answers are dropped, and what
//! goes wrong with them is counted and nothing else.
//!
//! A copy is made of what the server gets (the edited head and the body), and leaves when the body is whole. One whose
//! body is over the rule's limit is not sent, as half a request is none. Copies are bounded in number, in time and in
//! the bytes of all; where too many are under way the next is not sent. The client's request never waits for one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

use super::policy::Decision;
use crate::dataplane::Shared;
use crate::dataplane::conn::Origin;
use crate::dataplane::connect::connect;
use crate::dataplane::member::{Wanted, acquire};
use crate::model::id::{Name, RuleId};
use crate::model::rule::Action;
use crate::snapshot::Snapshot;
use crate::snapshot::live::RuleLive;

/// Copies under way at once.
const UNDER_WAY_MAX: usize = 256;
/// Bytes of bodies that all copies hold together, while they are collected and while they are on their way.
static HELD: Held = Held::new(64 << 20);
/// Time that one may take, connect and answer included.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read before the connection is closed.
const ANSWER_MAX_BYTES: u64 = 1 << 20;

/// Places for copies under way.
#[derive(Debug)]
pub(crate) struct Mirrors(Arc<Semaphore>);

/// The copies of one request, growing with its body.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    copies: Vec<Copied>,
}

#[derive(Debug)]
struct Copied {
    to: Name,
    live: Arc<RuleLive>,
    limit: usize,
    body: Body,
    over: bool,
}

/// Bytes that bodies may hold together.
#[derive(Debug)]
struct Held {
    most: usize,
    now: AtomicUsize,
}

/// What is collected of one body; counted until it is dropped.
#[derive(Debug)]
struct Body {
    bytes: Vec<u8>,
    held: &'static Held,
}

// === impl Mirrors ===

impl Default for Mirrors {
    fn default() -> Mirrors {
        Mirrors(Arc::new(Semaphore::new(UNDER_WAY_MAX)))
    }
}

// === impl Copies ===

impl Copies {
    /// Of the rules that mirror this request, those whose turn it is.
    pub fn of(snapshot: &Snapshot, decision: &Decision) -> Copies {
        Copies { copies: decision.mirrors.iter().filter_map(|&rule| Copied::of(snapshot, rule)).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// The body is sent again from its beginning.
    pub fn restart(&mut self) {
        for copy in &mut self.copies {
            copy.body.clear();
            copy.over = false;
        }
    }

    /// A piece of the body, without its framing.
    pub fn body(&mut self, bytes: &[u8]) {
        for copy in &mut self.copies {
            copy.over |= copy.body.bytes.len() + bytes.len() > copy.limit || !copy.body.add(bytes);
            if copy.over {
                copy.body.clear();
            }
        }
    }

    /// Sends them on their way; the body is whole. `head`: request line and fields as the server gets them, each ended by
    /// CR LF, without framing, `Connection` and the empty line.
    pub fn send(self, shared: &Arc<Shared>, client: SocketAddr, local: SocketAddr, head: &[u8]) {
        for copy in self.copies {
            let place = Arc::clone(&shared.mirrors.0).try_acquire_owned().ok().filter(|_| !copy.over);
            let Some(place) = place else {
                copy.live.mirror_dropped_total.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            let mut message = Vec::with_capacity(head.len() + copy.body.bytes.len() + 64);
            message.extend_from_slice(head);
            if !copy.body.bytes.is_empty() {
                message.extend_from_slice(format!("Content-Length: {}\r\n", copy.body.bytes.len()).as_bytes());
            }
            message.extend_from_slice(b"Connection: close\r\n\r\n");
            message.extend_from_slice(&copy.body.bytes);
            let shared = Arc::clone(shared);
            tokio::spawn(async move {
                let sent = tokio::time::timeout(TIME_MAX, carry(&shared, &copy.to, client, local, &message)).await;
                let failed = !matches!(sent, Ok(Ok(())));
                copy.live.mirror_failed_total.fetch_add(u64::from(failed), Ordering::Relaxed);
                // The body counts until now: as long as its message is there.
                drop((place, copy));
            });
        }
    }
}

// === impl Copied ===

impl Copied {
    fn of(snapshot: &Snapshot, rule: RuleId) -> Option<Copied> {
        let Action::Mirror { to, percent, body_limit } = snapshot.model.rules[rule.index()].action else { return None };
        let live = Arc::clone(&snapshot.rules[rule.index()]);
        let nth = live.mirror_asked_total.fetch_add(1, Ordering::Relaxed);
        is_drawn(nth, percent).then(|| Copied {
            to: Arc::clone(&snapshot.model.vserver(to).name),
            live,
            limit: usize::try_from(body_limit).unwrap_or(usize::MAX),
            body: Body::new(&HELD),
            over: false,
        })
    }
}

// === impl Held ===

impl Held {
    const fn new(most: usize) -> Held {
        Held { most, now: AtomicUsize::new(0) }
    }
}

// === impl Body ===

impl Body {
    fn new(held: &'static Held) -> Body {
        Body { bytes: Vec::new(), held }
    }

    /// False where all bodies together would hold too much.
    fn add(&mut self, bytes: &[u8]) -> bool {
        let more = |now: usize| now.checked_add(bytes.len()).filter(|now| *now <= self.held.most);
        let fits = self.held.now.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    fn clear(&mut self) {
        self.held.now.fetch_sub(self.bytes.len(), Ordering::Relaxed);
        self.bytes = Vec::new();
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Of every hundred requests exactly `percent`, spread evenly.
fn is_drawn(nth: u64, percent: u8) -> bool {
    let percent = u64::from(percent);
    let nth = nth % 100;
    (nth + 1) * percent / 100 > nth * percent / 100
}

async fn carry(
    shared: &Shared,
    to: &Name,
    client: SocketAddr,
    local: SocketAddr,
    message: &[u8],
) -> std::io::Result<()> {
    let wanted = Wanted {
        client,
        local,
        value: &|_| None,
        tls_session: None,
        only: None,
        tried: &[],
        now: shared.now(),
        dry: false,
    };
    let refused = |_| std::io::Error::other("no member");
    let acquired = acquire(&shared.plane, shared.plane.cell.load_full(), to, &wanted).await.map_err(refused)?;
    let service = acquired.snapshot.model.service(acquired.choice.service);
    // As every other connection to a server: with its TLS, its PROXY header and its time-out.
    let origin = Origin { client, local, tls: None };
    let connected = connect(shared, service, acquired.choice.address, origin, host_of(message));
    let mut server = connected.await.map_err(|failure| std::io::Error::other(failure.why))?.stream;
    server.write_all(message).await?;
    let read = tokio::io::copy(&mut (&mut server).take(ANSWER_MAX_BYTES), &mut tokio::io::sink()).await?;
    if read == 0 { Err(std::io::Error::other("no answer")) } else { Ok(()) }
}

/// The Host field of a head.
fn host_of(message: &[u8]) -> Option<&str> {
    let lines = message.split(|&b| b == b'\n').take_while(|line| *line != b"\r");
    let mut fields = lines.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':'));
    fields.find(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{Body, Held, host_of, is_drawn};

    #[test]
    fn bodies_that_are_collected_hold_no_more_together_than_is_said_and_give_it_back() {
        static HELD: Held = Held::new(10);
        let (mut first, mut second) = (Body::new(&HELD), Body::new(&HELD));
        assert!(first.add(b"123456") && !second.add(b"12345") && second.add(b"1234") && !first.add(b"7"));
        first.clear();
        assert!(second.add(b"567890") && !first.add(b"1"));
        assert_eq!((first.bytes.len(), second.bytes.len()), (0, 10));
        drop(second);
        assert!(first.add(b"1234567890"));
        drop(first);
        assert_eq!(HELD.now.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_host_of_a_copy_is_that_of_its_head_and_not_of_its_body() {
        assert_eq!(host_of(b"GET / HTTP/1.1\r\nA: b\r\nhost: a.test:80\r\n\r\n"), Some("a.test:80"));
        assert_eq!(host_of(b"POST / HTTP/1.1\r\nA: b\r\n\r\nHost: c.test\r\n"), None);
    }

    #[test]
    fn of_a_hundred_requests_exactly_as_many_are_copied_as_the_rule_says() {
        for percent in 1..=100 {
            assert_eq!((0..100).filter(|&nth| is_drawn(nth, percent)).count(), usize::from(percent));
            assert_eq!((250..350).filter(|&nth| is_drawn(nth, percent)).count(), usize::from(percent));
        }
        assert!((0..20).filter(|&nth| is_drawn(nth, 5)).count() == 1, "spread over the hundred");
    }
}
