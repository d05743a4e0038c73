//! Lines that come without a person between them: pasted, or typed while a command was at work. Each is carried out in
//! order, and where some fail, a summary tells which, once no more come.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Batch, Ended};

/// A line for which nothing was waited longer than this was there before its prompt.
const AT_ONCE: Duration = Duration::from_millis(30);
/// After so long without another line no more are to be expected.
const REST: Duration = Duration::from_millis(300);

/// Since when a line is asked for.
pub(super) struct Asked {
    at: Instant,
    busy: Duration,
}

// === impl Asked ===

impl Asked {
    pub fn now() -> Asked {
        Asked { at: Instant::now(), busy: busy() }
    }

    /// How long nothing came. Neither a slow machine nor one that does other things makes it longer.
    pub fn waited(&self) -> Duration {
        self.at.elapsed().saturating_sub(busy().saturating_sub(self.busy))
    }
}

/// How long this thread has run, or could have run had the machine not been busy with others; zero where the kernel does
/// not count it.
fn busy() -> Duration {
    std::fs::read_to_string("/proc/thread-self/schedstat").map_or(Duration::ZERO, |text| scheduled(&text))
}

/// `nanoseconds at work, nanoseconds in the queue, turns`
fn scheduled(schedstat: &str) -> Duration {
    let mut numbers = schedstat.split_whitespace().map_while(|word| word.parse().ok());
    let (worked, queued) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    Duration::from_nanos(worked).saturating_add(Duration::from_nanos(queued))
}

/// What has come without a pause.
#[derive(Default)]
pub(super) struct Run {
    batch: Batch,
}

// === impl Run ===

impl Run {
    /// Begins anew where the line was `waited` for longer than one that was there already.
    pub fn comes(&mut self, waited: Duration) {
        if waited >= AT_ONCE {
            self.batch = Batch::default();
        }
    }

    pub fn count(&mut self, line: &str, answer: &str, ended: Ended) {
        self.batch.count(line, answer, ended);
    }

    /// Nothing for one command, or where all went well.
    pub fn summary(&self) -> String {
        self.batch.summary()
    }
}

/// Tells a summary when the lines have come to rest.
pub(super) struct Teller {
    due: Option<SyncSender<String>>,
    thread: Option<JoinHandle<()>>,
}

// === impl Teller ===

impl Teller {
    /// `print` writes while the prompt stands there.
    pub fn start(print: impl FnMut(String) + Send + 'static) -> Teller {
        let (due, receive) = sync_channel(1);
        let thread = std::thread::spawn(move || tell(&receive, REST, print));
        Teller { due: Some(due), thread: Some(thread) }
    }

    /// In place of what was due: nothing, where it is empty.
    pub fn due(&self, summary: String) {
        if let Some(due) = &self.due {
            let _ = due.send(summary);
        }
    }
}

impl Drop for Teller {
    /// What is due is told at once.
    fn drop(&mut self) {
        drop(self.due.take());
        self.thread.take().map(JoinHandle::join);
    }
}

/// Ends when nobody sends any more.
fn tell(receive: &Receiver<String>, rest: Duration, mut print: impl FnMut(String)) {
    let mut due = String::new();
    loop {
        let next = match due.is_empty() {
            true => receive.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => receive.recv_timeout(rest),
        };
        match next {
            Ok(next) => due = next,
            Err(ended) => {
                if !due.is_empty() {
                    print(std::mem::take(&mut due));
                }
                if ended == RecvTimeoutError::Disconnected {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_there_already_are_counted_together() {
        let mut run = Run::default();
        for (waited, line, ended) in [
            (900, "first", Ended::InError),
            (700, "show x", Ended::Well),
            (1, "bad", Ended::InError),
            (0, "ok", Ended::Well),
        ] {
            run.comes(Duration::from_millis(waited));
            run.count(line, "said\n", ended);
        }
        assert_eq!(run.summary(), "1 of 3 commands failed:\n\tline 2: bad\n\t\tsaid\n");
        run.comes(AT_ONCE);
        run.count("bad", "said\n", Ended::InError);
        assert_eq!(run.summary(), "", "one command needs no summary");
    }

    #[test]
    fn time_at_work_and_in_the_queue_for_it_is_not_waited() {
        assert_eq!(scheduled("1500000000 250000000 77\n"), Duration::from_millis(1_750));
        assert_eq!((scheduled(""), scheduled("what")), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn a_summary_is_told_once_and_another_takes_its_place() {
        let (send, receive) = sync_channel(3);
        for summary in ["old", "", "new"] {
            send.send(summary.to_owned()).unwrap();
        }
        drop(send);
        let mut told = Vec::new();
        tell(&receive, Duration::from_secs(60), |text| told.push(text));
        assert_eq!(told, ["new"]);
    }

    #[test]
    fn what_is_due_is_told_when_no_more_lines_come() {
        let (told, heard) = sync_channel(1);
        let teller = Teller::start(move |text| told.send(text).unwrap());
        teller.due("1 of 2".into());
        assert_eq!(heard.recv_timeout(Duration::from_secs(60)), Ok("1 of 2".into()));
        drop(teller);
        assert!(heard.recv().is_err(), "once");
    }
}
