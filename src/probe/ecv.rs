//! TCP-ECV: bytes are sent, bytes are looked for, plain or over TLS.
//!
//! The text may come in any number of pieces; it is looked for in the first 24 KiB. Where the same bytes hold the drain
//! text, too, that one counts. Without a text to look for, a connection that took the bytes is a pass; with a drain text
//! alone the peer has until it closes, or until the time-out, to ask for it.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Answer, Deadline, Found, Miss, connect, contains, quoted};
use crate::model::check::{Target, TlsProbe};

/// How much of an answer is looked at. Bytes.
const CONSIDERED: usize = 24 * 1024;

#[derive(Clone, Copy)]
pub(super) struct Dialogue<'a> {
    pub send: &'a [u8],
    pub receive: &'a [u8],
    pub trofs: Option<&'a [u8]>,
}

pub(super) async fn probe(
    target: &Target,
    addresses: &[SocketAddr],
    tls: Option<&TlsProbe>,
    ecv: Dialogue<'_>,
    deadline: Deadline,
) -> Found {
    let (mut connection, address) = connect::open(target, addresses, tls, deadline).await?;
    let what = || format!("TCP-ECV with {address}");
    let write = async {
        connection.write_all(ecv.send).await?;
        connection.flush().await
    };
    let written = deadline.within(|| format!("{address} to take the bytes"), write).await?;
    if ecv.receive.is_empty() && ecv.trofs.is_none() {
        written.map_err(|error| Miss::from_io(&error, &what()))?;
        let took = match ecv.send.len() {
            0 => format!("{address} took the connection"),
            bytes => format!("{address} took {bytes} bytes"),
        };
        return Ok(Answer::pass(took));
    }

    let mut got = Vec::new();
    let mut buffer = [0; 4 * 1024];
    loop {
        let read = tokio::time::timeout_at(deadline.at, connection.read(&mut buffer)).await;
        let n = match read {
            Err(_) => return unanswered(&got, ecv, address, || deadline.passed(&expected(ecv, address))),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof => 0,
            Ok(Err(error)) => return Err(Miss::from_io(written.as_ref().err().unwrap_or(&error), &what())),
            Ok(Ok(n)) => n,
        };
        let seen = got.len();
        let room = CONSIDERED - seen;
        got.extend_from_slice(&buffer[..n.min(room)]);
        if let Some(answer) = found(&got, seen, ecv, address) {
            return Ok(answer);
        }
        if n == 0 {
            let closed = || Miss::Fail(format!("{address} closed the connection without {}", wanted(&got, ecv)));
            return unanswered(&got, ecv, address, closed);
        }
        if got.len() == CONSIDERED {
            let bound = CONSIDERED / 1024;
            let without = || Miss::Fail(format!("{address}: the first {bound} KiB are without {}", wanted(&got, ecv)));
            return unanswered(&got, ecv, address, without);
        }
    }
}

/// What the bytes so far decide.
fn found(got: &[u8], seen: usize, ecv: Dialogue<'_>, address: SocketAddr) -> Option<Answer> {
    if let Some(text) = ecv.trofs.filter(|text| contains(got, text, seen)) {
        return Some(Answer::trofs(format!("{address} sent {}, which asks to be drained", quoted(text))));
    }
    let is_found = !ecv.receive.is_empty() && contains(got, ecv.receive, seen);
    is_found.then(|| Answer::pass(format!("{address} sent {}", quoted(ecv.receive))))
}

/// The end without a match: a failure, unless only a drain text was looked for.
fn unanswered(got: &[u8], ecv: Dialogue<'_>, address: SocketAddr, miss: impl FnOnce() -> Miss) -> Found {
    match ecv.receive.is_empty() {
        true => Ok(Answer::pass(format!("{address} sent {} bytes and does not ask to be drained", got.len()))),
        false => Err(miss()),
    }
}

fn expected(ecv: Dialogue<'_>, address: SocketAddr) -> String {
    format!("{} from {address}", quoted(ecv.receive))
}

fn wanted(got: &[u8], ecv: Dialogue<'_>) -> String {
    match got {
        [] => format!("{}, it sent nothing", quoted(ecv.receive)),
        _ => format!("{}, it sent {}", quoted(ecv.receive), quoted(got)),
    }
}
