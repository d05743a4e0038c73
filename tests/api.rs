//! The ways in, from outside: a real reactor behind real sockets, spoken to by an ordinary HTTP client and by the
//! program's own shell.

#![allow(clippy::disallowed_methods, reason = "peers of a test may block")]

#[path = "api/access.rs"]
mod access;
#[path = "api/acts.rs"]
mod acts;
#[path = "api/appliance.rs"]
mod appliance;
#[path = "api/asked.rs"]
mod asked;
#[path = "api/certificates.rs"]
mod certificates;
#[path = "api/commands.rs"]
mod commands;
#[path = "api/described.rs"]
mod described;
#[path = "api/directory.rs"]
mod directory;
#[path = "api/encrypted.rs"]
mod encrypted;
#[path = "api/events.rs"]
mod events;
#[path = "api/figures.rs"]
mod figures;
#[path = "api/nitro.rs"]
mod nitro;
#[path = "api/objects.rs"]
mod objects;
#[path = "api/pages.rs"]
mod pages;
#[path = "api/past.rs"]
mod past;
#[path = "api/people.rs"]
mod people;
#[path = "support/ports.rs"]
mod ports;
#[path = "api/reads.rs"]
mod reads;
#[path = "api/refused.rs"]
mod refused;
#[path = "api/secrets.rs"]
mod secrets;
#[path = "api/setup.rs"]
mod setup;
#[path = "api/shell.rs"]
mod shell;
#[path = "api/standing.rs"]
mod standing;
#[path = "api/terminal.rs"]
mod terminal;
#[path = "api/tokens.rs"]
mod tokens;
#[path = "api/transcript.rs"]
mod transcript;
#[path = "api/users.rs"]
mod users;
#[path = "api/visible.rs"]
mod visible;
