//! Several targets, asked at once: one sample of the check, which passes while enough of them do.
//!
//! | passed | passed and void together | the sample |
//! |---|---|---|
//! | `quorum` or more | | passes |
//! | fewer | `quorum` or more | is void: those that this machine could not ask might decide it |
//! | fewer | fewer | fails |
//!
//! All are waited for, so that each shows what it gave; the latency is the moment at which it was decided.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::{Deadline, Surroundings, attempt, verdict};
use crate::model::check::{Check, Probe};
use crate::model::event::{Outcome, TargetResult, Verdict};

/// Failing targets that the sentence about a sample names.
const NAMED_MAX: usize = 3;

pub(super) async fn sample(
    check: &Check,
    probes: &[Probe],
    quorum: u32,
    around: &Surroundings,
    deadline: Deadline,
) -> Verdict {
    let start = Instant::now();
    let one = async |probe| {
        let found = attempt(check, probe, around, None, super::Way::default(), deadline).await;
        let Verdict { outcome, latency, detail, .. } = verdict(found, start.elapsed());
        TargetResult { outcome, latency, detail }
    };
    let results = join_all(probes.iter().map(|probe| Box::pin(one(probe)))).await;
    judged(quorum as usize, results)
}

fn judged(quorum: usize, results: Vec<TargetResult>) -> Verdict {
    let times = |wanted: fn(Outcome) -> bool| {
        let mut times: Vec<Duration> = results.iter().filter(|r| wanted(r.outcome)).map(|r| r.latency).collect();
        times.sort_unstable();
        times
    };
    let passed = times(|outcome| matches!(outcome, Outcome::Pass | Outcome::Trofs));
    let failed = times(|outcome| outcome == Outcome::Fail);
    let bearable = results.len().saturating_sub(quorum);
    let (outcome, latency) = if passed.len() >= quorum {
        (Outcome::Pass, quorum.checked_sub(1).map_or(Duration::ZERO, |nth| passed[nth]))
    } else if let Some(latency) = failed.get(bearable) {
        (Outcome::Fail, *latency)
    } else {
        (Outcome::Void, results.iter().map(|r| r.latency).max().unwrap_or_default())
    };
    let detail = in_words(quorum, passed.len(), &results);
    Verdict::new(outcome, latency, detail).with_targets(results)
}

/// `1 of 3 targets passed, 2 needed: connection to 192.0.2.1:443: connection refused; …`
fn in_words(quorum: usize, passed: usize, results: &[TargetResult]) -> String {
    let mut words = format!("{passed} of {} targets passed, {quorum} needed", results.len());
    let missing = results.iter().filter(|r| matches!(r.outcome, Outcome::Fail | Outcome::Void));
    for (at, result) in missing.clone().take(NAMED_MAX).enumerate() {
        words.push_str(if at == 0 { ": " } else { "; " });
        words.push_str(&result.detail);
    }
    match missing.count() {
        count if count > NAMED_MAX => format!("{words}; and {} more", count - NAMED_MAX),
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(quorum: usize, outcomes: &[Outcome]) -> Verdict {
        let result = |(at, &outcome): (usize, &Outcome)| TargetResult {
            outcome,
            latency: Duration::from_millis(10 * (at as u64 + 1)),
            detail: format!("target {at}").into(),
        };
        judged(quorum, outcomes.iter().enumerate().map(result).collect())
    }

    /// Every list of up to four outcomes and every quorum, against what the void ones could still turn out to be.
    #[test]
    fn a_sample_is_void_exactly_while_targets_that_could_not_be_asked_can_decide_it() {
        const OUTCOMES: [Outcome; 3] = [Outcome::Pass, Outcome::Fail, Outcome::Void];
        for length in 1..=4_u32 {
            for code in 0..3_usize.pow(length) {
                let outcomes: Vec<Outcome> = (0..length).map(|i| OUTCOMES[code / 3_usize.pow(i) % 3]).collect();
                let count = |outcome| outcomes.iter().filter(|&&o| o == outcome).count();
                for quorum in 1..=length as usize {
                    let worst = count(Outcome::Pass) >= quorum;
                    let best = count(Outcome::Pass) + count(Outcome::Void) >= quorum;
                    let expected = match (worst, best) {
                        (true, _) => Outcome::Pass,
                        (false, true) => Outcome::Void,
                        (false, false) => Outcome::Fail,
                    };
                    assert_eq!(sampled(quorum, &outcomes).outcome, expected, "{outcomes:?} quorum {quorum}");
                }
            }
        }
    }

    #[test]
    fn the_latency_is_when_it_was_decided_and_the_words_name_who_failed() {
        use Outcome::{Fail, Pass};
        let verdict = sampled(2, &[Pass, Pass, Fail]);
        assert_eq!((verdict.outcome, verdict.latency.as_millis()), (Pass, 20));
        assert_eq!(&*verdict.detail, "2 of 3 targets passed, 2 needed: target 2");
        let verdict = sampled(2, &[Fail, Fail, Pass]);
        assert_eq!((verdict.outcome, verdict.latency.as_millis()), (Fail, 20));
        let verdict = sampled(1, &[Fail; 5]);
        assert_eq!(verdict.latency.as_millis(), 50);
        assert_eq!(&*verdict.detail, "0 of 5 targets passed, 1 needed: target 0; target 1; target 2; and 2 more");
        assert_eq!(verdict.targets.unwrap().len(), 5);
    }
}
