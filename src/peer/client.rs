//! Asking one peer, again and again, over one connection for as long as it lasts.
//!
//! An attempt is everything from the name look-up to the last byte of the answer, and has one time-out. After failures
//! attempts begin less often, up to ten seconds apart, and never a round time, so that boxes do not knock in step.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::lifetime::Lifetime;
use super::wire::{CLUSTER, FIELDS_MOST, HEAD_MOST, PATH, decode, head_end};
use super::words::{of_asking, quoted};
use super::{Terms, tls};
use crate::control::Handle;
use crate::model::check::Host;
use crate::model::peer::{Heard, News, Peer, PeerTls, PeerUrl, REPORT_BYTES_MOST, Report, pause};

/// What an attempt is busy with, for the words of a time-out.
#[derive(Clone, Copy)]
enum Phase {
    Connecting,
    Handshake,
    Answer,
}

struct Asker<'a> {
    peer: &'a Peer,
    terms: &'a Terms,
    tls: &'a PeerTls,
    url: &'a PeerUrl,
    config: Arc<ClientConfig>,
    open: Option<TlsStream<TcpStream>>,
    phase: Phase,
}

/// Ends with the one writer.
pub(super) async fn ask_always(handle: Handle, peer: Peer, terms: Terms) {
    let (Some(url), Some(tls)) = (&peer.url, &peer.tls) else { return };
    let config = match tls::asking(tls) {
        Ok(config) => config,
        Err(why) => {
            let why = format!("this box's end of the link cannot be used: {why}");
            handle.peer(News { peer: Arc::clone(&peer.name), heard: Err(why.into()) }).await;
            return;
        }
    };
    let mut asker = Asker { peer: &peer, terms: &terms, tls, url, config, open: None, phase: Phase::Connecting };
    let (interval, lots) = (terms.link.interval, RandomState::new());
    let (mut failures, mut attempt) = (0_u32, 0_u64);
    loop {
        let begun = Instant::now();
        let heard = asker.attempt().await;
        let wait = match &heard {
            Ok(_) => {
                failures = 0;
                interval.saturating_sub(begun.elapsed())
            }
            Err(_) => {
                failures = failures.saturating_add(1);
                pause(interval, failures, lots.hash_one(attempt)).saturating_sub(begun.elapsed())
            }
        };
        attempt += 1;
        let heard = heard.map_err(Into::into);
        if !handle.peer(News { peer: Arc::clone(&peer.name), heard }).await {
            return;
        }
        tokio::time::sleep(wait).await;
    }
}

// === impl Asker ===

impl Asker<'_> {
    async fn attempt(&mut self) -> Result<Heard, String> {
        let most = self.terms.link.timeout;
        match tokio::time::timeout(most, self.ask()).await {
            Ok(heard) => heard,
            Err(_) => {
                self.open = None;
                Err(self.silence(most))
            }
        }
    }

    fn silence(&self, most: Duration) -> String {
        let most = format!("{} ms", most.as_millis());
        match self.phase {
            Phase::Connecting => {
                format!("no connection within {most}: it is down, or something between the sites drops packets")
            }
            Phase::Handshake => {
                format!(
                    "it took the connection and did not finish the TLS handshake within {most}: no box of this kind, or hung"
                )
            }
            Phase::Answer => {
                format!("it took the question and did not answer within {most}: it hangs, or is overloaded")
            }
        }
    }

    async fn ask(&mut self) -> Result<Heard, String> {
        let lasts = |stream: &TlsStream<TcpStream>| {
            let shown = stream.get_ref().1.peer_certificates();
            Lifetime::of(&self.tls.certificate, shown).left(SystemTime::now()).is_some()
        };
        if let Some(stream) = self.open.take().filter(lasts) {
            // The other end may have closed what was idle: that is no failure.
            match self.exchange(stream).await {
                Err(Ended::Before) => {}
                other => return other.map_err(Ended::into_words),
            }
        }
        let stream = self.connect().await?;
        self.exchange(stream).await.map_err(Ended::into_words)
    }

    async fn connect(&mut self) -> Result<TlsStream<TcpStream>, String> {
        self.phase = Phase::Connecting;
        let PeerUrl { host, port, .. } = self.url;
        let connected = match host {
            Host::Ip(ip) => TcpStream::connect((*ip, *port)).await,
            Host::Name(name) => match tokio::net::lookup_host((&**name, *port)).await {
                Ok(found) => TcpStream::connect(&found.collect::<Vec<_>>()[..]).await,
                Err(_) => return Err(format!("`{name}` does not resolve: correct `url`, or the name server")),
            },
        };
        let words = |error: io::Error| of_asking(&error, &self.peer.name, self.tls);
        let stream = connected.map_err(words)?;
        let _ = stream.set_nodelay(true);
        self.phase = Phase::Handshake;
        // The name is the peer's, whatever the URL says: an address that another box has taken is no peer.
        let name = ServerName::try_from(self.peer.name.to_string())
            .map_err(|_| format!("`{}` cannot stand in a certificate", self.peer.name))?;
        let words = |error: io::Error| of_asking(&error, &self.peer.name, self.tls);
        TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await.map_err(words)
    }

    async fn exchange(&mut self, mut stream: TlsStream<TcpStream>) -> Result<Heard, Ended> {
        self.phase = Phase::Answer;
        let asked = Instant::now();
        let question = format!(
            "GET {PATH} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n{CLUSTER}: {}\r\n\r\n",
            self.peer.name,
            quoted(&self.terms.link.cluster)
        );
        let io = |error: io::Error| Ended::Words(of_asking(&error, &self.peer.name, self.tls));
        let gone = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Ended::Before,
            _ => Ended::Words(of_asking(&error, &self.peer.name, self.tls)),
        };
        stream.write_all(question.as_bytes()).await.map_err(gone)?;
        stream.flush().await.map_err(gone)?;
        let mut read = Vec::with_capacity(16 << 10);
        let head = loop {
            if let Some(end) = head_end(&read) {
                break head(&read[..end])?;
            }
            if read.len() > HEAD_MOST {
                return Err(Ended::Words(NOT_HTTP.into()));
            }
            if stream.read_buf(&mut read).await.map_err(gone)? == 0 {
                return Err(if read.is_empty() { Ended::Before } else { Ended::Words(CUT.into()) });
            }
        };
        if head.length > REPORT_BYTES_MOST {
            return Err(Ended::Words(format!(
                "its answer is larger than {} MiB: it is not read; `url` leads to another service, or the box is broken",
                REPORT_BYTES_MOST >> 20
            )));
        }
        let whole = head.bytes + head.length;
        while read.len() < whole {
            let left = whole - read.len();
            let got = (&mut stream).take(left as u64).read_buf(&mut read).await.map_err(io)?;
            if got == 0 {
                return Err(Ended::Words(CUT.into()));
            }
        }
        if read.len() > whole {
            return Err(Ended::Words("it sends more than it was asked for: no box of this kind".into()));
        }
        let round_trip = asked.elapsed();
        let report = self.report(&head, &read[head.bytes..]).map_err(Ended::Words)?;
        if !head.closes {
            self.open = Some(stream);
        }
        Ok(Heard { report: Arc::new(report), round_trip })
    }

    fn report(&self, head: &Head, body: &[u8]) -> Result<Report, String> {
        match head.status {
            200 => decode(body),
            403 => Err(format!("it refuses this box: {}", quoted(&String::from_utf8_lossy(body)))),
            status => Err(format!("it answers HTTP {status} instead of a report: `url` leads to another service")),
        }
    }
}

/// How an exchange ended without a report.
enum Ended {
    /// Before the first byte of an answer.
    Before,
    Words(String),
}

const NOT_HTTP: &str = "what it answers is not HTTP: `url` leads to another service";
const CUT: &str = "it closed the connection in the middle of its answer";

// === impl Ended ===

impl Ended {
    fn into_words(self) -> String {
        match self {
            Ended::Before => {
                "it closed the connection before it had answered: it is stopping, or it is no box of this kind".into()
            }
            Ended::Words(words) => words,
        }
    }
}

struct Head {
    status: u16,
    /// Of the head.
    bytes: usize,
    /// Of the body.
    length: usize,
    closes: bool,
}

fn head(bytes: &[u8]) -> Result<Head, Ended> {
    let not_http = || Ended::Words(NOT_HTTP.into());
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MOST];
    let mut response = httparse::Response::new(&mut fields);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        _ => return Err(not_http()),
    }
    let status = response.code.ok_or_else(not_http)?;
    let (mut length, mut closes) = (None, false);
    for field in response.headers.iter() {
        let value = std::str::from_utf8(field.value).unwrap_or_default().trim();
        if field.name.eq_ignore_ascii_case("content-length") {
            let said = value.parse::<usize>().map_err(|_| not_http())?;
            if length.replace(said).is_some() {
                return Err(not_http());
            }
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(not_http());
        } else if field.name.eq_ignore_ascii_case("connection") {
            closes |= value.eq_ignore_ascii_case("close");
        }
    }
    Ok(Head { status, bytes: bytes.len(), length: length.ok_or_else(not_http)?, closes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<String> {
        head(text.as_bytes()).err().map(Ended::into_words)
    }

    #[test]
    fn a_head_says_how_long_the_answer_is_and_in_one_way_only() {
        let whole = head(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\n").ok().unwrap();
        assert_eq!((whole.status, whole.length, whole.closes), (200, 12, true));
        for bad in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        ] {
            assert_eq!(words(bad).as_deref(), Some(NOT_HTTP), "{bad:?}");
        }
    }
}
