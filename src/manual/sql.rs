//! # SQL: what guards ask and triggers do
//!
//! A query of type ORACLE, POSTGRESQL or MYSQL is one statement and one comparison; a trigger of these types is one
//! statement in a transaction of its own; how guards ask and triggers are repeated is told under
//! [`triggers`](super::triggers). Checks of type ORACLE ([`monitors`](super::monitors)) go the same way.
//!
//! ```toml
//! [query.log-shipping]
//! type     = "ORACLE"
//! dsn      = "192.0.2.30:1521/BACKUP"
//! user     = "gtm"
//! password = { file = "oracle.secret" }
//! sql      = "select round((sysdate - max(next_time)) * 86400) from v$archived_log where applied = 'YES'"
//! expect   = "<= 60"
//! timeout  = "5s"
//! ```
//!
//! | key | |
//! |---|---|
//! | `dsn` | `HOST[:PORT]/DATABASE`; `tcps://` before it is TLS, verified against the system's roots. Ports: 1521, 5432, 3306. ORACLE takes whatever Oracle's clients take, also a whole `(DESCRIPTION=…)` |
//! | `user`, `password` | the password from `env` or `file`, read for each statement |
//! | `sql` | one statement; a second one behind a semicolon is the database's error |
//! | `expect` (checks: `sql_expect`) | an operator (`=`, `!=`, `<>`, `<`, `<=`, `>`, `>=`) and a number or a text in single quotes |
//! | `timeout` | of everything: connection, login, statement |
//!
//! ## What is compared
//!
//! The first value of the first row; where the statement has no result, the number of rows that it changed. A number is
//! compared as a number of 64 bits (15 digits are exact), a text byte by byte. Truth values of PostgreSQL are the texts
//! `true` and `false`; other types that have no one text, such as dates, are to be cast: `::text`, `to_char(…)`.
//!
//! | outcome | when |
//! |---|---|
//! | pass | the comparison holds |
//! | refuse | it does not |
//! | cannot tell: *cannot ask* | no secret, no driver, a statement that names an unknown value |
//! | cannot tell: *cannot connect* | no connection, or no login: a wrong password, a locked account, a database that is not there |
//! | cannot tell: *timed out* | a deadline passed |
//! | cannot tell: *database error* | in the database's own words: `ORA-00942: …`, `42P01 …`, `error 1146 …` |
//! | cannot tell: *wrong shape* | no row, NULL, a text where a number is expected |
//!
//! ## Values
//!
//! `:name` in a statement, outside of texts, quoted names and comments, is a value that is bound and never becomes a part
//! of the statement's text: `:scenario`, `:direction`, `:seq`, `:evaluated_at`, `:cause`, `:key`, `:payload`. All are
//! texts; PostgreSQL reads them as the type that the place wants, MySQL and Oracle convert them.
//!
//! ## Reading and acting
//!
//! A query runs in a read-only transaction and is rolled back: POSTGRESQL by `READ ONLY`, MYSQL by a read-only session (a
//! CREATE or TRUNCATE would otherwise commit by itself), ORACLE by `SET TRANSACTION READ ONLY` and only where it begins
//! with SELECT or WITH. A function that writes in an autonomous transaction of Oracle's escapes that: give the user no
//! such function, and a role that may only read.
//!
//! A trigger's statement is committed, also where its answer is another one than expected: that counts as a failed
//! attempt, and it is tried again. Where the time is over, or the connection breaks, while the commit is on its way,
//! nobody here can know whether it took place, and it is tried again: make the statement safe to repeat by `:key`, which
//! stays the same over all tries.
//!
//! A statement that takes longer than its time is ended on the server, too, as far as it lets us: by `statement_timeout`,
//! `max_statement_time` (MariaDB) or `max_execution_time` (MySQL: SELECT alone), and by a break (ORACLE).
//!
//! ## ORACLE
//!
//! The driver is Oracle's own thin driver for Rust, which needs no client library. It is in builds with
//! `--features oracle`; another build says at use that it has no driver. It runs in a process of its own for each
//! statement, because it may wait for ever for a server that takes a connection and says nothing, and gives up on answers
//! that it does not understand: that process gets what to ask over its standard input, never in its arguments or
//! environment, may use 1 GiB of memory, and is killed at the deadline. Eight run at once.
//!
//! Accounts that have an 11g verifier alone (`PASSWORD_VERSIONS` in `DBA_USERS`) are unknown to the driver: it *cannot
//! connect*. Give the account a new password where the server makes 12C verifiers.
//!
//! **What this has been verified against**: a test server that speaks Oracle's protocol (versions 19 and 23; it is in
//! `tests/support/tns`), which Oracle's own thin client for Python takes for a database, and not against a database of
//! Oracle's. POSTGRESQL has been verified against PostgreSQL and MYSQL against MariaDB.
