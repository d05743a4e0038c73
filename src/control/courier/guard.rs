//! The queries of a guard: each is tried until it tells, or has no tries left. One refusal refuses the attempt; otherwise
//! one that cannot tell leaves it to `on_timeout`.

use std::time::Duration;

use super::{Asking, Returned, Shared, sql};
use crate::model::event::GuardVerdict;
use crate::model::id::Name;
use crate::model::scenario::{Query, QueryKind};
use crate::probe::call::{Called, Caller, HttpCall};

/// Tries of one query that follow each other without a pause of their own.
const PAUSE_LEAST: Duration = Duration::from_millis(10);

pub(super) async fn ask(shared: Shared, ask: Asking) {
    let mut undecided: Vec<String> = Vec::new();
    for query in &ask.queries {
        let (verdict, detail) = one(&shared, &ask, query).await;
        let detail = format!("query {}: {detail}", query.name);
        match verdict {
            GuardVerdict::Pass => {}
            GuardVerdict::CannotTell => undecided.push(detail),
            GuardVerdict::Refuse => return answer(&shared, &ask, verdict, detail).await,
        }
    }
    match undecided.is_empty() {
        true => answer(&shared, &ask, GuardVerdict::Pass, "all queries have passed".to_owned()).await,
        false => answer(&shared, &ask, GuardVerdict::CannotTell, undecided.join("; ")).await,
    }
}

async fn answer(shared: &Shared, ask: &Asking, verdict: GuardVerdict, detail: String) {
    let (scenario, attempt) = (Name::clone(&ask.scenario), ask.attempt);
    let _ = shared.returned.send(Returned::Asked { scenario, attempt, verdict, detail: detail.into() }).await;
}

async fn one(shared: &Shared, ask: &Asking, query: &Query) -> (GuardVerdict, String) {
    let mut left = ask.retries;
    loop {
        let begun = shared.clock.now().tick;
        let (verdict, detail) = attempt(&shared.caller, ask, query).await;
        let (query_name, took) = (Name::clone(&query.name), shared.clock.now().tick.since(begun));
        let tried = Returned::Tried { query: query_name, verdict, detail: detail.as_str().into(), took };
        let _ = shared.returned.send(tried).await;
        if verdict != GuardVerdict::CannotTell || left == 0 {
            return (verdict, detail);
        }
        left -= 1;
        tokio::time::sleep(ask.backoff.max(PAUSE_LEAST)).await;
    }
}

async fn attempt(caller: &Caller, ask: &Asking, query: &Query) -> (GuardVerdict, String) {
    match &query.kind {
        QueryKind::Http { uri, method, headers, expect } => {
            let call = HttpCall {
                uri: Name::clone(uri),
                method: Name::clone(method),
                headers: headers.clone(),
                body: None,
                expect: expect.clone(),
                timeout: query.timeout.min(ask.timeout),
            };
            judge(caller.call(&call).await)
        }
        QueryKind::Sql { .. } => sql::ask(caller.surroundings(), query, query.timeout.min(ask.timeout)).await,
    }
}

/// An answer that says something else refuses; no answer, one of a receiver in trouble, and one that could not be
/// compared, cannot tell.
fn judge(called: Called) -> (GuardVerdict, String) {
    match called {
        Called::Expected(line) => (GuardVerdict::Pass, line),
        Called::Other { status, why, body, shape, .. } => {
            let trouble = !body && (status >= 500 || matches!(status, 300..=399 | 408 | 429));
            let verdict = if trouble || shape { GuardVerdict::CannotTell } else { GuardVerdict::Refuse };
            (verdict, why)
        }
        Called::Silent(why) => (GuardVerdict::CannotTell, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(status: u16, body: bool, shape: bool) -> GuardVerdict {
        judge(Called::Other { status, why: String::new(), body, shape, retry_after: None }).0
    }

    #[test]
    fn another_answer_refuses_and_trouble_cannot_tell() {
        assert_eq!(judge(Called::Expected(String::new())).0, GuardVerdict::Pass);
        assert_eq!(other(200, true, false), GuardVerdict::Refuse);
        assert_eq!(other(404, false, false), GuardVerdict::Refuse);
        for (status, body, shape) in [(503, false, false), (302, false, false), (429, false, false), (200, true, true)]
        {
            assert_eq!(other(status, body, shape), GuardVerdict::CannotTell, "{status}");
        }
        assert_eq!(judge(Called::Silent(String::new())).0, GuardVerdict::CannotTell);
    }
}
