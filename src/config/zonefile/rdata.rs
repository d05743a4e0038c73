//! RDATA between presentation and wire form, through the crate `domain`; what it does not know is in [`own`].

mod own;

use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use domain::base::iana::{Class, Rtype};
use domain::base::name::{Name, ParsedName};
use domain::base::rdata::{ComposeRecordData, ParseRecordData};
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;
use domain::zonefile::inplace::{Entry, Zonefile};

use super::lines::{Token, cut};
use super::{ZoneProblem, parse_ttl};
use crate::model::zone::{DnsName, RecordType};

/// NSEC, RRSIG, NSEC3, NSEC3PARAM, SIG, NXT.
const SIGNATURES: [u16; 6] = [47, 46, 50, 51, 24, 30];

/// Reads the data of one record in presentation format, names relative to `origin`: `192.0.2.1`, `10 mail`,
/// `"v=spf1 -all"`, `\# 4 c0000201`. The result is uncompressed wire form.
pub fn rdata(rtype: RecordType, text: &str, origin: &DnsName) -> Result<Arc<[u8]>, String> {
    let cut = cut(text);
    if let Some(problem) = cut.problems.into_iter().next() {
        return Err(problem.what);
    }
    // In one record's data a comment is a text whose quotes were forgotten: `v=DMARC1; p=none`.
    if cut.comment.is_some() {
        return Err(format!("{rtype}: `;` begins a comment; put the text in quotes"));
    }
    let tokens = match cut.lines.as_slice() {
        [] => return Err(format!("{rtype}: the data is empty")),
        [line] => &line.tokens,
        _ => return Err(format!("{rtype}: the data is more than one line")),
    };
    let last = tokens.last().expect("lines are not empty");
    from_tokens(rtype, tokens, origin, last).map_err(|problem| problem.what)
}

/// RDATA as people read it; names are absolute. What cannot be read as its type comes out as RFC 3597 has it:
/// `\# 4 c0000201`. [`rdata`] reads either back.
pub fn presentation(rtype: RecordType, rdata: &[u8]) -> String {
    let generic = || {
        let hex: String = rdata.iter().map(|b| format!("{b:02x}")).collect();
        format!("\\# {} {hex}", rdata.len()).trim_end().to_owned()
    };
    if own::knows(rtype) {
        return own::presentation(rtype, rdata).unwrap_or_else(generic);
    }
    let data = match parse_wire(as_domain_type(rtype), rdata) {
        None | Some(ZoneRecordData::Unknown(_)) => return generic(),
        Some(data) => data,
    };
    // Printing must say what the bytes say: what would not read back is shown as bytes.
    let text = data.display_zonefile(DisplayKind::Simple).to_string();
    match self::rdata(rtype, &text, &DnsName::root()) {
        Ok(back) if *back == *rdata => text,
        _ => generic(),
    }
}

/// A type by name or `TYPEn`, beyond those that the model has names for.
pub(super) fn parse_type(word: &str) -> Option<RecordType> {
    RecordType::parse(word).or_else(|| Rtype::from_str(word).ok().map(|t| RecordType(t.to_int())))
}

/// `end` is where a problem with what is missing is placed.
pub(super) fn from_tokens(
    rtype: RecordType,
    tokens: &[Token],
    origin: &DnsName,
    end: &Token,
) -> Result<Arc<[u8]>, ZoneProblem> {
    let fail = |at: &Token, what: String| Err(at.problem(format!("{rtype}: {what}")));
    if rtype.0 == 0 || rtype == RecordType::OPT || (128..=255).contains(&rtype.0) {
        return fail(end, "is not a type of data".into());
    }
    if SIGNATURES.contains(&rtype.0) {
        return fail(end, "zones that are signed beforehand are not served".into());
    }
    let Some(first) = tokens.first() else {
        return fail(end, "the data is missing".into());
    };
    if let Some(token) = tokens.iter().find(|t| !t.quoted && !t.text.is_ascii()) {
        return fail(token, format!("`{}` is not ASCII; quote texts, write names as `xn--…`", token.text));
    }
    let generic = first.text == "\\#";
    if own::knows(rtype) && !generic {
        let wire = own::from_tokens(rtype, tokens);
        return wire.map(Into::into).map_err(|what| first.problem(format!("{rtype}: {what}")));
    }
    if !generic && let Some(token) = names_of(rtype, tokens).find(|t| DnsName::parse(t.text, origin).is_none()) {
        return fail(token, format!("`{}` is not a domain name", token.text));
    }
    let (text, starts) = one_line(rtype, tokens, origin);
    match scan(&text, origin) {
        Ok(rdata) if !is_data(rtype, &rdata) => fail(first, "these bytes are not data of this type".into()),
        Ok(rdata) if rdata.len() > usize::from(u16::MAX) => fail(first, "the data is longer than 65535 bytes".into()),
        Ok(rdata) => Ok(rdata.into()),
        Err((offset, what)) => {
            let at = starts.iter().rposition(|start| *start <= offset).unwrap_or(0);
            let at = if offset >= text.trim_end().len() { end } else { &tokens[at] };
            fail(at, what)
        }
    }
}

/// Where the data of a type has names. `domain` reads them too, but takes `@` for a label and lets empty labels pass.
fn name_positions(rtype: RecordType) -> &'static [usize] {
    match as_domain_type(rtype) {
        Rtype::NS | Rtype::CNAME | Rtype::PTR | Rtype::DNAME => &[0],
        Rtype::MB | Rtype::MD | Rtype::MF | Rtype::MG | Rtype::MR => &[0],
        Rtype::SOA | Rtype::MINFO | Rtype::RP => &[0, 1],
        Rtype::MX | Rtype::SVCB | Rtype::HTTPS => &[1],
        Rtype::SRV => &[3],
        Rtype::NAPTR => &[5],
        _ => &[],
    }
}

fn names_of<'a, 'b>(rtype: RecordType, tokens: &'b [Token<'a>]) -> impl Iterator<Item = &'b Token<'a>> {
    name_positions(rtype).iter().filter_map(|at| tokens.get(*at))
}

/// The entry as one line for the reader, and where each token of the data begins in it. Bytes beyond ASCII, which may
/// stand in quotes, are escaped; times of a SOA become seconds; `@` becomes the origin.
fn one_line(rtype: RecordType, tokens: &[Token], origin: &DnsName) -> (String, Vec<usize>) {
    let mut text = format!("@ 0 IN TYPE{}", as_domain_type(rtype).to_int());
    let mut starts = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        if !token.joined || at == 0 {
            text.push(' ');
        }
        starts.push(text.len());
        let seconds = (rtype == RecordType::SOA && at >= 3).then(|| parse_ttl(token.text)).flatten();
        match seconds {
            Some(seconds) => text += &seconds.to_string(),
            None if token.text == "@" && name_positions(rtype).contains(&at) => text += &origin.to_string(),
            None => token.text.chars().for_each(|c| push_escaped(&mut text, c)),
        }
    }
    text.push('\n');
    (text, starts)
}

fn push_escaped(text: &mut String, c: char) {
    if c.is_ascii() && !c.is_ascii_control() {
        text.push(c);
    } else {
        let mut buffer = [0; 4];
        for byte in c.encode_utf8(&mut buffer).bytes() {
            *text += &format!("\\{byte:03}");
        }
    }
}

/// Runs `domain`'s reader over one entry. One reader for one entry: after an error it must not be asked again.
fn scan(text: &str, origin: &DnsName) -> Result<Vec<u8>, (usize, String)> {
    let mut zone = Zonefile::from(text).allow_invalid();
    zone.set_default_class(Class::IN);
    zone.set_origin(Name::from_octets(Bytes::copy_from_slice(&origin.0)).map_err(|e| (0, e.to_string()))?);
    match zone.next_entry() {
        Ok(Some(Entry::Record(record))) => {
            let mut wire = Vec::new();
            record.data().compose_rdata(&mut wire).map_err(|_| (0, "the data is too long".to_owned()))?;
            Ok(wire)
        }
        Ok(_) => Err((text.len(), "the data is missing".into())),
        Err(error) => {
            let shown = error.to_string();
            let mut parts = shown.splitn(3, ':');
            let column = parts.nth(1).and_then(|c| c.trim().parse::<usize>().ok()).unwrap_or(1);
            let what = parts.next().unwrap_or(&shown).trim().to_owned();
            Err((column.saturating_sub(1), what))
        }
    }
}

type Parsed<'a> = ZoneRecordData<&'a [u8], ParsedName<&'a [u8]>>;

/// The data if it is whole and well-formed for its type.
fn parse_wire(rtype: Rtype, rdata: &[u8]) -> Option<Parsed<'_>> {
    let mut parser = Parser::from_ref(rdata);
    let data = Parsed::parse_rdata(rtype, &mut parser).ok()??;
    (parser.remaining() == 0).then_some(data)
}

fn is_data(rtype: RecordType, rdata: &[u8]) -> bool {
    if own::knows(rtype) { own::is_data(rtype, rdata) } else { parse_wire(as_domain_type(rtype), rdata).is_some() }
}

/// Types whose data has the form of another's.
fn as_domain_type(rtype: RecordType) -> Rtype {
    match rtype.0 {
        // AFSDB, RT, KX, LP: a number and a name (RFC 1183, RFC 2230, RFC 6742).
        18 | 21 | 36 | 107 => Rtype::MX,
        // DHCID: Base64 (RFC 4701).
        49 => Rtype::OPENPGPKEY,
        // SMIMEA (RFC 8162).
        53 => Rtype::TLSA,
        // SPF, AVC, RESINFO (RFC 9606), WALLET: texts.
        99 | 258 | 261 | 262 => Rtype::TXT,
        // ALIAS: a name.
        65_401 => Rtype::PTR,
        other => Rtype::from_int(other),
    }
}
