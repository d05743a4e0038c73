//! The access log: one line for each request (HTTP) and connection (L4).
//!
//! Lines go through a bounded queue to a thread of their own. Where the disk does not keep up the queue fills and lines
//! are dropped and counted; traffic never waits for a log. The file is opened anew with every configuration that is
//! taken, an unchanged one included, so that a rotated file is left with the next reload (SIGHUP).

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::{Mutex, RwLock};

use crate::model::{AccessTo, Log, LogFormat, Model};
use crate::snapshot::Snapshot;
use crate::snapshot::live::LogLive;

/// Lines that wait for the disk at most.
const QUEUE_LINES: usize = 8_192;

/// Where lines go. Off until it is told otherwise.
pub(crate) struct AccessLog {
    /// What the name of a file is relative to.
    folder: PathBuf,
    /// Seconds since 1970 at the start: tells the ids of one process from those of the next.
    boot: u32,
    on: AtomicBool,
    /// The lines hold what a client says of itself and of where it comes from.
    combined: AtomicBool,
    /// The bits of [`Errors`].
    errors: AtomicU64,
    /// Written at a new configuration only.
    writer: RwLock<Option<Writer>>,
    /// With `LogLive::reopened_total`.
    followed: Mutex<Option<(Arc<Model>, u64)>>,
}

struct Writer {
    lines: SyncSender<Vec<u8>>,
    format: LogFormat,
    live: Arc<LogLive>,
}

/// Lines about failures in one second: the second, and how many were written in it.
struct Errors {
    second: u32,
    lines: u32,
}

/// Failures that are logged in a second at most, where there is no access log to hold them.
const ERRORS_PER_SECOND: u32 = 10;

// === impl AccessLog ===

impl AccessLog {
    pub fn new(folder: PathBuf) -> AccessLog {
        AccessLog {
            folder,
            boot: now_s(),
            on: AtomicBool::new(false),
            combined: AtomicBool::new(false),
            errors: AtomicU64::new(0),
            writer: RwLock::default(),
            followed: Mutex::default(),
        }
    }

    /// Writes where the newest configuration says.
    pub fn follow(&self, snapshot: &Snapshot) {
        let mut followed = self.followed.lock();
        let reopened = snapshot.log.reopened_total.load(Ordering::Relaxed);
        if followed.as_ref().is_some_and(|(model, seen)| Arc::ptr_eq(model, &snapshot.model) && *seen == reopened) {
            return;
        }
        *followed = Some((Arc::clone(&snapshot.model), reopened));
        let Log { access, format, .. } = &snapshot.model.log;
        let sink: Option<Box<dyn FnMut() -> Sink + Send>> = match access {
            AccessTo::Off => None,
            AccessTo::Stdout => Some(Box::new(|| Ok(Box::new(io::stdout())))),
            AccessTo::File(file) => {
                let path = self.folder.join(&**file);
                Some(Box::new(move || open(&path).map(|file| Box::new(file) as Box<dyn Write + Send>)))
            }
        };
        let live = &snapshot.log;
        // The writer before ends when the last line that was on its way is written.
        let writer = sink.and_then(|sink| Writer::start(sink, *format, Arc::clone(live)));
        self.combined.store(*format == LogFormat::Combined, Ordering::Relaxed);
        self.on.store(writer.is_some(), Ordering::Relaxed);
        *self.writer.write() = writer;
    }

    /// Whether a line is wanted at all.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Whether a line tells what a client says of itself and of where it comes from.
    pub fn is_combined(&self) -> bool {
        self.is_on() && self.combined.load(Ordering::Relaxed)
    }

    /// Takes a line that `write` makes, or drops it where the queue is full.
    pub fn line(&self, write: impl FnOnce(LogFormat, &mut Vec<u8>)) {
        let writer = self.writer.read();
        let Some(writer) = &*writer else { return };
        let mut line = Vec::with_capacity(384);
        write(writer.format, &mut line);
        line.push(b'\n');
        let total = match writer.lines.try_send(line) {
            Ok(()) => &writer.live.lines_total,
            Err(_) => &writer.live.dropped_total,
        };
        total.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether one more failure may have a line in the log of the process; and how many were left out in the second
    /// before, where this is the first of one.
    pub fn may_tell(&self) -> Option<u32> {
        let second = now_s();
        let mut left_out = 0;
        let counted = self.errors.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bits| {
            let Errors { second: last, lines } = Errors::of(bits);
            left_out = if last == second { 0 } else { lines.saturating_sub(ERRORS_PER_SECOND) };
            let lines = if last == second { lines.saturating_add(1) } else { 1 };
            Some(Errors { second, lines }.bits())
        });
        let Errors { second: last, lines } = Errors::of(counted.unwrap_or_default());
        (last != second || lines < ERRORS_PER_SECOND).then_some(left_out)
    }

    /// The id of a request: finds its line.
    pub fn id(&self, connection: u64, nth: u32) -> String {
        format!("{:08x}-{connection:x}-{nth:x}", self.boot)
    }
}

type Sink = io::Result<Box<dyn Write + Send>>;

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

fn now_s() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u32::try_from(since.as_secs()).unwrap_or(u32::MAX))
}

// === impl Errors ===

impl Errors {
    fn of(bits: u64) -> Errors {
        Errors { second: (bits >> 32) as u32, lines: bits as u32 }
    }

    fn bits(self) -> u64 {
        u64::from(self.second) << 32 | u64::from(self.lines)
    }
}

// === impl Writer ===

impl Writer {
    /// `sink` is asked on the thread that writes: a disk that hangs holds up nobody else.
    fn start(mut sink: Box<dyn FnMut() -> Sink + Send>, format: LogFormat, live: Arc<LogLive>) -> Option<Writer> {
        let (lines, queue) = sync_channel(QUEUE_LINES);
        let counted = Arc::clone(&live);
        let thread = std::thread::Builder::new().name("access-log".into());
        let started = thread.spawn(move || match sink() {
            Ok(sink) => write_all(&queue, BufWriter::with_capacity(64 * 1024, sink), &counted),
            Err(error) => {
                tracing::error!(%error, "cannot open the access log: its lines are lost until the next reload");
                queue.iter().for_each(|_| counted.lost());
            }
        });
        match started {
            Ok(_) => Some(Writer { lines, format, live }),
            Err(error) => {
                tracing::error!(%error, "no thread for the access log");
                None
            }
        }
    }
}

/// Writes until the queue has no sender. What is there is written at once; the file is flushed when nothing is left.
fn write_all(queue: &Receiver<Vec<u8>>, mut out: BufWriter<impl Write>, live: &LogLive) {
    let mut failing = false;
    while let Ok(mut line) = queue.recv() {
        loop {
            match out.write_all(&line) {
                Ok(()) => {}
                Err(error) => {
                    live.lost();
                    if !std::mem::replace(&mut failing, true) {
                        tracing::error!(%error, "cannot write the access log");
                    }
                }
            }
            match queue.try_recv() {
                Ok(next) => line = next,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        if out.flush().is_ok() {
            failing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_so_often_in_a_second_and_no_more() {
        let log = AccessLog::new(PathBuf::new());
        let told = (0..1_000).filter(|_| log.may_tell().is_some()).count();
        // The second may have turned in between.
        assert!((10..=20).contains(&told), "{told}");
    }

    #[test]
    fn ids_differ_by_process_connection_and_request() {
        let log = AccessLog::new(PathBuf::new());
        assert!(log.id(1, 2).ends_with("-1-2"));
        assert_ne!(log.id(0x11, 1), log.id(1, 0x11));
    }

    #[test]
    fn a_sink_that_takes_nothing_drops_and_counts() {
        struct Stuck(Receiver<()>);
        impl Write for Stuck {
            fn write(&mut self, data: &[u8]) -> io::Result<usize> {
                let _ = self.0.recv();
                Ok(data.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (release, stuck) = std::sync::mpsc::channel();
        let mut stuck = Some(stuck);
        let live = Arc::new(LogLive::default());
        let sink = Box::new(move || Ok(Box::new(Stuck(stuck.take().unwrap())) as Box<dyn Write + Send>));
        let log = AccessLog::new(PathBuf::new());
        let writer = Writer::start(sink, LogFormat::Text, Arc::clone(&live));
        *log.writer.write() = writer;
        // A line bigger than the buffer goes straight to the sink, which is stuck.
        for _ in 0..QUEUE_LINES + 100 {
            log.line(|_, line| line.resize(70_000, b'x'));
        }
        let (taken, dropped) = (live.lines_total.load(Ordering::Relaxed), live.dropped_total.load(Ordering::Relaxed));
        assert_eq!(taken + dropped, QUEUE_LINES as u64 + 100);
        assert!(dropped >= 98, "{dropped}");
        drop(release);
    }
}
