//! Lines of NetScaler's command line, and of an `ns.conf`.

mod token;

pub use token::{Token, tokens};
