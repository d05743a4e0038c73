//! Types that `domain` does not know, between words and wire form: LOC (RFC 1876), CERT (RFC 4398), APL (RFC 3123),
//! EUI48 and EUI64 (RFC 7043), URI (RFC 7553).

use std::net::IpAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::super::lines::Token;
use crate::model::zone::RecordType;

/// Names of certificate types (RFC 4398 §2.1).
const CERTIFICATES: [(&str, u16); 10] = [
    ("PKIX", 1),
    ("SPKI", 2),
    ("PGP", 3),
    ("IPKIX", 4),
    ("ISPKI", 5),
    ("IPGP", 6),
    ("ACPKIX", 7),
    ("IACPKIX", 8),
    ("URI", 253),
    ("OID", 254),
];

/// The equator and the first meridian on the wire, in thousandths of a second of arc.
const MIDDLE: i64 = 1 << 31;
/// What an altitude on the wire is above, in centimetres.
const DEPTH: i64 = 10_000_000;

/// Whether the type is one of these.
pub(super) fn knows(rtype: RecordType) -> bool {
    matches!(
        rtype,
        RecordType::LOC | RecordType::CERT | RecordType::APL | RecordType::EUI48 | RecordType::EUI64 | RecordType::URI
    )
}

/// From presentation format. Errors: in words.
pub(super) fn from_tokens(rtype: RecordType, tokens: &[Token]) -> Result<Vec<u8>, String> {
    let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    match rtype {
        RecordType::LOC => location(&words),
        RecordType::CERT => certificate(&words),
        RecordType::APL => words.iter().map(|word| prefix(word)).collect::<Result<Vec<_>, _>>().map(|all| all.concat()),
        RecordType::EUI48 => identifier::<6>(&words),
        RecordType::EUI64 => identifier::<8>(&words),
        _ => uri(&words),
    }
}

/// As people read it; `None`: these bytes are not data of the type, or cannot be written so.
pub(super) fn presentation(rtype: RecordType, rdata: &[u8]) -> Option<String> {
    match rtype {
        RecordType::LOC => location_text(rdata),
        RecordType::CERT => {
            let (head, data) = rdata.split_at_checked(5).filter(|(_, data)| !data.is_empty())?;
            let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
            Some(format!("{} {} {} {}", number(0), number(2), head[4], BASE64_STANDARD.encode(data)))
        }
        RecordType::APL => prefixes_text(rdata),
        RecordType::EUI48 if rdata.len() == 6 => Some(pairs(rdata)),
        RecordType::EUI64 if rdata.len() == 8 => Some(pairs(rdata)),
        RecordType::URI => uri_text(rdata),
        _ => None,
    }
}

/// Whether bytes that were given as such are data of the type.
pub(super) fn is_data(rtype: RecordType, rdata: &[u8]) -> bool {
    match rtype {
        // A URI may hold what cannot be written in quotes.
        RecordType::URI => rdata.len() > 4,
        // Later versions of LOC may have any data.
        RecordType::LOC => rdata.first().is_some_and(|version| *version != 0) || location_text(rdata).is_some(),
        _ => presentation(rtype, rdata).is_some(),
    }
}

fn number<T: std::str::FromStr>(word: &str, range: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{word}` is not a number in {range}"))
}

fn certificate(words: &[&str]) -> Result<Vec<u8>, String> {
    let [kind, tag, algorithm, data @ ..] = words else {
        return Err("takes a type, a key tag, an algorithm and the certificate in Base64".into());
    };
    let known = CERTIFICATES.iter().find(|(name, _)| name.eq_ignore_ascii_case(kind));
    let kind = known.map_or_else(|| number::<u16>(kind, "0..=65535, nor a type of certificates"), |(_, n)| Ok(*n))?;
    let mut wire = kind.to_be_bytes().to_vec();
    wire.extend(number::<u16>(tag, "0..=65535")?.to_be_bytes());
    wire.push(number(algorithm, "0..=255")?);
    let data = BASE64_STANDARD.decode(data.concat()).ok().filter(|data| !data.is_empty());
    wire.extend(data.ok_or("the certificate is not in Base64")?);
    Ok(wire)
}

fn identifier<const N: usize>(words: &[&str]) -> Result<Vec<u8>, String> {
    let [word] = words else { return Err("takes one word".into()) };
    let byte = |pair: &str| (pair.len() == 2).then(|| u8::from_str_radix(pair, 16).ok()).flatten();
    let bytes: Option<Vec<u8>> = word.split('-').map(byte).collect();
    bytes.filter(|bytes| bytes.len() == N).ok_or_else(|| format!("`{word}` is not {N} pairs of digits joined by `-`"))
}

fn pairs(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join("-")
}

/// `1:192.0.2.0/24`, `!2:2001:db8::/32`
fn prefix(word: &str) -> Result<Vec<u8>, String> {
    let bad = || format!("`{word}` is not an address prefix such as `1:192.0.2.0/24` or `!2:2001:db8::/32`");
    let (negated, rest) = word.strip_prefix('!').map_or((0, word), |rest| (0x80, rest));
    let (family, rest) = rest.split_once(':').ok_or_else(bad)?;
    let (address, length) = rest.split_once('/').ok_or_else(bad)?;
    let (family, most, mut bytes) = match (family, address.parse().map_err(|_| bad())?) {
        ("1", IpAddr::V4(v4)) => (1u16, 32, v4.octets().to_vec()),
        ("2", IpAddr::V6(v6)) => (2, 128, v6.octets().to_vec()),
        _ => return Err(bad()),
    };
    let length = length.parse::<u8>().ok().filter(|length| *length <= most).ok_or_else(bad)?;
    bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1));
    Ok([&family.to_be_bytes()[..], &[length, negated | bytes.len() as u8], &bytes].concat())
}

fn prefixes_text(mut rdata: &[u8]) -> Option<String> {
    let mut words = Vec::new();
    while !rdata.is_empty() {
        let (head, rest) = rdata.split_at_checked(4)?;
        let (address, rest) = rest.split_at_checked(usize::from(head[3] & 0x7f))?;
        let mut bytes = [0; 16];
        bytes.get_mut(..address.len())?.copy_from_slice(address);
        let address = match (head[0], head[1]) {
            (0, 1) if head[2] <= 32 && address.len() <= 4 => IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]]),
            (0, 2) if head[2] <= 128 => IpAddr::from(bytes),
            _ => return None,
        };
        words.push(format!("{}{}:{address}/{}", if head[3] & 0x80 != 0 { "!" } else { "" }, head[1], head[2]));
        rdata = rest;
    }
    Some(words.join(" "))
}

fn uri(words: &[&str]) -> Result<Vec<u8>, String> {
    let [priority, weight, target] = words else {
        return Err("takes a priority, a weight and a quoted target".into());
    };
    let mut wire = Vec::new();
    wire.extend(number::<u16>(priority, "0..=65535")?.to_be_bytes());
    wire.extend(number::<u16>(weight, "0..=65535")?.to_be_bytes());
    let text = target.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let text = text.filter(|t| !t.is_empty() && !t.contains('\\') && t.is_ascii());
    wire.extend(text.ok_or("the target is a quoted URI without escapes")?.bytes());
    Ok(wire)
}

fn uri_text(rdata: &[u8]) -> Option<String> {
    let (head, target) = rdata.split_at_checked(4)?;
    let target = std::str::from_utf8(target).ok()?;
    let plain = !target.is_empty() && target.bytes().all(|b| (0x21..0x7f).contains(&b) && b != b'"' && b != b'\\');
    let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    plain.then(|| format!("{} {} \"{target}\"", number(0), number(2)))
}

fn location(words: &[&str]) -> Result<Vec<u8>, String> {
    let (latitude, rest) = angle(words, ["N", "S"], 90)?;
    let (longitude, rest) = angle(rest, ["E", "W"], 180)?;
    let [altitude, sizes @ ..] = rest else { return Err("the altitude is missing".into()) };
    let altitude = metres(altitude)?;
    if !(-DEPTH..=i64::from(u32::MAX) - DEPTH).contains(&altitude) || sizes.len() > 3 {
        return Err("after the longitude come altitude, size, horizontal and vertical precision".into());
    }
    let mut wire = vec![0];
    for (at, default) in [0x12, 0x16, 0x13].into_iter().enumerate() {
        wire.push(sizes.get(at).map_or(Ok(default), |word| size(word))?);
    }
    wire.extend((latitude as u32).to_be_bytes());
    wire.extend((longitude as u32).to_be_bytes());
    wire.extend(((altitude + DEPTH) as u32).to_be_bytes());
    Ok(wire)
}

/// `42 21 54.123 N`, and what follows.
fn angle<'a, 'w>(words: &'a [&'w str], sides: [&str; 2], most: i64) -> Result<(i64, &'a [&'w str]), String> {
    let bad = || format!("`degrees [minutes [seconds]] {}|{}` is wanted", sides[0], sides[1]);
    let side = |word: &&str| sides.iter().position(|side| side.eq_ignore_ascii_case(word));
    let end = words.iter().take(4).position(|word| side(word).is_some()).filter(|end| *end > 0).ok_or_else(bad)?;
    let part = |at: usize, below: i64| match words[..end].get(at) {
        None => Ok(0),
        Some(word) => word.parse().ok().filter(|n| (0..below).contains(n)).ok_or_else(bad),
    };
    let seconds = match words[..end].get(2) {
        None => 0,
        Some(word) => decimal(word, 3).filter(|n| (0..60_000).contains(n)).ok_or_else(bad)?,
    };
    let angle = (part(0, most + 1)? * 60 + part(1, 60)?) * 60_000 + seconds;
    if angle > most * 3_600_000 {
        return Err(format!("an angle of more than {most} degrees"));
    }
    let south_or_west = side(&words[end]) == Some(1);
    Ok((if south_or_west { MIDDLE - angle } else { MIDDLE + angle }, &words[end + 1..]))
}

/// Centimetres.
fn metres(word: &str) -> Result<i64, String> {
    let number = word.strip_suffix(['m', 'M']).unwrap_or(word);
    decimal(number, 2).ok_or_else(|| format!("`{word}` is not a length in metres"))
}

/// One digit and a power of ten.
fn size(word: &str) -> Result<u8, String> {
    let (mut digit, mut exponent) = (metres(word)?, 0);
    while digit > 9 && digit % 10 == 0 {
        digit /= 10;
        exponent += 1;
    }
    if !(0..=9).contains(&digit) || exponent > 9 {
        return Err(format!("`{word}`: a size or precision is one digit and zeros, up to 90000000m"));
    }
    Ok((digit as u8) << 4 | exponent)
}

/// A number with at most so many digits behind the point, as a whole number of the last of them.
fn decimal(text: &str, digits: usize) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 10 || part.len() > digits || !all_digits(whole) || !all_digits(part) {
        return None;
    }
    format!("{whole}{part:0<digits$}").parse::<i64>().ok().map(|number| sign * number)
}

fn location_text(rdata: &[u8]) -> Option<String> {
    if rdata.len() != 16 || rdata[0] != 0 {
        return None;
    }
    let word = |at: usize| i64::from(u32::from_be_bytes([rdata[at], rdata[at + 1], rdata[at + 2], rdata[at + 3]]));
    let angle = |wire: i64, sides: [&str; 2], most: i64| {
        let off = (wire - MIDDLE).abs();
        let side = if wire < MIDDLE { sides[1] } else { sides[0] };
        let (seconds, minutes) = (off % 60_000, off / 60_000);
        let text = format!("{} {} {}.{:03} {side}", minutes / 60, minutes % 60, seconds / 1_000, seconds % 1_000);
        (off <= most * 3_600_000).then_some(text)
    };
    let length = |cm: i64| {
        let sign = if cm < 0 { "-" } else { "" };
        format!("{sign}{}.{:02}m", cm.abs() / 100, cm.abs() % 100)
    };
    let size = |byte: u8| {
        let fits = byte >> 4 <= 9 && byte & 15 <= 9;
        fits.then(|| length(i64::from(byte >> 4) * 10i64.pow(u32::from(byte & 15))))
    };
    let latitude = angle(word(4), ["N", "S"], 90)?;
    let longitude = angle(word(8), ["E", "W"], 180)?;
    let altitude = length(word(12) - DEPTH);
    Some(format!("{latitude} {longitude} {altitude} {} {} {}", size(rdata[1])?, size(rdata[2])?, size(rdata[3])?))
}
