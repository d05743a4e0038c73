//! Single values: text into durations, addresses, status codes, days. Each function says what is wrong in words that
//! follow a path and a colon.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::document::{Node, Value};
use super::schema::Kind;
use super::units;
use crate::model::check::{Host, StatusRange};
use crate::model::net::Network;
use crate::model::time::Wall;

/// Compiled size of one expression; the crate's own default allows ten times as much.
const PATTERN_BYTES_MOST: usize = 1 << 20;

/// `http://host:port/path`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub tls: bool,
    pub host: Host,
    pub port: u16,
    /// Origin form, with query; at least `/`.
    pub path: String,
}

/// Whether the value of a leaf is in order. Types are settled before; compound kinds are not looked at.
pub fn check(kind: &Kind, node: &Node) -> Result<(), String> {
    let text = node.text().unwrap_or("");
    match kind {
        Kind::Name if text.is_empty() => Err("cannot be empty".into()),
        Kind::Int(low, high) => integer(node, *low, *high).map(drop),
        Kind::Duration(low, high) => ranged_duration(node, *low, *high),
        Kind::Size(low, high) => {
            let size = size(node)?;
            if (*low..=*high).contains(&size) {
                return Ok(());
            }
            Err(format!(
                "{} is outside {}..={}",
                units::format_size(size),
                units::format_size(*low),
                units::format_size(*high)
            ))
        }
        Kind::Rate(low, high) => {
            let rate = units::parse_rate(text)?;
            if (*low..=*high).contains(&rate) {
                return Ok(());
            }
            let (rate, low, high) = (units::format_rate(rate), units::format_rate(*low), units::format_rate(*high));
            Err(format!("{rate} is outside {low}..={high}"))
        }
        Kind::Socket => socket(text).map(drop),
        Kind::HostPort => host_port(text).map(drop),
        Kind::Host => host(text).map(drop),
        Kind::Ip => ip(text).map(drop),
        Kind::Network => network(text).map(drop),
        Kind::Status => status(node).map(drop),
        Kind::Pattern => pattern(text).map(drop),
        Kind::Moment => moment(node, "UTC").map(drop),
        Kind::Day => day(node).map(drop),
        _ => Ok(()),
    }
}

pub fn integer(node: &Node, low: i64, high: i64) -> Result<i64, String> {
    match node.value {
        Value::Integer(Some(number)) if (low..=high).contains(&number) => Ok(number),
        Value::Integer(number) => {
            let number = number.map_or_else(|| "the number".to_owned(), |n| n.to_string());
            if high == i64::MAX {
                return Err(format!("{number} is less than {low}"));
            }
            Err(format!("{number} is outside {low}..={high}"))
        }
        _ => Err("not an integer".into()),
    }
}

/// Text with a unit, or a number of seconds.
pub fn duration(node: &Node) -> Result<Duration, String> {
    match &node.value {
        Value::Text(text) => units::parse_duration(text),
        Value::Integer(Some(seconds)) => {
            u64::try_from(*seconds).map(Duration::from_secs).map_err(|_| "a duration cannot be negative".into())
        }
        Value::Float(seconds) => Duration::try_from_secs_f64(*seconds).map_err(|_| format!("{seconds} is no duration")),
        _ => Err("not a duration".into()),
    }
}

fn ranged_duration(node: &Node, low: u64, high: u64) -> Result<(), String> {
    let value = duration(node)?;
    let (low, high) = (Duration::from_millis(low), Duration::from_millis(high));
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let [value, low, high] = [value, low, high].map(units::format_duration);
    Err(format!("{value} is outside {low}..={high}"))
}

/// Text with a unit, or a number of bytes.
pub fn size(node: &Node) -> Result<u64, String> {
    match &node.value {
        Value::Text(text) => units::parse_size(text),
        Value::Integer(Some(bytes)) => u64::try_from(*bytes).map_err(|_| "a size cannot be negative".into()),
        _ => Err("not a size".into()),
    }
}

pub fn ip(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is not an IP address"))
}

pub fn network(text: &str) -> Result<Network, String> {
    text.parse().map_err(|why: crate::model::net::BadNetwork| why.to_string())
}

pub fn socket(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    Err(match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => format!("`{text}` has no port; write `{text}:80`"),
        Ok(IpAddr::V6(_)) => format!("`{text}` has no port; write `[{text}]:80`"),
        Err(_) => format!("`{}` is not an address and port such as `192.0.2.1:80`", without_userinfo(text)),
    })
}

/// `192.0.2.1:80`, `[2001:db8::1]:80`, `app.example:80`
pub fn host_port(text: &str) -> Result<(Host, u16), String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return match address.port() {
            0 => Err(format!("`{text}`: port 0 cannot be reached")),
            port => Ok((Host::Ip(address.ip()), port)),
        };
    }
    if text.parse::<IpAddr>().is_ok() {
        return socket(text).map(|a| (Host::Ip(a.ip()), a.port()));
    }
    let Some((name, port)) = text.rsplit_once(':') else {
        return Err(format!("`{text}` has no port; write `{text}:80`"));
    };
    let port = port.parse::<u16>().ok().filter(|port| *port > 0);
    let port = port.ok_or_else(|| format!("the port of `{text}` is not 1..=65535"))?;
    Ok((host(name)?, port))
}

/// An address, or a host name by RFC 1123 (underscores are tolerated, as resolvers do).
pub fn host(text: &str) -> Result<Host, String> {
    if let Ok(ip) = text.parse() {
        return Ok(Host::Ip(ip));
    }
    let bare = text.strip_suffix('.').unwrap_or(text);
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    // A name of digits and dots only is an address gone wrong, not a host.
    let numeric = bare.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if bare.len() <= 253 && bare.split('.').all(label) && !numeric {
        return Ok(Host::Name(text.into()));
    }
    Err(format!("`{}` is neither an IP address nor a host name", without_userinfo(text)))
}

/// `200`, `"200"`, `"200-204"`
pub fn status(node: &Node) -> Result<StatusRange, String> {
    let one = |text: &str| text.trim().parse::<u16>().ok().filter(|code| (100..=999).contains(code));
    let bad =
        |text: &dyn std::fmt::Display| format!("`{text}` is not a status code 100..=999 or a range such as `200-204`");
    match &node.value {
        Value::Integer(Some(code)) => one(&code.to_string()).map(StatusRange::one).ok_or_else(|| bad(code)),
        Value::Text(text) => {
            let range = match text.split_once('-') {
                Some((from, to)) => one(from).zip(one(to)),
                None => one(text).map(|code| (code, code)),
            };
            let (from, to) = range.ok_or_else(|| bad(text))?;
            if from > to {
                return Err(format!("`{text}` runs backwards"));
            }
            Ok(StatusRange { from, to })
        }
        _ => Err("not a status code".into()),
    }
}

pub fn pattern(text: &str) -> Result<regex::Regex, String> {
    regex::RegexBuilder::new(text).size_limit(PATTERN_BYTES_MOST).dfa_size_limit(PATTERN_BYTES_MOST).build().map_err(
        |error| match error {
            regex::Error::CompiledTooBig(most) => format!("the expression needs more than {most} bytes when compiled"),
            other => {
                // The last line of the crate's message says what is wrong; those above draw it.
                let message = other.to_string();
                let last = message.lines().last().unwrap_or("").trim_start_matches("error: ").to_owned();
                format!("`{text}` is not a regular expression: {last}")
            }
        },
    )
}

/// A TOML date and time, or its text. Without an offset it is a time in `zone`.
pub fn moment(node: &Node, zone: &str) -> Result<Wall, String> {
    let text = match &node.value {
        Value::Text(text) | Value::Moment(text) => text,
        _ => return Err("not a date and time".into()),
    };
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Ok(Wall(timestamp.as_microsecond()));
    }
    let bad = |_| format!("`{text}` is not a date and time such as 2026-12-24T18:00:00Z");
    let civil: jiff::civil::DateTime = text.parse().map_err(bad)?;
    let zone = jiff::tz::TimeZone::get(zone).map_err(|_| format!("there is no time zone `{zone}`"))?;
    Ok(Wall(zone.to_timestamp(civil).map_err(bad)?.as_microsecond()))
}

/// `2026-12-24`
pub fn day(node: &Node) -> Result<String, String> {
    let text = match &node.value {
        Value::Text(text) | Value::Moment(text) => text,
        _ => return Err("not a day".into()),
    };
    let bad = || format!("`{text}` is not a day such as 2026-12-24");
    if text.len() != 10 {
        return Err(bad());
    }
    text.parse::<jiff::civil::Date>().map(|day| day.to_string()).map_err(|_| bad())
}

/// `text` without what stands before the last `@`: a password in a URL is in no message.
pub fn without_userinfo(text: &str) -> String {
    let Some(at) = text.rfind('@') else { return text.to_owned() };
    let scheme = text.find("://").filter(|end| *end < at).map_or(0, |end| end + 3);
    format!("{}…{}", &text[..scheme], &text[at..])
}

pub fn url(text: &str) -> Result<Url, String> {
    let shown = without_userinfo(text);
    let (tls, rest) = match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
        _ => return Err(format!("`{shown}` is not a URL that begins with http:// or https://")),
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    if authority.contains('@') {
        return Err(format!("`{shown}` carries credentials; name them in `headers` or a secret instead"));
    }
    if path.contains('#') {
        return Err(format!("`{shown}` has a fragment, which is never sent"));
    }
    if path.bytes().any(|b| b <= b' ' || b == 0x7f) {
        return Err(format!("`{shown}` has a space or control character; percent-encode it"));
    }
    let default_port = if tls { 443 } else { 80 };
    let bracketed = authority.strip_prefix('[').and_then(|a| a.strip_suffix(']'));
    let (host, port) = match bracketed {
        Some(v6) => (Host::Ip(ip(v6)?), default_port),
        None if authority.rsplit_once(':').is_some() => host_port(authority)?,
        None => (host(authority)?, default_port),
    };
    let path = match path.as_bytes().first() {
        None => "/".to_owned(),
        Some(b'?') => format!("/{path}"),
        Some(_) => path.to_owned(),
    };
    Ok(Url { tls, host, port, path })
}

/// Monday is bit 0.
pub fn weekday(text: &str) -> Option<u8> {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let lower = text.to_ascii_lowercase();
    let at = DAYS.iter().position(|day| *day == lower || day[..3] == lower)?;
    Some(1 << at)
}

/// `08:00-18:00` in minutes of the day. The end may be `24:00`; an end before the start runs over midnight.
pub fn hours(text: &str) -> Result<(u16, u16), String> {
    let minute = |text: &str| {
        let (hour, minute) = text.trim().split_once(':')?;
        let digits = |t: &str| (t.len() == 2 || t.len() == 1) && t.bytes().all(|b| b.is_ascii_digit());
        if !digits(hour) || minute.len() != 2 || !digits(minute) {
            return None;
        }
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        (minute < 60 && hour * 60 + minute <= 1440).then_some(hour * 60 + minute)
    };
    let bad = || format!("`{text}` is not a span such as `08:00-18:00`");
    let (from, to) = text.split_once('-').ok_or_else(bad)?;
    let (from, to) = minute(from).zip(minute(to)).ok_or_else(bad)?;
    if from == 1440 {
        return Err(format!("`{text}` begins at 24:00; a day begins at 00:00"));
    }
    if from == to {
        return Err(format!("`{text}` is empty; leave `hours` out for the whole day"));
    }
    Ok((from, to))
}

/// Bytes to send or to look for: `\xHH`, `\r`, `\n`, `\t`, `\0` and `\\` stand for bytes, everything else for itself.
/// NetScaler's monitors write them so, and TOML text cannot hold bytes outside UTF-8.
pub fn octets(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some((&kind, after)) = rest.split_first() else {
            return Err("a single `\\` at the end; write `\\\\`".into());
        };
        rest = after;
        match kind {
            b'\\' => bytes.push(b'\\'),
            b'r' => bytes.push(b'\r'),
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'0' => bytes.push(0),
            b'x' => {
                let hex = rest.get(..2).and_then(|h| std::str::from_utf8(h).ok());
                let value = hex.and_then(|h| u8::from_str_radix(h, 16).ok());
                bytes.push(value.ok_or("`\\x` needs two hexadecimal digits")?);
                rest = &rest[2..];
            }
            _ => return Err(format!("`\\{}` is not known here; a backslash is `\\\\`", kind as char)),
        }
    }
    Ok(bytes)
}

/// The text that [`octets`] reads back as these bytes.
pub fn octets_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests;
