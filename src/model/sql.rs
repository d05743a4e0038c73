//! What a configuration says of SQL, taken apart: which database, where it is, parameters of statements, expectations.
//! Everything here is said at load, with its place, and again where a statement is run.

mod dsn;
mod expectation;
mod text;

pub use dsn::Dsn;
pub use expectation::{Expectation, is_comparison};
pub use text::{Text, names, only_reads};

/// Values that a trigger's statement may name, as `:scenario`.
pub const TRIGGER_VALUES: [&str; 7] = ["scenario", "direction", "seq", "evaluated_at", "cause", "key", "payload"];

/// The types of databases, as configurations name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Oracle,
    Postgresql,
    /// And MariaDB.
    Mysql,
}

// === impl Dialect ===

impl Dialect {
    pub fn of(word: &str) -> Option<Dialect> {
        Some(match word {
            "ORACLE" => Dialect::Oracle,
            "POSTGRESQL" => Dialect::Postgresql,
            "MYSQL" => Dialect::Mysql,
            _ => return None,
        })
    }

    /// Where its servers listen where nothing else is said.
    pub fn port(self) -> u16 {
        match self {
            Dialect::Oracle => 1521,
            Dialect::Postgresql => 5432,
            Dialect::Mysql => 3306,
        }
    }
}
