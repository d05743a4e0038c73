//! What is done about a batch of spans that was not taken.

use std::time::Duration;

/// The first pause, and the longest.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// After an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The other end may take it later; after so long, where it says so.
    Again(Option<Duration>),
    /// It never will.
    Never,
}

/// Pauses that double.
#[derive(Debug)]
pub(super) struct Backoff {
    left: u32,
    pause: Duration,
}

/// An answer other than success: those that OTLP names may be tried again (OTLP 1.0, "Retryable Response Codes").
pub(super) fn judge(status: u16, retry_after: Option<Duration>) -> After {
    match status {
        429 | 502 | 503 | 504 => After::Again(retry_after),
        _ => After::Never,
    }
}

// === impl Backoff ===

impl Backoff {
    /// `attempts`: all, the first included.
    pub fn new(attempts: u32) -> Backoff {
        Backoff { left: attempts.saturating_sub(1), pause: FIRST }
    }

    /// How long to wait before the next one; `None`: there is none. `told`: by the other end.
    pub fn next(&mut self, told: Option<Duration>) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST);
        Some(told.unwrap_or(pause).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_taken_for_now_is_sent_again_and_what_never_will_is_not() {
        for status in [429, 502, 503, 504] {
            assert_eq!(judge(status, None), After::Again(None), "{status}");
        }
        for status in [301, 400, 401, 404, 413, 500] {
            assert_eq!(judge(status, Some(FIRST)), After::Never, "{status}");
        }
    }

    #[test]
    fn pauses_double_and_end_and_the_other_end_has_a_say_within_bounds() {
        let mut backoff = Backoff::new(5);
        let pauses: Vec<u64> = std::iter::from_fn(|| backoff.next(None)).map(|pause| pause.as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8]);
        let mut backoff = Backoff::new(3);
        assert_eq!(backoff.next(Some(Duration::from_secs(7))), Some(Duration::from_secs(7)));
        assert_eq!(backoff.next(Some(Duration::from_secs(86_400))), Some(LONGEST));
        assert_eq!(backoff.next(None), None);
    }
}
