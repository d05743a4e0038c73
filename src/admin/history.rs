//! 48 hours of counters, kept on the box: requests, bytes, errors, connections and latencies of every vserver and
//! service that has traffic, for charts and for `stat … -at TIME`.
//!
//! Every 10 s the totals are read from the snapshot, beside traffic and the one writer. What is kept, by [`book`]:
//!
//! | of | rows | reach back | memory |
//! |---|---|---|---|
//! | the first 1000 objects with traffic, vservers before services | 10 s, and 1 min | 1 h, and 48 h | 46 KB each |
//! | up to 11 000 more | 10 min | 48 h | 4 KB each |
//!
//! and up to 2 KB for each of them to tell the latencies of the last 10 s from those before. So 10 000 busy
//! services cost 100 MB, and a box with a hundred 5 MB; objects without traffic for 48 h cost nothing. Numbers are
//! kept to one part in 2000. The rows of a minute and of 10 minutes are also appended to files by the hour in the
//! state directory (`history/`, at most 100 MB), and read again at a start: a killed process loses at most a
//! minute, of the busiest objects; rows of 10 s begin anew.

pub(super) mod book;
mod code;
mod file;
mod sampler;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::control::Handle;
use crate::model::time::Wall;
use book::{Asked, Book, Curve};
use file::Files;
use sampler::Sampler;

/// Between two looks at the counters.
const EVERY: Duration = Duration::from_secs(book::FINE_S as u64);

/// What is kept. Shared by the sampler and those who ask.
#[derive(Debug, Default)]
pub(super) struct History(Mutex<Book>);

// === impl History ===

impl History {
    /// Reads what a former process kept in `folder`, and keeps on sampling until `stopping`.
    pub fn start(handle: Handle, folder: Option<PathBuf>, stopping: watch::Receiver<bool>) -> Arc<History> {
        let history = Arc::new(History::default());
        tokio::spawn(keep(Arc::clone(&history), handle, folder, stopping));
        history
    }

    pub fn curve(&self, asked: &Asked) -> Option<Curve> {
        self.0.lock().curve(asked)
    }

    /// The most requests per second of an object in any minute of the last 48 hours.
    pub fn peak(&self, object: &str, now: Wall) -> Option<u64> {
        self.0.lock().peak(object, now)
    }
}

async fn keep(history: Arc<History>, handle: Handle, folder: Option<PathBuf>, mut stopping: watch::Receiver<bool>) {
    let Ok(now) = handle.read(|world| world.now.wall).await else { return };
    let files = tokio::task::spawn_blocking(move || {
        let mut files = folder.map(Files::open);
        let book = files.as_mut().map(|files| files.read(now)).unwrap_or_default();
        (files, book)
    });
    let Ok((mut files, read)) = files.await else { return };
    *history.0.lock() = read;
    let mut sampler = Sampler::default();
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        let Ok(now) = handle.read(|world| world.now.wall).await else { return };
        let snapshot = handle.snapshot();
        let shared = Arc::clone(&history);
        let taken = tokio::task::spawn_blocking(move || {
            let rows = sampler.take(&snapshot, now);
            let finished = {
                let mut book = shared.0.lock();
                rows.into_iter().for_each(|(object, row)| book.push(&object, now, row));
                book.finish(now)
            };
            if let Some(files) = &mut files {
                files.append(now, &finished);
            }
            (sampler, files)
        });
        match taken.await {
            Ok(taken) => (sampler, files) = taken,
            Err(_) => return,
        }
    }
}
