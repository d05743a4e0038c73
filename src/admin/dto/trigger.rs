//! Triggers and queries: definitions. Neither is carried out in this build, and each says so.

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::{QueryId, TriggerId};
use crate::model::scenario::{GuardStep, QueryKind, TriggerKind};

dto! {
    /// What acts on a transition.
    pub struct TriggerDto {
        pub name: String,
        /// `HTTP`, `ORACLE`, `POSTGRESQL`, `MYSQL`.
        pub r#type: String,
        /// Where it goes; credentials are left out.
        pub endpoint: String,
        pub timeout: String,
        /// Most attempts for one delivery.
        pub attempts: u32,
        /// `SCENARIO activate`, `SCENARIO deactivate`.
        pub used_by: Vec<String>,
        /// Whether this build delivers it.
        pub available: bool,
        /// What happens when it fires.
        pub note: String,
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
        /// What happens when a guard asks it.
        pub note: String,
    }
}

// === impl TriggerDto ===

impl TriggerDto {
    pub fn of(world: &World<'_>, id: TriggerId) -> TriggerDto {
        let trigger = &world.model.triggers[id.index()];
        let (kind, endpoint) = match &trigger.kind {
            TriggerKind::Http { uri, .. } => ("HTTP".to_owned(), without_credentials(uri)),
            TriggerKind::Sql { database, .. } => (text(&database.kind), without_credentials(&database.dsn)),
        };
        TriggerDto {
            name: text(&trigger.name),
            r#type: kind,
            endpoint,
            timeout: format_duration(trigger.timeout),
            attempts: trigger.retry.attempts,
            used_by: users(world, |rules| rules.triggers.contains(&id)),
            available: false,
            note: "delivery is not in this build: a trigger that fires is recorded as not_delivered".into(),
        }
    }
}

// === impl QueryDto ===

impl QueryDto {
    pub fn of(world: &World<'_>, id: QueryId) -> QueryDto {
        let query = &world.model.queries[id.index()];
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
            available: false,
            note: "queries are not in this build: a guard that asks one cannot tell, and its on_timeout decides".into(),
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
