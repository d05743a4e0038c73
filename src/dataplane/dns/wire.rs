//! DNS messages by hand: a strict parser for queries and a writer for answers. Neither allocates for a plain query.

mod options;
mod parse;
mod write;

#[cfg(test)]
mod tests;

pub use options::{Cookie, Opt, Options, Subnet};
pub use parse::{Edns, LowerName, Malformed, Query, parse};
pub use write::{Full, Section, Writer};

/// The UDP payload that is sent and announced at most: it passes every path unfragmented (RFC 9715).
pub const UDP_PAYLOAD_MAX: u16 = 1232;
/// The UDP payload of a client that says nothing (RFC 1035 §4.2.1).
pub const UDP_PAYLOAD_PLAIN: u16 = 512;
pub const HEADER: usize = 12;

pub const CLASS_IN: u16 = 1;
pub const OPCODE_QUERY: u8 = 0;

/// Response codes (RFC 1035, RFC 6891, RFC 7873).
pub mod rcode {
    pub const NOERROR: u16 = 0;
    pub const FORMERR: u16 = 1;
    pub const SERVFAIL: u16 = 2;
    pub const NXDOMAIN: u16 = 3;
    pub const NOTIMP: u16 = 4;
    pub const REFUSED: u16 = 5;
    pub const BADVERS: u16 = 16;
    pub const BADCOOKIE: u16 = 23;

    /// The name in presentation format; `RCODE<n>` for others.
    pub fn name(code: u16) -> String {
        match code {
            NOERROR => "NOERROR".into(),
            FORMERR => "FORMERR".into(),
            SERVFAIL => "SERVFAIL".into(),
            NXDOMAIN => "NXDOMAIN".into(),
            NOTIMP => "NOTIMP".into(),
            REFUSED => "REFUSED".into(),
            BADVERS => "BADVERS".into(),
            BADCOOKIE => "BADCOOKIE".into(),
            other => format!("RCODE{other}"),
        }
    }
}

/// An extended DNS error (RFC 8914).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedError {
    pub code: u16,
    pub text: &'static str,
}
