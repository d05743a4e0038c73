//! L1: NetScaler's words for what a configuration says. Pure, like the configuration that it edits.
//!
//! One set of tables ([`resource`]) names every attribute: how NITRO and the command line spell it, how NITRO writes its
//! value, and where it stands in the TOML. A [`statement`] is one command, whichever way it came in; a
//! [`document::Document`] carries it out on a configuration and answers as NetScaler would, with its numbers of errors
//! ([`error`]). Whatever a table does not name is refused, and what it names and this build does not carry out is refused
//! by name. A [`line`](mod@line) of an `ns.conf` is read as statements, and [`export`] writes a configuration as such
//! lines; [`import`](mod@import) does so with a whole file.

pub mod capture;
pub mod choices;
pub mod document;
pub mod error;
pub mod export;
mod gslb;
pub mod import;
pub mod line;
mod network;
pub mod resource;
pub mod statement;
mod table;
mod value;
