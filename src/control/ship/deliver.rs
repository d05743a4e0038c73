//! Entries on their way: over a connection of syslog, or as a call of HTTP.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

use super::message::{frame, line};
use super::{Line, Place};
use crate::control::courier::sign;
use crate::control::journal::chain::Entry;
use crate::model::check::{Host, HttpExpect, StatusRange};
use crate::model::id::Name;
use crate::model::scenario::Secret;
use crate::model::ship::ShipTls;
use crate::probe::call::{Called, HttpCall};
use crate::probe::outgoing::{Outgoing, Verified};

/// Until a connection stands, and for one batch.
const PATIENCE: Duration = Duration::from_secs(10);

/// One connection, as long as it holds. Errors: why it ended, in words.
pub(super) async fn syslog(line: &mut Line, host: &Host, port: u16, tls: Option<&ShipTls>) -> Result<(), String> {
    let verified =
        tls.map(|tls| Verified { roots: line.destination.roots.clone(), server_name: tls.server_name.clone() });
    let connection = Outgoing::open(host, port, verified.as_ref(), PATIENCE).await?;
    let (mut reader, mut writer) = tokio::io::split(connection);
    let ended = session(line, &mut reader, &mut writer).await;
    // What has held long enough counts, also where the end came meanwhile.
    if let Some(say) = line.progress.held(line.now().tick) {
        line.confirmed(say);
    }
    ended
}

async fn session(
    line: &mut Line,
    reader: &mut ReadHalf<Outgoing>,
    writer: &mut WriteHalf<Outgoing>,
) -> Result<(), String> {
    let mut ignored = [0; 256];
    loop {
        let entries = if line.progress.is_full() { Vec::new() } else { line.next().await? };
        if let Some(last) = entries.last() {
            let place = place_of(last);
            let (appliance, ship) = (&line.destination.appliance, &line.destination.ship);
            let pid = std::process::id();
            let frames: String =
                entries.iter().filter(|e| ship.takes(&e.kind)).map(|e| frame(appliance, pid, e)).collect();
            let written = async {
                writer.write_all(frames.as_bytes()).await?;
                writer.flush().await
            };
            match tokio::time::timeout(PATIENCE, written).await {
                Err(_) => return Err(format!("it has not taken a batch within {PATIENCE:?}")),
                Ok(Err(error)) => return Err(format!("the connection broke: {error}")),
                Ok(Ok(())) => line.progress.wrote(line.now().tick, place),
            }
            line.show(None);
        }
        if let Some(say) = line.progress.held(line.now().tick) {
            line.confirmed(say);
        }
        if *line.head.borrow_and_update() > line.progress.sent().number && !line.progress.is_full() {
            continue;
        }
        let settles = line.progress.settles_at().map(|at| line.shared.clock.instant(at).into());
        tokio::select! {
            read = reader.read(&mut ignored) => match read {
                Ok(0) => return Err("the other side closed the connection".into()),
                // It has nothing to say that matters.
                Ok(_) => {}
                Err(error) => return Err(format!("the connection broke: {error}")),
            },
            changed = line.head.changed() => if changed.is_err() {
                // The end of the process: the line is dropped with its runtime.
                std::future::pending::<()>().await;
            },
            () = sleep_until(settles) => {}
        }
    }
}

/// Batch after batch, until nothing waits. Errors: why one was not taken.
pub(super) async fn http(
    line: &mut Line,
    uri: &Name,
    headers: &[(Name, Name)],
    secret: Option<&Secret>,
) -> Result<(), String> {
    loop {
        let entries = line.next().await?;
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return Ok(()) };
        let place = place_of(last);
        let id = format!("{}:journal:{}-{}", line.destination.appliance, first.number, last.number);
        let ship = &line.destination.ship;
        let lines: String = entries
            .iter()
            .filter(|entry| ship.takes(&entry.kind))
            .map(|entry| self::line(&line.destination.appliance, entry) + "\n")
            .collect();
        if !lines.is_empty() {
            post(line, uri, headers, secret, &id, lines).await?;
        }
        let say = line.progress.answered(place);
        line.confirmed(say);
    }
}

async fn post(
    line: &Line,
    uri: &Name,
    headers: &[(Name, Name)],
    secret: Option<&Secret>,
    id: &str,
    body: String,
) -> Result<(), String> {
    let ours = ["content-type", "webhook-id", "webhook-timestamp", "webhook-signature"];
    let mut headers = headers.to_vec();
    headers.retain(|(name, _)| !ours.iter().any(|own| name.eq_ignore_ascii_case(own)));
    let timestamp = line.now().wall.0.div_euclid(1_000_000);
    headers.push(("content-type".into(), "application/x-ndjson".into()));
    headers.push(("webhook-id".into(), id.into()));
    headers.push(("webhook-timestamp".into(), timestamp.to_string().into()));
    if let Some(secret) = secret {
        let value = line.shared.caller.secret(secret).await;
        let value = value.map_err(|why| format!("the secret cannot be had: {why}"))?;
        headers.push(("webhook-signature".into(), sign::sign(&value, id, timestamp, &body)?.into()));
    }
    let expect = HttpExpect {
        status: vec![StatusRange { from: 200, to: 299 }],
        headers: Vec::new(),
        body: None,
        trofs_code: None,
        trofs_body: None,
    };
    let call =
        HttpCall { uri: Name::clone(uri), method: "POST".into(), headers, body: Some(body), expect, timeout: PATIENCE };
    match line.shared.caller.call(&call).await {
        Called::Expected(_) => Ok(()),
        Called::Other { why, .. } | Called::Silent(why) => Err(why),
    }
}

fn place_of(entry: &Entry) -> Place {
    Place { number: entry.number, hash: entry.hash.clone() }
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
