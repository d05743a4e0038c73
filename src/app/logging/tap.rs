//! Takes what is logged, as a line with its severity, and gives it to a bounded queue: whoever logs never waits.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;

use super::syslog::{self, Away};
use crate::model::id::Name;
use crate::model::syslog::{Severity, Syslog};
use crate::snapshot::Snapshot;
use crate::snapshot::live::LogLive;

/// Lines that wait at most.
const QUEUE_LINES: usize = 1_024;
/// Characters of a line that are kept.
const LINE_MOST: usize = 8_000;

/// One line of the log.
pub(super) struct Line {
    pub severity: Severity,
    pub at: jiff::Timestamp,
    pub text: String,
}

/// Where lines go besides to stderr. Nowhere until it is told otherwise.
#[derive(Default)]
pub(super) struct Tap {
    on: AtomicBool,
    out: RwLock<Option<Out>>,
    followed: Mutex<Option<(Name, Syslog)>>,
}

struct Out {
    lines: SyncSender<Line>,
    live: Arc<LogLive>,
    away: Arc<Away>,
    /// Ends with the thread.
    ended: Mutex<Receiver<()>>,
}

/// What `tracing` gives its events to.
pub(super) struct Layer(pub Arc<Tap>);

/// The message and the fields of an event.
#[derive(Default)]
struct Said {
    message: String,
    fields: String,
}

// === impl Tap ===

impl Tap {
    pub fn follow(&self, snapshot: &Snapshot) {
        let appliance = &snapshot.model.appliance.name;
        let wanted = snapshot.model.log.syslog.as_ref().map(|to| (Name::clone(appliance), to.clone()));
        let mut followed = self.followed.lock();
        if *followed == wanted {
            return;
        }
        followed.clone_from(&wanted);
        let out = wanted.and_then(|(appliance, to)| Out::start(appliance, to, Arc::clone(&snapshot.log)));
        self.on.store(out.is_some(), Relaxed);
        // The thread before ends with what it has, or at once where it cannot get rid of it.
        let before = std::mem::replace(&mut *self.out.write(), out);
        if let Some(before) = before {
            before.away.give_up();
        }
    }

    fn put(&self, line: impl FnOnce() -> Line) {
        if !self.on.load(Relaxed) {
            return;
        }
        if let Some(out) = &*self.out.read()
            && out.lines.try_send(line()).is_err()
        {
            out.live.syslog_dropped_total.fetch_add(1, Relaxed);
        }
    }

    /// Takes nothing more, and waits so long for what is there.
    pub fn end(&self, limit: Duration) {
        let out = self.out.write().take();
        if let Some(Out { lines, away, ended, .. }) = out {
            drop(lines);
            let _ = ended.into_inner().recv_timeout(limit);
            away.give_up();
        }
    }
}

// === impl Out ===

impl Out {
    fn start(appliance: Name, to: Syslog, live: Arc<LogLive>) -> Option<Out> {
        let (lines, queue) = sync_channel(QUEUE_LINES);
        let (end, ended) = sync_channel(0);
        let away = Arc::new(Away::default());
        let (counted, gives_up) = (Arc::clone(&live), Arc::clone(&away));
        let started = std::thread::Builder::new().name("bascule-syslog".into()).spawn(move || {
            // Dropped with the thread: whoever waits for its end hears of it.
            let _end: SyncSender<()> = end;
            syslog::send_all(&queue, &appliance, &to, &counted, &gives_up);
        });
        match started {
            Ok(_) => Some(Out { lines, live, away, ended: Mutex::new(ended) }),
            Err(error) => {
                tracing::error!(%error, "no thread for the log over syslog");
                None
            }
        }
    }
}

// === impl Layer ===

impl<S: Subscriber> tracing_subscriber::Layer<S> for Layer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.0.put(|| {
            let mut said = Said::default();
            event.record(&mut said);
            let severity = match *event.metadata().level() {
                Level::ERROR => Severity::Error,
                Level::WARN => Severity::Warning,
                Level::INFO => Severity::Informational,
                Level::DEBUG | Level::TRACE => Severity::Debug,
            };
            Line { severity, at: jiff::Timestamp::now(), text: said.line() }
        });
    }
}

// === impl Said ===

impl Said {
    fn line(self) -> String {
        let Said { message, fields } = self;
        let line = if message.is_empty() { fields.trim_start().to_owned() } else { message + &fields };
        line.chars().take(LINE_MOST).collect()
    }

    /// Writing to memory does not fail.
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Lines of libraries that use `log` bring where they stand in the sources.
        let _ = match field.name() {
            "message" => write!(self.message, "{value}"),
            name if name.starts_with("log.") => Ok(()),
            name => write!(self.fields, " {name}={value}"),
        };
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.put(field, format_args!("{value}"));
        } else {
            self.put(field, format_args!("{value:?}"));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;
    use crate::model::syslog::{Destination, Facility};

    fn to(address: &str) -> Syslog {
        let to = Destination::parse(address).unwrap();
        Syslog { to, facility: Facility::parse("local3").unwrap(), app_name: "bascule".into() }
    }

    fn tapped(to: Syslog) -> (Arc<Tap>, Arc<LogLive>) {
        let (tap, live) = (Tap::default(), Arc::new(LogLive::default()));
        *tap.out.write() = Out::start("box-a".into(), to, Arc::clone(&live));
        tap.on.store(true, Relaxed);
        (Arc::new(tap), live)
    }

    #[test]
    fn what_is_logged_comes_with_its_severity_and_its_fields_as_one_line() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (tap, live) = tapped(to(&format!("udp:{}", receiver.local_addr().unwrap())));
        let subscriber = tracing_subscriber::registry().with(Layer(Arc::clone(&tap)));
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(service = "web1", took = 3, error = %"gone\nfor good", "a member is away");
            tracing::debug!("small");
        });
        tap.end(Duration::from_secs(30));
        let mut buffer = [0; 2_048];
        let mut next = || {
            let read = receiver.recv(&mut buffer).unwrap();
            String::from_utf8(buffer[..read].to_vec()).unwrap()
        };
        let first = next();
        let (pid, version) = (std::process::id(), env!("CARGO_PKG_VERSION"));
        let head = format!(" box-a bascule {pid} log [origin software=\"bascule\" swVersion=\"{version}\"] ");
        let said = "a member is away service=\"web1\" took=3 error=gone for good";
        assert!(first.starts_with("<156>1 20") && first.ends_with(&format!("{head}{said}")), "{first}");
        assert!(next().starts_with("<159>1 "));
        assert_eq!((live.syslog_sent_total.load(Relaxed), live.syslog_dropped_total.load(Relaxed)), (2, 0));
    }

    #[test]
    fn over_tcp_lines_share_a_connection_and_are_framed_by_their_length() {
        use std::io::Read as _;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (tap, _) = tapped(to(&format!("tcp:{}", listener.local_addr().unwrap())));
        for text in ["one", "two\n<13>1 forged"] {
            tap.put(|| Line { severity: Severity::Error, at: jiff::Timestamp::now(), text: text.into() });
        }
        let (mut stream, _) = listener.accept().unwrap();
        tap.end(Duration::from_secs(30));
        let mut read = String::new();
        stream.read_to_string(&mut read).unwrap();
        let (length, rest) = read.split_once(' ').unwrap();
        let (first, second) = rest.split_at(length.parse().unwrap());
        assert!(first.starts_with("<155>1 ") && first.ends_with("] one"), "{read}");
        let (length, second) = second.split_once(' ').unwrap();
        assert_eq!(second.len(), length.parse::<usize>().unwrap());
        assert!(second.ends_with("] two <13>1 forged"), "{read}");
    }

    #[test]
    fn whoever_logs_never_waits_for_a_receiver_that_is_away_and_what_is_lost_is_counted() {
        // Bound and never accepted from: what nobody listens at is refused at once.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (tap, live) = tapped(to(&format!("tcp:{port}")));
        for _ in 0..3 * QUEUE_LINES {
            tap.put(|| Line { severity: Severity::Error, at: jiff::Timestamp::now(), text: "x".into() });
        }
        tap.end(Duration::ZERO);
        let dropped = live.syslog_dropped_total.load(Relaxed);
        assert!(dropped >= 2 * QUEUE_LINES as u64 - 1, "{dropped}");
        assert_eq!(live.syslog_sent_total.load(Relaxed), 0);
    }
}
