//! Answering peers.
//!
//! Only a box whose certificate was signed by the authority of the link, has not expired, and names one of the configured
//! peers is answered; every question looks at the configuration of that moment. What anybody can hold is bounded:
//! connections of strangers and of each peer ([`places`](super::places)), the time of a handshake, of a head, of an idle
//! connection, of taking an answer; and a peer that asks without a pause is made to wait.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::lifetime::Lifetime;
use super::places::{Place, Places, Refusals};
use super::wire::{CLUSTER, FIELDS_MOST, HEAD_MOST, PATH, encode, head_end};
use super::words::{of_answering, quoted};
use super::{Terms, tls};
use crate::control::{Handle, peers};
use crate::model::id::Name;

/// A handshake, the first question of whoever is no peer,, and the taking of an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a connection may be idle, on top of three intervals.
const IDLE: Duration = Duration::from_secs(10);
/// Between two answers on one connection.
const PAUSE: Duration = Duration::from_millis(50);
/// Between two attempts to take the address; after the first few it is told that it cannot be had.
const BIND_AGAIN: Duration = Duration::from_millis(100);
const BIND_SILENTLY: u32 = 10;
/// Between two messages to the one writer about boxes that were refused.
const REPORT_EVERY: Duration = Duration::from_secs(1);
struct Shared {
    handle: Handle,
    terms: Terms,
    config: Arc<ServerConfig>,
    places: Places,
    refusals: Mutex<Refusals>,
}

/// Until it is aborted; every connection ends with it.
pub(super) async fn listen(handle: Handle, terms: Terms) {
    let (Some(at), Some(tls)) = (terms.link.listen, &terms.link.tls) else { return };
    let config = match tls::answering(tls) {
        Ok(config) => config,
        Err(why) => {
            tracing::error!(why, "peers cannot ask this box");
            handle.peer_listens(Some(Err(why.into()))).await;
            return;
        }
    };
    let listener = bind(&handle, at).await;
    let local = listener.local_addr().unwrap_or(at);
    tracing::info!("peers can ask this box at {local}");
    handle.peer_listens(Some(Ok(local))).await;
    let refusals = Mutex::new(Refusals::default());
    let shared = Arc::new(Shared { handle, terms, config, places: Places::default(), refusals });
    accept(listener, shared).await;
}

async fn bind(handle: &Handle, at: SocketAddr) -> TcpListener {
    let mut attempts = 0_u32;
    loop {
        match TcpListener::bind(at).await {
            Ok(listener) => return listener,
            Err(error) => {
                attempts = attempts.saturating_add(1);
                if attempts == BIND_SILENTLY {
                    let why = format!("cannot listen on {at}: {error}; free the address, or change `peer_link.listen`");
                    tracing::error!(why, "peers cannot ask this box; it is tried again");
                    handle.peer_listens(Some(Err(why.into()))).await;
                }
                tokio::time::sleep(BIND_AGAIN).await;
            }
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    let mut report = tokio::time::interval(REPORT_EVERY);
    report.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = report.tick() => {
                shared.report().await;
                continue;
            }
        };
        match accepted {
            Ok((stream, from)) => {
                let from = from.ip().to_canonical();
                let place = shared.places.enter(from);
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    let refused = tokio::select! {
                        carried = carry(&shared, stream, &place) => carried.err(),
                        why = place.when_given_up() => why.map(str::to_owned),
                    };
                    if let Some(why) = refused {
                        shared.refuse(from, &why);
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a peer's connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Errors: why the other end was refused. A connection that simply ends is none.
async fn carry(shared: &Shared, stream: TcpStream, place: &Place) -> Result<(), String> {
    let _ = stream.set_nodelay(true);
    let handshake = TlsAcceptor::from(Arc::clone(&shared.config)).accept(stream);
    let mut stream = match tokio::time::timeout(PATIENCE, handshake).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(of_answering(&error)),
        Err(_) => return Err("it did not finish the TLS handshake in time".into()),
    };
    let mut idle = PATIENCE;
    if let Ok(peer) = shared.peer(&stream) {
        place.is_of(&peer);
        idle = IDLE + shared.terms.link.stale_after();
    }
    let own = shared.terms.link.tls.as_ref();
    let lifetime = own.map(|tls| Lifetime::of(&tls.certificate, stream.get_ref().1.peer_certificates()));
    let mut read = Vec::with_capacity(1 << 10);
    loop {
        read.clear();
        let Some(left) = lifetime.map_or(Some(idle), |lifetime| lifetime.left(SystemTime::now())) else {
            return Ok(());
        };
        let asked = tokio::time::timeout(idle.min(left), head(&mut stream, &mut read)).await;
        let Ok(Some(end)) = asked else { return Ok(()) };
        let (answer, refused) = shared.answer(&stream, &read[..end]).await;
        let closes = refused.is_some() || answer.closes;
        let sent = tokio::time::timeout(PATIENCE, send(&mut stream, &answer, closes)).await;
        if let Some(why) = refused {
            let _ = tokio::time::timeout(PATIENCE, stream.shutdown()).await;
            return Err(why);
        }
        if closes || !matches!(sent, Ok(Ok(()))) {
            let _ = tokio::time::timeout(PATIENCE, stream.shutdown()).await;
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Reads a head and nothing behind it; `None`: it ended, or is too large, or more came than a question.
async fn head(stream: &mut TlsStream<TcpStream>, read: &mut Vec<u8>) -> Option<usize> {
    loop {
        if let Some(end) = head_end(read) {
            return (end == read.len()).then_some(end);
        }
        if read.len() > HEAD_MOST || stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
}

struct Answer {
    status: &'static str,
    media: &'static str,
    body: Vec<u8>,
    closes: bool,
}

async fn send(stream: &mut TlsStream<TcpStream>, answer: &Answer, closes: bool) -> std::io::Result<()> {
    let connection = if closes { "Connection: close\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{connection}\r\n",
        answer.status,
        answer.media,
        answer.body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&answer.body).await?;
    stream.flush().await
}

// === impl Answer ===

impl Answer {
    fn text(status: &'static str, text: String) -> Answer {
        Answer { status, media: "text/plain; charset=utf-8", body: text.into_bytes(), closes: true }
    }
}

// === impl Shared ===

impl Shared {
    /// The answer to a question, and why the asker was refused.
    async fn answer(&self, stream: &TlsStream<TcpStream>, head: &[u8]) -> (Answer, Option<String>) {
        let Some(Question { is_report, cluster }) = question(head) else {
            return (Answer::text("400 Bad Request", "not a question of a peer".into()), None);
        };
        let who = match self.peer(stream) {
            Ok(who) => who,
            Err(why) => {
                let said = "the certificate is not for a peer that this box knows: add `[peer.NAME]` here, where NAME \
                            is a DNS name of the certificate";
                return (Answer::text("403 Forbidden", said.into()), Some(why));
            }
        };
        let own = &*self.terms.link.cluster;
        if cluster != own {
            let why = format!("`{who}` is of the cluster `{}`, this box of `{own}`", quoted(&cluster));
            let said = format!("this box is of the cluster `{own}`, the asker of `{}`", quoted(&cluster));
            return (Answer::text("403 Forbidden", said), Some(why));
        }
        if !is_report {
            return (Answer::text("404 Not Found", format!("there is {PATH} alone")), None);
        }
        match self.handle.read(peers::report).await {
            Ok(report) => {
                let answer =
                    Answer { status: "200 OK", media: "application/json", body: encode(&report), closes: false };
                (answer, None)
            }
            Err(_) => (Answer::text("503 Service Unavailable", "this box is stopping".into()), None),
        }
    }

    /// Whom the certificate names, by the configuration of this moment.
    fn peer(&self, stream: &TlsStream<TcpStream>) -> Result<Name, String> {
        let (_, session) = stream.get_ref();
        let shown = session.peer_certificates().and_then(|chain| chain.first());
        let shown = shown.ok_or("it shows no certificate")?;
        let model = &self.handle.snapshot().model;
        tls::named(shown, &model.peers).cloned().ok_or_else(|| {
            let facts = crate::model::tls::Facts::of(shown);
            let names = facts.map(|facts| facts.names.join(", ")).unwrap_or_default();
            format!("its certificate is for `{}`, which is no `[peer.NAME]` here", quoted(&names))
        })
    }

    fn refuse(&self, from: IpAddr, why: &str) {
        let unsaid = self.refusals.lock().one_more(Instant::now());
        if let Some(unsaid) = unsaid {
            let more = if unsaid > 0 { format!(" ({unsaid} more since the last line)") } else { String::new() };
            tracing::warn!(%from, "a box that asks as a peer is refused: {why}{more}");
        }
    }

    /// Tells the one writer how many were refused since the last time: one message, however many they were.
    async fn report(&self) {
        let count = self.refusals.lock().take();
        if count > 0 {
            self.handle.peers_refused(count).await;
        }
    }
}

struct Question {
    is_report: bool,
    cluster: String,
}

/// `None`: it is not a plain GET.
fn question(head: &[u8]) -> Option<Question> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MOST];
    let mut request = httparse::Request::new(&mut fields);
    let whole = matches!(request.parse(head), Ok(httparse::Status::Complete(_)));
    if !whole || request.method != Some("GET") {
        return None;
    }
    let named = |name: &str| request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    if named("transfer-encoding").is_some() || named("content-length").is_some_and(|field| field.value != b"0") {
        return None;
    }
    let cluster = named(CLUSTER).map_or(&b""[..], |field| field.value);
    Some(Question {
        is_report: request.path == Some(PATH),
        cluster: std::str::from_utf8(cluster).ok()?.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_get_is_a_question() {
        let asked = question(b"GET /peer/v1/report HTTP/1.1\r\nHost: a\r\nBascule-Cluster: prod \r\n\r\n").unwrap();
        assert!(asked.is_report);
        assert_eq!(asked.cluster, "prod");
        assert!(!question(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap().is_report);
        for bad in [
            &b"POST /peer/v1/report HTTP/1.1\r\nHost: a\r\n\r\n"[..],
            b"GET /peer/v1/report HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
            b"GET /peer/v1/report HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"\x16\x03\x01\x02\x00\r\n\r\n",
        ] {
            assert!(question(bad).is_none());
        }
    }
}
