//! Statements: the queries of guards that read by SQL, and the triggers that act by it.

use std::time::Duration;

use super::failure;
use crate::model::delivery::{Delivery, Failure};
use crate::model::event::GuardVerdict;
use crate::model::scenario::{Query, QueryKind, Trigger, TriggerKind};
use crate::probe::Surroundings;
use crate::probe::sql::{Access, Outcome, Statement, Times, Trouble, run};

/// One try of a query.
pub(super) async fn ask(around: &Surroundings, query: &Query, timeout: Duration) -> (GuardVerdict, String) {
    let QueryKind::Sql { database, sql } = &query.kind else {
        return (GuardVerdict::CannotTell, "not a query of SQL".to_owned());
    };
    let (expect, times) = (query.expect.as_deref(), Times::within(timeout));
    let statement = Statement { database, sql, binds: &[], access: Access::Read, expect, times };
    match run(&statement, around, None).await {
        Outcome::Pass(why) => (GuardVerdict::Pass, why),
        Outcome::Refuse(why) => (GuardVerdict::Refuse, why),
        Outcome::CannotTell(trouble, why) => (GuardVerdict::CannotTell, format!("{}: {why}", trouble.word())),
    }
}

/// One attempt of a trigger. Its values are those of [`TRIGGER_VALUES`](crate::model::sql::TRIGGER_VALUES).
pub(super) async fn deliver(around: &Surroundings, delivery: &Delivery, trigger: &Trigger) -> Result<(), Failure> {
    let TriggerKind::Sql { database, sql, expect } = &trigger.kind else {
        return Err(failure("not a trigger of SQL", false));
    };
    let payload: serde_json::Value = serde_json::from_str(&delivery.payload).unwrap_or_default();
    let said = |member: &str| payload[member].as_str().unwrap_or("");
    let seq = delivery.seq.to_string();
    let binds = [
        ("scenario", &*delivery.scenario),
        ("direction", delivery.direction.word()),
        ("seq", &*seq),
        ("evaluated_at", said("evaluated_at")),
        ("cause", said("cause")),
        ("key", &*delivery.key),
        ("payload", &*delivery.payload),
    ];
    let (expect, times) = (expect.as_deref(), Times::within(trigger.timeout));
    let statement = Statement { database, sql, binds: &binds, access: Access::Act, expect, times };
    match run(&statement, around, None).await {
        Outcome::Pass(_) => Ok(()),
        Outcome::Refuse(why) => Err(failure(&why, false)),
        Outcome::CannotTell(trouble, why) => {
            // What the database itself would not do says nothing about whether others can reach it.
            let endpoint = matches!(trouble, Trouble::Connect | Trouble::TimedOut);
            Err(failure(&format!("{}: {why}", trouble.word()), endpoint))
        }
    }
}
