//! Triggers and queries: definitions, and how they went since the start of the process.

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::{QueryId, TriggerId};
use crate::model::scenario::{Database, GuardStep, QueryKind, TriggerKind};

dto! {
    /// What acts on a transition.
    pub struct TriggerDto {
        pub name: String,
        /// `HTTP`, `ORACLE`, `POSTGRESQL`, `MYSQL`, `SYSLOG`.
        pub r#type: String,
        /// Where it goes; credentials are left out.
        pub endpoint: String,
        pub timeout: String,
        /// Most attempts for one delivery.
        pub attempts: u32,
        /// `SCENARIO activate`, `SCENARIO deactivate`, `alert NAME`.
        pub used_by: Vec<String>,
        /// Whether this build delivers it.
        pub available: bool,
        /// Why not.
        pub note: Option<String>,
        /// The circuit breaker of its endpoint: `closed`, `open` or `half open`.
        pub breaker: String,
        /// When an open one lets the next attempt go.
        pub breaker_until: Option<String>,
        /// Deliveries that wait.
        pub pending: u64,
        /// Commits that sent it off.
        pub fired: u64,
        /// Commits whose gate held it back.
        pub suppressed: u64,
        pub delivered: u64,
        /// Attempts without the expected answer.
        pub failed_attempts: u64,
        /// Deliveries that were given up.
        pub dead: u64,
        /// What the newest of its failed deliveries got.
        pub last_error: Option<String>,
    }

    /// What a guard asks.
    pub struct QueryDto {
        pub name: String,
        /// `HTTP`, `ORACLE`, `POSTGRESQL`, `MYSQL`.
        pub r#type: String,
        /// Where it goes; credentials are left out.
        pub endpoint: String,
        /// The value that passes.
        pub expect: Option<String>,
        pub timeout: String,
        /// `SCENARIO activate`, `SCENARIO deactivate`.
        pub used_by: Vec<String>,
        /// Whether this build can ask it.
        pub available: bool,
        /// Why not.
        pub note: Option<String>,
        /// Tries that passed.
        pub passed: u64,
        /// Tries that refused.
        pub refused: u64,
        /// Tries that could not tell.
        pub undecided: u64,
        /// When it was last asked.
        pub last_at: Option<String>,
        /// What it said.
        pub last: Option<String>,
    }
}

/// What follows where this build has no driver for the database.
fn lacking(database: &Database, therefore: &str) -> Option<String> {
    let lacks = &*database.kind == "ORACLE" && !cfg!(feature = "oracle");
    lacks.then(|| format!("this build has no driver for {}: {therefore}", database.kind))
}

// === impl TriggerDto ===

impl TriggerDto {
    pub fn of(world: &World<'_>, id: TriggerId) -> TriggerDto {
        let trigger = &world.model.triggers[id.index()];
        let book = world.deliveries;
        let kept = || book.deliveries.values().filter(|d| d.trigger == trigger.name);
        let counts = book.counts.get(&trigger.name).copied().unwrap_or_default();
        let breaker = book.breakers.get(&trigger.endpoint());
        let alerts = world.model.alerts.iter().filter(|alert| alert.triggers.contains(&id));
        let alerts = alerts.map(|alert| format!("alert {}", alert.name));
        let absent = match &trigger.kind {
            TriggerKind::Http { .. } | TriggerKind::Syslog { .. } => None,
            TriggerKind::Sql { database, .. } => lacking(database, "each attempt fails"),
        };
        let (kind, endpoint) = match &trigger.kind {
            TriggerKind::Http { uri, .. } => ("HTTP".to_owned(), without_credentials(uri)),
            TriggerKind::Sql { database, .. } => (text(&database.kind), without_credentials(&database.dsn)),
            TriggerKind::Syslog { syslog, .. } => ("SYSLOG".to_owned(), syslog.to.to_string()),
        };
        TriggerDto {
            name: text(&trigger.name),
            r#type: kind,
            endpoint,
            timeout: format_duration(trigger.timeout),
            attempts: trigger.retry.attempts,
            used_by: users(world, |rules| rules.triggers.contains(&id)).into_iter().chain(alerts).collect(),
            available: absent.is_none(),
            note: absent,
            breaker: breaker.map_or_else(|| "closed".into(), |b| text(b.word)),
            breaker_until: breaker.and_then(|b| b.until.map(|until| until.to_string())),
            pending: kept().filter(|d| d.is_pending()).count() as u64,
            fired: counts.fired,
            suppressed: counts.suppressed,
            delivered: counts.delivered,
            failed_attempts: counts.failed_attempts,
            dead: counts.dead,
            last_error: kept().rev().find_map(|d| d.last_error.as_deref().map(text)),
        }
    }
}

// === impl QueryDto ===

impl QueryDto {
    pub fn of(world: &World<'_>, id: QueryId) -> QueryDto {
        let query = &world.model.queries[id.index()];
        let counts = world.queries.get(&query.name).cloned().unwrap_or_default();
        let absent = match &query.kind {
            QueryKind::Http { .. } => None,
            QueryKind::Sql { database, .. } => {
                lacking(database, "a guard that asks it cannot tell, and its on_timeout decides")
            }
        };
        let (kind, endpoint) = match &query.kind {
            QueryKind::Sql { database, .. } => (text(&database.kind), without_credentials(&database.dsn)),
            QueryKind::Http { uri, .. } => ("HTTP".to_owned(), without_credentials(uri)),
        };
        QueryDto {
            name: text(&query.name),
            r#type: kind,
            endpoint,
            expect: query.expect.as_deref().map(text),
            timeout: format_duration(query.timeout),
            used_by: users(world, |rules| {
                let steps = rules.guard.iter().flat_map(|g| &g.run);
                steps.into_iter().any(|s| matches!(s, GuardStep::Query(q) if *q == id))
            }),
            available: absent.is_none(),
            note: absent,
            passed: counts.passed,
            refused: counts.refused,
            undecided: counts.undecided,
            last_at: counts.last.as_ref().map(|last| last.at.to_string()),
            last: counts.last.as_ref().map(|last| text(&last.said)),
        }
    }
}

fn users(world: &World<'_>, uses: impl Fn(&crate::model::scenario::DirectionRules) -> bool) -> Vec<String> {
    let mut users = Vec::new();
    for scenario in &world.model.scenarios {
        for direction in crate::model::scenario::Direction::BOTH {
            if uses(&scenario.directions[direction.index()]) {
                users.push(format!("{} {}", scenario.name, direction.word()));
            }
        }
    }
    users
}

/// A URI or DSN without `user:password@`, and without the values of its query, which often hold keys.
fn without_credentials(uri: &str) -> String {
    let (base, query) = match uri.split_once('?') {
        Some((base, _)) => (base, "?…"),
        None => (uri, ""),
    };
    let (scheme, rest) = match base.find("://") {
        Some(at) => base.split_at(at + 3),
        None => ("", base),
    };
    // A DSN without a scheme may hold `user/password@host`: everything before the last `@` goes.
    let authority_end = if scheme.is_empty() { rest.len() } else { rest.find('/').unwrap_or(rest.len()) };
    let start = rest[..authority_end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}{}{query}", &rest[start..])
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn an_endpoint_is_shown_without_its_credentials() {
        for (uri, shown) in [
            ("https://example.test/hook", "https://example.test/hook"),
            ("https://me:pw@example.test/a@b?key=secret", "https://example.test/a@b?…"),
            ("127.0.0.1:1521/BACKUP", "127.0.0.1:1521/BACKUP"),
            ("gtm/pw@db.example/BACKUP", "db.example/BACKUP"),
            ("https://p@ss:w@rd@host", "https://host"),
        ] {
            assert_eq!(without_credentials(uri), shown);
        }
    }
}
