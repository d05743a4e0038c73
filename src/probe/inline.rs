//! HTTP-INLINE: what users of a service got is the sample. Where nobody used it since the last one, a request of our own
//! takes their place, so that a service that is down can come back.
//!
//! A sample fails where more than half of the answers had a status that is not among the accepted ones: a single bad
//! answer among thousands says something of the request, not of the server.

use std::fmt::Debug;

use super::{Answer, Found, Miss};

/// Where the answers that users got are counted.
pub trait Traffic: Debug + Send + Sync {
    /// The answers since this was called last.
    fn since_last(&self) -> Answers;
}

/// Answers of a service over some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    pub accepted: u64,
    pub refused: u64,
    /// The status refused last; 0 where none was.
    pub last_refused: u16,
}

/// `None`: there was no traffic.
pub(super) fn judge(answers: Answers) -> Option<Found> {
    let Answers { accepted, refused, last_refused } = answers;
    let total = accepted + refused;
    Some(match (total, refused > accepted) {
        (0, _) => return None,
        (_, false) => Ok(Answer::pass(format!("{accepted} of {total} answers to users were accepted"))),
        (_, true) => Err(Miss::Fail(format!(
            "{refused} of {total} answers to users were not accepted, the last was {last_refused}"
        ))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_majority_of_what_users_got_decides() {
        let judged = |accepted, refused| judge(Answers { accepted, refused, last_refused: 500 });
        assert_eq!(judged(0, 0), None);
        assert!(matches!(judged(1, 0), Some(Ok(_))));
        assert!(matches!(judged(5, 5), Some(Ok(_))));
        let Some(Err(Miss::Fail(why))) = judged(4, 5) else { panic!() };
        assert_eq!(why, "5 of 9 answers to users were not accepted, the last was 500");
    }
}
