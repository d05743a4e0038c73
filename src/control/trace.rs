//! Sends the spans of requests to where `[trace]` says: OTLP over HTTP, in batches.
//!
//! A thread of its own takes what traffic has put into [`Traces`], which is bounded: an end that is slow or away costs
//! spans, which are counted, and nothing else. Nothing of it outlives the process.

mod batch;
mod otlp;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::watch;

use crate::model::check::{HttpExpect, StatusRange};
use crate::model::id::Name;
use crate::model::trace::Trace;
use crate::probe::Surroundings;
use crate::probe::call::{Called, Caller, HttpCall};
use crate::snapshot::Cell;
use crate::snapshot::live::{Traced, Traces};
use batch::{After, Backoff, judge};

/// Requests whose spans are sent at once.
const BATCH_MOST: usize = 512;
/// How often it is looked at what waits.
const LOOK: Duration = Duration::from_millis(250);
/// Times that a batch is sent which the other end could not take for now.
const ATTEMPTS_MOST: u32 = 5;

/// Starts the thread; it ends with the last sender of `head`, as the reactor does. Errors: the machine refuses a thread.
pub fn start(cell: Arc<Cell>, surroundings: Surroundings, head: watch::Receiver<u64>) -> io::Result<()> {
    let traces = Arc::clone(&cell.load().traces);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().thread_name("bascule-trace").build()?;
    std::thread::Builder::new().name("bascule-trace".to_owned()).spawn(move || {
        let sender = Sender { cell, traces, caller: None, surroundings, failing: false };
        runtime.block_on(async {
            let mut head = head;
            // Only its end matters here.
            let ended = async { while head.changed().await.is_ok() {} };
            tokio::select! {
                () = sender.run() => {}
                () = ended => {}
            }
        });
        runtime.shutdown_background();
    })?;
    Ok(())
}

struct Sender {
    cell: Arc<Cell>,
    traces: Arc<Traces>,
    /// Made when there is something to send.
    caller: Option<Caller>,
    surroundings: Surroundings,
    failing: bool,
}

// === impl Sender ===

impl Sender {
    async fn run(mut self) {
        let cell = Arc::clone(&self.cell);
        let mut published = cell.subscribe();
        // Was under way to another end as `[trace]` changed.
        let mut kept: Vec<Box<Traced>> = Vec::new();
        loop {
            published.borrow_and_update();
            let model = Arc::clone(&self.cell.load().model);
            let Some(trace) = &model.trace else {
                // What was under way as it was turned off is of no use to anybody.
                let late = self.traces.take(usize::MAX).len() + std::mem::take(&mut kept).len();
                self.traces.dropped_total.fetch_add(late as u64, Relaxed);
                self.failing = false;
                if published.changed().await.is_err() {
                    return;
                }
                continue;
            };
            let batch = if kept.is_empty() { self.traces.take(BATCH_MOST) } else { std::mem::take(&mut kept) };
            if batch.is_empty() {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            let sent = tokio::select! {
                taken = self.send(trace, &model.appliance.name, &batch) => Some(taken),
                // An end that hangs keeps nothing away from the one that is to have it now.
                () = superseded(&cell, &mut published, trace) => None,
            };
            let Some(taken) = sent else {
                (kept, self.failing) = (batch, false);
                continue;
            };
            let total = if taken { &self.traces.sent_total } else { &self.traces.dropped_total };
            total.fetch_add(batch.len() as u64, Relaxed);
            if batch.len() < BATCH_MOST {
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// Whether the other end took it.
    async fn send(&mut self, trace: &Trace, appliance: &Name, batch: &[Box<Traced>]) -> bool {
        let body = otlp::encode(&trace.service_name, appliance, batch).to_string();
        let mut headers: Vec<(Name, Name)> = vec![("content-type".into(), "application/json".into())];
        headers.extend(trace.headers.iter().cloned());
        // Every status is looked at here.
        let expect = HttpExpect {
            status: vec![StatusRange { from: 200, to: 299 }],
            headers: Vec::new(),
            body: None,
            trofs_code: None,
            trofs_body: None,
        };
        let call = HttpCall {
            uri: Name::clone(&trace.endpoint),
            method: "POST".into(),
            headers,
            body: Some(body),
            expect,
            timeout: trace.timeout,
        };
        let mut backoff = Backoff::new(ATTEMPTS_MOST);
        loop {
            let caller = self.caller.get_or_insert_with(|| Caller::new(self.surroundings.clone()));
            let (why, after) = match caller.call(&call).await {
                Called::Expected(_) => {
                    if std::mem::take(&mut self.failing) {
                        tracing::info!(endpoint = shown(&trace.endpoint), "spans of requests are sent again");
                    }
                    return true;
                }
                Called::Other { status, why, retry_after, .. } => (why, judge(status, retry_after)),
                Called::Silent(why) => (why, After::Again(None)),
            };
            self.traces.failures_total.fetch_add(1, Relaxed);
            if !std::mem::replace(&mut self.failing, true) {
                let endpoint = shown(&trace.endpoint);
                tracing::warn!(
                    endpoint,
                    why,
                    "spans of requests are not sent; what waits too long is dropped and counted"
                );
            }
            let After::Again(told) = after else { return false };
            let Some(pause) = backoff.next(told) else { return false };
            tokio::time::sleep(pause).await;
        }
    }
}

/// Returns when `[trace]` is no longer this one.
async fn superseded(cell: &Cell, published: &mut watch::Receiver<u64>, trace: &Trace) {
    while cell.load().model.trace.as_ref() == Some(trace) {
        if published.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Without what may be a secret.
fn shown(endpoint: &str) -> &str {
    let endpoint = endpoint.split('?').next().unwrap_or_default();
    if endpoint.contains('@') { "(an address with a user)" } else { endpoint }
}
