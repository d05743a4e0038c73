//! Lines that come together: through a pipe, from a file, pasted. Those that change the configuration go to the
//! appliance many at a time, and each is answered as if it had come alone. What the appliance warns of is told once, at
//! the end, where it still holds then.

use std::io::BufRead as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::execute::Answer;
use super::refused::Refused;
use super::{Ended, Request, Session, configure, parse};

/// Lines of one call.
const MOST: usize = 500;
/// Of their text. Bytes.
const LARGEST: usize = 512 << 10;
/// A line of a pipe that comes so much later does not belong to those before it: its writer may wait for their answers.
const REST: Duration = Duration::from_millis(10);
/// Lines of a pipe that are read ahead.
const AHEAD: usize = 1_024;

pub(super) struct Together<'a> {
    session: &'a Session,
    /// Of the configuration, and empty lines and comments between them, not carried out yet.
    waiting: Vec<String>,
    size: usize,
    warnings: Vec<Warning>,
}

/// What the appliance warned of.
struct Warning {
    text: String,
    /// It is about the configuration as it stood, which another line may mend.
    of_config: bool,
}

/// Where lines come from.
pub(super) enum Lines {
    Given(std::vec::IntoIter<String>),
    Piped(Receiver<std::io::Result<String>>),
}

/// What comes next.
pub(super) enum Next {
    Line(String),
    /// Nothing at the moment.
    Pause,
    /// No text.
    Unreadable,
    End,
}

// === impl Together ===

impl<'a> Together<'a> {
    pub fn of(session: &'a Session) -> Together<'a> {
        Together { session, waiting: Vec::new(), size: 0, warnings: Vec::new() }
    }

    /// Another line. `tell` gets each line that is done by now, what it answered, and how it ended; nothing after the
    /// one that ended the session or was interrupted.
    pub fn take(&mut self, line: &str, tell: &mut dyn FnMut(&str, String, Ended)) -> Ended {
        let joins = !self.session.json
            && match parse(line) {
                Ok(Some((Request::Line(_), _))) => true,
                Ok(None) => !self.waiting.is_empty(),
                _ => false,
            };
        if joins {
            self.size += line.len();
            self.waiting.push(line.to_owned());
            return if self.waiting.len() < MOST && self.size < LARGEST { Ended::Well } else { self.flush(tell) };
        }
        if self.flush(tell) == Ended::Interrupted {
            return Ended::Interrupted;
        }
        let (answer, ended) = self.session.answer(line);
        tell(line, answer, ended);
        ended
    }

    /// Carries out what waits.
    pub fn flush(&mut self, tell: &mut dyn FnMut(&str, String, Ended)) -> Ended {
        let lines = std::mem::take(&mut self.waiting);
        self.size = 0;
        if lines.is_empty() {
            return Ended::Well;
        }
        let session = self.session;
        let Some(carried_out) = session.until_interrupted(configure::lines(&session.client, &lines)) else {
            let refused = session.refused(&Refused::interrupted());
            tell(&lines[0], refused, Ended::Interrupted);
            return Ended::Interrupted;
        };
        let outcomes = match carried_out {
            Ok(carried_out) => {
                let holds = |text: &String| carried_out.hold.contains(text);
                self.warnings.retain(|warning| !warning.of_config || holds(&warning.text));
                for text in carried_out.warnings {
                    if !self.warnings.iter().any(|warning| warning.text == text) {
                        self.warnings.push(Warning { of_config: carried_out.hold.contains(&text), text });
                    }
                }
                carried_out.outcomes
            }
            // None of them was carried out, for one reason.
            Err(refused) => {
                let refused = session.refused(&refused);
                for line in &lines {
                    let said = matches!(parse(line), Ok(Some(_)));
                    tell(
                        line,
                        if said { refused.clone() } else { String::new() },
                        if said { Ended::InError } else { Ended::Well },
                    );
                }
                return Ended::InError;
            }
        };
        let mut ended = Ended::Well;
        for (line, outcome) in lines.iter().zip(outcomes) {
            ended = if outcome.is_ok() { Ended::Well } else { Ended::InError };
            let answer = match (outcome, parse(line)) {
                (Ok(()), Ok(None)) => String::new(),
                (Ok(()), _) => session.told(&Answer::default()),
                (Err(refused), _) => session.refused(&refused),
            };
            tell(line, answer, ended);
        }
        ended
    }

    /// What is warned of, a line each.
    pub fn warnings(&self) -> String {
        self.warnings.iter().map(|warning| format!("Warning: {}\n", warning.text)).collect()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

// === impl Lines ===

impl Lines {
    /// Of the input of the process, read ahead.
    pub fn piped() -> Lines {
        let (send, receive) = sync_channel(AHEAD);
        std::thread::spawn(move || {
            let mut lines = std::io::stdin().lock().lines();
            // Nobody listens any more, or nothing more can be read.
            while lines.next().is_some_and(|line| {
                let readable = line.is_ok();
                send.send(line).is_ok() && readable
            }) {}
        });
        Lines::Piped(receive)
    }

    /// `patient`: waits until there is one.
    pub fn next(&mut self, patient: bool) -> Next {
        let line = match self {
            Lines::Given(lines) => lines.next().map_or(Err(RecvTimeoutError::Disconnected), |line| Ok(Ok(line))),
            Lines::Piped(lines) if patient => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Lines::Piped(lines) => lines.recv_timeout(REST),
        };
        match line {
            Ok(Ok(line)) => Next::Line(line),
            Ok(Err(_)) => Next::Unreadable,
            Err(RecvTimeoutError::Timeout) => Next::Pause,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_there_are_read_and_then_it_is_said_that_none_are() {
        let (send, receive) = sync_channel(2);
        let mut lines = Lines::Piped(receive);
        send.send(Ok("a".to_owned())).unwrap();
        assert!(matches!(lines.next(true), Next::Line(line) if line == "a"));
        assert!(matches!(lines.next(false), Next::Pause));
        send.send(Err(std::io::Error::other("no text"))).unwrap();
        drop(send);
        assert!(matches!(lines.next(true), Next::Unreadable));
        assert!(matches!(lines.next(false), Next::End));
    }
}
