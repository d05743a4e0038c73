//! Field lines: name and value as places in the head, so that nothing is copied to be looked at.

use super::{Refusal, refuse};

/// A place in the bytes of a head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    at: u32,
    end: u32,
}

/// One field of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: Span,
    /// Trimmed.
    pub value: Span,
    pub kind: Kind,
}

/// The fields that a relay must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Host,
    ContentLength,
    TransferEncoding,
    Connection,
    KeepAlive,
    ProxyConnection,
    Upgrade,
    Te,
    Trailer,
    Expect,
    Cookie,
    XForwardedFor,
    /// `content_length`, `transfer_encoding`: what some servers take for the fields that they look like.
    LooksLikeFraming,
    Other,
}

/// What the Connection fields of a message say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub close: bool,
    pub keep_alive: bool,
    pub upgrade: bool,
    /// Other fields are named, which end here.
    pub names_fields: bool,
}

// === impl Span ===

impl Span {
    pub(crate) fn new(at: usize, end: usize) -> Span {
        // A head has 64 KiB at most.
        let place = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Span { at: place(at), end: place(end) }
    }

    /// The bytes at this place of the head that it was found in.
    pub fn of(self, head: &[u8]) -> &[u8] {
        head.get(self.at as usize..self.end as usize).unwrap_or_default()
    }

    /// As text; for what the grammar lets be ASCII only.
    pub fn text(self, head: &[u8]) -> &str {
        std::str::from_utf8(self.of(head)).unwrap_or_default()
    }
}

// === impl Field ===

impl Field {
    /// Parses the line (without its CR LF) that begins at `at` in its head.
    pub(crate) fn parse(line: &[u8], at: usize) -> Result<Field, Refusal> {
        let (name, value) = parts(line)?;
        let kind = Kind::of(&line[..name]);
        Ok(Field { name: Span::new(at, at + name), value: Span::new(at + value.0, at + value.1), kind })
    }
}

// === impl Kind ===

impl Kind {
    fn of(name: &[u8]) -> Kind {
        let known: &[(&str, Kind)] = match name.len() {
            2 => &[("te", Kind::Te)],
            4 => &[("host", Kind::Host)],
            6 => &[("cookie", Kind::Cookie), ("expect", Kind::Expect)],
            7 => &[("upgrade", Kind::Upgrade), ("trailer", Kind::Trailer)],
            10 => &[("connection", Kind::Connection), ("keep-alive", Kind::KeepAlive)],
            14 => &[("content-length", Kind::ContentLength), ("content_length", Kind::LooksLikeFraming)],
            15 => &[("x-forwarded-for", Kind::XForwardedFor)],
            16 => &[("proxy-connection", Kind::ProxyConnection)],
            17 => &[("transfer-encoding", Kind::TransferEncoding), ("transfer_encoding", Kind::LooksLikeFraming)],
            _ => &[],
        };
        known.iter().find(|(word, _)| name.eq_ignore_ascii_case(word.as_bytes())).map_or(Kind::Other, |&(_, kind)| kind)
    }

    /// Whether the field is about one connection and ends here. Framing is written anew.
    pub fn is_hop_by_hop(self) -> bool {
        matches!(
            self,
            Kind::Connection
                | Kind::KeepAlive
                | Kind::ProxyConnection
                | Kind::Upgrade
                | Kind::Te
                | Kind::Trailer
                | Kind::TransferEncoding
        )
    }
}

// === impl Options ===

impl Options {
    /// Adds what one Connection field says.
    pub fn note(&mut self, value: &[u8]) {
        for option in names(value) {
            let is = |word: &str| option.eq_ignore_ascii_case(word.as_bytes());
            if is("close") {
                self.close = true;
            } else if is("keep-alive") {
                self.keep_alive = true;
            } else if is("upgrade") {
                self.upgrade = true;
            } else if !option.is_empty() {
                self.names_fields = true;
            }
        }
    }
}

/// The names in a Connection field.
pub fn names(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(<[u8]>::trim_ascii)
}

/// Whether a Connection field of this message names `field`.
pub fn is_named(head: &[u8], fields: &[Field], field: Field) -> bool {
    let name = field.name.of(head);
    let connection = fields.iter().filter(|f| f.kind == Kind::Connection);
    connection.flat_map(|f| names(f.value.of(head))).any(|named| named.eq_ignore_ascii_case(name))
}

/// The end of the name, and where the trimmed value stands, in one field line (without its CR LF).
pub(super) fn parts(line: &[u8]) -> Result<(usize, (usize, usize)), Refusal> {
    if line.first().is_some_and(|b| matches!(b, b' ' | b'\t')) {
        return refuse(400, "folded field line");
    }
    // A colon cannot stand in a name: where the name ends is where it must be.
    let colon = token_length(line);
    if colon == 0 || line.get(colon) != Some(&b':') {
        let has_colon = line.contains(&b':');
        return refuse(400, if has_colon { "malformed field name" } else { "field line without a colon" });
    }
    let value = &line[colon + 1..];
    if has_control(value) {
        return refuse(400, "control byte in a field value");
    }
    let value = value.trim_ascii_start();
    let begin = line.len() - value.len();
    Ok((colon, (begin, begin + value.trim_ascii_end().len())))
}

/// Control bytes other than the tab.
pub(crate) fn has_control(text: &[u8]) -> bool {
    let has = |word: &[u8; 8]| has_low_or_del(u64::from_ne_bytes(*word)) && word.iter().any(|&b| is_control(b));
    match text.last_chunk() {
        // What the words leave over is in the last eight bytes.
        Some(last) => text.as_chunks().0.iter().any(has) || has(last),
        None => text.iter().any(|&b| is_control(b)),
    }
}

const fn is_control(b: u8) -> bool {
    (b < 0x20 && b != b'\t') || b == 0x7f
}

/// Whether any byte of eight is below 0x20 or is 0x7f.
const fn has_low_or_del(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    let low = word.wrapping_sub(ONES * 0x20) & !word;
    let no_del = word ^ (ONES * 0x7f);
    let del = no_del.wrapping_sub(ONES) & !no_del;
    (low | del) & HIGH != 0
}

/// Bytes of a token (RFC 9110 §5.6.2).
static TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 128u8 {
        table[b as usize] = b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
            );
        b += 1;
    }
    table
};

/// How many bytes at the beginning may stand in a token.
pub(super) fn token_length(text: &[u8]) -> usize {
    text.iter().position(|&b| !TOKEN[b as usize]).unwrap_or(text.len())
}

pub(super) fn is_token(text: &[u8]) -> bool {
    text.iter().all(|&b| TOKEN[b as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_byte_is_seen_wherever_it_stands_and_nothing_else_is_taken_for_one() {
        for b in 0..=255_u8 {
            for (length, filler) in (1..20).flat_map(|length| [(length, b'a'), (length, 0xff), (length, b'\t')]) {
                for at in 0..length {
                    let mut text = vec![filler; length];
                    text[at] = b;
                    assert_eq!(has_control(&text), (b < 0x20 && b != b'\t') || b == 0x7f, "{text:?}");
                }
            }
        }
    }
}
