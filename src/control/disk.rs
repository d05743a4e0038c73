//! The disk has a thread of its own, so that a slow one delays only what must wait for it.
//!
//! Orders are written in the order they were given; whatever is waiting goes into one transaction (group commit), so a
//! flap storm costs one `fsync`. What could not be written is kept and tried again every second, with one exception: an
//! [`Intent`](super::store::Intent) that cannot be written is given up at once, because somebody waits for the answer
//! and was promised that "could not be written" means "was not done".

mod held;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use self::held::Held;
use super::store::{Batch, Draft, Limits, Store};
use crate::model::time::{Tick, Wall};

/// Journal entries that may wait for a disk that does not answer. Beyond it the oldest `state` and `board` entries are
/// dropped and their number is journalled; transitions and acts never are.
pub(super) const WAITING_ENTRIES_MOST: usize = 50_000;

/// Between two tries of what could not be written.
const RETRY: Duration = Duration::from_secs(1);

#[allow(clippy::large_enum_variant, reason = "nearly all of them are orders")]
#[derive(Debug)]
pub enum ToDisk {
    Write(Order),
    /// Time to cut the journal.
    Cut {
        now: Wall,
        limits: Limits,
    },
    /// Write what is left and let go of the store. An error changes nothing.
    Give(oneshot::Sender<Result<(), String>>),
    /// Open it again, as soon as that works.
    TakeBack,
    /// Write from now on: the store was opened for waiting.
    Begin,
}

/// Something to make durable.
#[derive(Debug)]
pub struct Order {
    /// Strictly increasing.
    pub seq: u64,
    pub batch: Batch,
    /// `Some` for intents: not tried again after a failure, and not at all once it is set.
    pub given_up: Option<Arc<AtomicBool>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Every order up to `through` that was not dropped is durable.
    Written { through: u64, journal_head: u64 },
    /// Nothing was written. `dropped` orders will not be tried again, the others will.
    Failed { error: String, dropped: Vec<u64> },
}

/// How long the end of the process waits for the last write.
const FAREWELL: Duration = Duration::from_secs(2);

/// The thread's end of the queue.
pub struct Disk {
    orders: Sender<ToDisk>,
    /// Ends with the thread.
    ended: Receiver<()>,
    thread: JoinHandle<()>,
}

/// What is waiting; apart from the thread so that it can be tested.
pub struct Queue {
    store: Held,
    waiting: VecDeque<Order>,
    lost: u64,
}

// === impl Disk ===

impl Disk {
    pub fn start(store: Box<dyn Store>, report: impl Fn(Report) + Send + 'static) -> std::io::Result<Disk> {
        let (orders, queue) = channel();
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name("bascule-disk".to_owned()).spawn(move || {
            let _end: Sender<()> = end;
            run(Queue::new(store), &queue, report);
        })?;
        Ok(Disk { orders, ended, thread })
    }

    /// Never waits.
    pub fn send(&self, order: ToDisk) {
        // The thread ends only after this sender is gone.
        let _ = self.orders.send(order);
    }

    /// Writes what is left, once, and ends. A disk that hangs is not waited for longer than 2 s: whoever stops the process
    /// could not end it otherwise.
    pub fn stop(self) {
        drop(self.orders);
        match self.ended.recv_timeout(FAREWELL) {
            Err(RecvTimeoutError::Timeout) => {
                tracing::error!("the disk does not answer: ending without the last write")
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => drop(self.thread.join()),
        }
    }
}

fn run(mut queue: Queue, orders: &Receiver<ToDisk>, report: impl Fn(Report)) {
    loop {
        let first = if queue.waiting.is_empty() {
            orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            orders.recv_timeout(RETRY)
        };
        let ended = matches!(first, Err(RecvTimeoutError::Disconnected));
        for order in first.into_iter().chain(orders.try_iter()) {
            match order {
                ToDisk::Write(order) => queue.waiting.push_back(order),
                ToDisk::Cut { now, limits } => queue.cut(now, &limits),
                ToDisk::Give(answer) => {
                    let (given, what) = queue.give();
                    what.into_iter().for_each(&report);
                    let _ = answer.send(given);
                }
                ToDisk::TakeBack => queue.store.take_back(),
                ToDisk::Begin => queue.store.begin(),
            }
        }
        if let Some(what) = queue.write() {
            report(what);
        }
        if ended {
            return;
        }
    }
}

// === impl Queue ===

impl Queue {
    pub fn new(store: Box<dyn Store>) -> Queue {
        let store = if store.waits() { Held::NotYet(store) } else { Held::Here(store) };
        Queue { store, waiting: VecDeque::new(), lost: 0 }
    }

    pub fn push(&mut self, order: Order) {
        self.waiting.push_back(order);
    }

    /// Writes what waits and lets go of the store. Errors: something could not be written, or no other process could
    /// open this store.
    fn give(&mut self) -> (Result<(), String>, Option<Report>) {
        let what = self.write();
        let given = match &what {
            Some(Report::Failed { error, .. }) => Err(error.clone()),
            _ => self.store.give(),
        };
        (given, what)
    }

    /// Tries to write everything that waits; `None`: nothing does, or another process has the store.
    pub fn write(&mut self) -> Option<Report> {
        let given_up = |order: &Order| order.given_up.as_ref().is_some_and(|flag| flag.load(Ordering::Acquire));
        self.waiting.retain(|order| !given_up(order));
        let through = self.waiting.back()?.seq;
        let mut batches: Vec<&Batch> = self.waiting.iter().map(|order| &order.batch).collect();
        let notice = self.notice();
        batches.extend(notice.as_ref());
        let written = match self.store.ready()? {
            Ok(store) => store.commit(&batches),
            Err(error) => Err(error),
        };
        match written {
            Ok(journal_head) => {
                self.waiting.clear();
                self.lost = 0;
                Some(Report::Written { through, journal_head })
            }
            Err(error) => {
                let dropped = self.waiting.iter().filter(|o| o.given_up.is_some()).map(|o| o.seq).collect();
                self.waiting.retain(|order| order.given_up.is_none());
                self.shed();
                Some(Report::Failed { error: error.what, dropped })
            }
        }
    }

    fn cut(&mut self, now: Wall, limits: &Limits) {
        let Some(Ok(store)) = self.store.ready() else { return };
        match store.cut(now, limits) {
            Ok(0) => {}
            Ok(entries) => tracing::info!(entries, "cut the oldest part of the journal"),
            Err(error) => tracing::warn!(%error, "cannot cut the journal"),
        }
    }

    fn shed(&mut self) {
        self.lost += shed(self.waiting.iter_mut().map(|order| &mut order.batch.entries));
    }

    fn notice(&self) -> Option<Batch> {
        let at = self.waiting.back()?.batch.entries.last().map_or(Wall(0), |entry| entry.at);
        (self.lost > 0).then(|| Batch {
            entries: vec![Draft {
                at,
                tick: Tick::ZERO,
                kind: "warning",
                object: "".into(),
                actor: "system".into(),
                body: serde_json::json!({
                    "object": null, "text": lost_text(self.lost),
                }),
            }],
            ..Batch::default()
        })
    }
}

/// Drops the oldest entries that a replay can do without best, and says how many.
pub(super) fn shed<'a>(batches: impl Iterator<Item = &'a mut Vec<Draft>>) -> u64 {
    let batches: Vec<_> = batches.collect();
    let mut excess = batches.iter().map(|entries| entries.len()).sum::<usize>().saturating_sub(WAITING_ENTRIES_MOST);
    let mut lost = 0;
    for entries in batches {
        if excess == 0 {
            break;
        }
        entries.retain(|entry| {
            let drop = excess > 0 && matches!(entry.kind, "state" | "board");
            excess -= usize::from(drop);
            lost += u64::from(drop);
            !drop
        });
    }
    lost
}

pub(super) fn lost_text(lost: u64) -> String {
    format!("{lost} entries of states were lost: the disk did not answer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::store::{Memory, ReadJournal, StoreError};

    /// A disk that can be broken.
    struct Fragile {
        memory: Memory,
        broken: Arc<AtomicBool>,
    }

    impl Store for Fragile {
        fn commit(&mut self, batches: &[&Batch]) -> Result<u64, StoreError> {
            if self.broken.load(Ordering::Relaxed) {
                return Err(StoreError::retryable("the disk is full"));
            }
            self.memory.commit(batches)
        }
        fn cut(&mut self, now: Wall, limits: &Limits) -> Result<u64, StoreError> {
            self.memory.cut(now, limits)
        }
        fn reader(&self) -> Arc<dyn ReadJournal> {
            self.memory.reader()
        }
    }

    fn order(seq: u64, kind: &'static str, entries: usize) -> Order {
        let draft = Draft {
            at: Wall(1),
            tick: Tick(1),
            kind,
            object: "".into(),
            actor: "system".into(),
            body: serde_json::json!({}),
        };
        Order { seq, batch: Batch { entries: vec![draft; entries], ..Batch::default() }, given_up: None }
    }

    fn fragile() -> (Queue, Arc<AtomicBool>) {
        let broken = Arc::new(AtomicBool::new(false));
        (Queue::new(Box::new(Fragile { memory: Memory::new(), broken: Arc::clone(&broken) })), broken)
    }

    #[test]
    fn what_a_full_disk_refused_is_written_later_and_in_order() {
        let (mut queue, broken) = fragile();
        broken.store(true, Ordering::Relaxed);
        queue.push(order(1, "transition", 1));
        queue.push(Order { given_up: Some(Arc::default()), ..order(2, "act", 1) });
        // The intent is given up, because its caller waits; the transition is kept.
        assert_eq!(queue.write(), Some(Report::Failed { error: "the disk is full".into(), dropped: vec![2] }));
        queue.push(order(3, "act", 1));
        broken.store(false, Ordering::Relaxed);
        assert_eq!(queue.write(), Some(Report::Written { through: 3, journal_head: 2 }));
        assert_eq!(queue.write(), None);
        let kinds = queue.store.ready().unwrap().unwrap().reader().query(&Default::default()).unwrap();
        assert_eq!(kinds.iter().map(|e| &*e.kind).collect::<Vec<_>>(), ["transition", "act"]);
    }

    #[test]
    fn an_intent_that_was_given_up_is_never_written() {
        let (mut queue, _) = fragile();
        let flag = Arc::new(AtomicBool::new(true));
        queue.push(Order { given_up: Some(flag), ..order(1, "act", 1) });
        assert_eq!(queue.write(), None);
    }

    #[test]
    fn a_disk_that_hangs_does_not_hold_up_the_end() {
        struct Hanging(Memory, parking_lot::Mutex<Receiver<()>>);
        impl Store for Hanging {
            fn commit(&mut self, _: &[&Batch]) -> Result<u64, StoreError> {
                let _ = self.1.lock().recv();
                Ok(0)
            }
            fn cut(&mut self, _: Wall, _: &Limits) -> Result<u64, StoreError> {
                Ok(0)
            }
            fn reader(&self) -> Arc<dyn ReadJournal> {
                self.0.reader()
            }
        }
        let (release, hangs) = channel();
        let disk = Disk::start(Box::new(Hanging(Memory::new(), hangs.into())), |_| {}).unwrap();
        disk.send(ToDisk::Write(order(1, "act", 1)));
        disk.stop();
        drop(release);
    }

    #[test]
    fn a_dead_disk_costs_bounded_memory_and_no_transition() {
        let (mut queue, broken) = fragile();
        broken.store(true, Ordering::Relaxed);
        queue.push(order(1, "board", 40_000));
        queue.push(order(2, "transition", 1));
        queue.push(order(3, "state", 20_000));
        queue.write();
        let waiting: usize = queue.waiting.iter().map(|o| o.batch.entries.len()).sum();
        assert_eq!(waiting, WAITING_ENTRIES_MOST);
        broken.store(false, Ordering::Relaxed);
        queue.write();
        let lost = queue
            .store
            .ready()
            .unwrap()
            .unwrap()
            .reader()
            .query(&crate::control::JournalQuery { newest_first: true, ..Default::default() });
        assert!(lost.unwrap()[0].body["text"].as_str().unwrap().starts_with("10001 entries"));
    }

    #[test]
    fn what_is_ordered_while_another_process_has_the_store_is_written_once_it_is_back() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = crate::control::store::open(dir.path()).unwrap();
        let mut queue = Queue::new(Box::new(store));
        queue.push(order(1, "act", 1));
        let (given, what) = queue.give();
        assert_eq!((given, what), (Ok(()), Some(Report::Written { through: 1, journal_head: 1 })));
        queue.push(order(2, "act", 1));
        assert_eq!(queue.write(), None, "nobody writes here");
        drop(crate::control::store::open(dir.path()).expect("it is free"));
        queue.store.take_back();
        assert_eq!(queue.write(), Some(Report::Written { through: 2, journal_head: 2 }));
        assert!(crate::control::store::open(dir.path()).is_err(), "it is held again");
    }

    #[test]
    fn a_store_in_memory_is_not_given_away() {
        let mut queue = Queue::new(Box::new(Memory::new()));
        assert!(queue.give().0.unwrap_err().contains("memory"));
        queue.push(order(1, "act", 1));
        assert!(matches!(queue.write(), Some(Report::Written { .. })));
    }

    #[test]
    fn a_process_that_goes_on_writes_nothing_before_it_begins() {
        let dir = tempfile::tempdir().unwrap();
        drop(crate::control::store::open(dir.path()).unwrap());
        let (store, _) = crate::control::store::open_waiting(dir.path()).unwrap();
        let mut queue = Queue::new(Box::new(store));
        queue.push(order(1, "act", 2));
        assert_eq!(queue.write(), None);
        queue.store.begin();
        assert_eq!(queue.write(), Some(Report::Written { through: 1, journal_head: 2 }));
    }
}
