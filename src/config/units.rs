//! Durations, sizes and rates as people write them, and back.
//!
//! Reading is exact: a number that the unit cannot hold whole (`0.3ns`) is refused rather than rounded. Printing gives
//! one text for each value, the shortest that people would write (`90s`, `15m`, `1h30m1s`, `400d`), and reading that
//! text gives the value again; equal models therefore print alike.

use std::time::Duration;

/// From large to small, as compounds must be written.
const TIME_UNITS: [(&str, u128); 8] = [
    ("w", 7 * DAY),
    ("d", DAY),
    ("h", 3_600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
const SECOND: u128 = 1_000_000_000;
const DAY: u128 = 86_400 * SECOND;

const SIZE_UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

const RATE_UNITS: [(&str, u64); 5] =
    [("Tbit/s", 1_000_000_000_000), ("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)];

/// Reads `500ms`, `30s`, `1h30m`, `1.5s`; a bare number is seconds. Units: `w d h m s ms us ns`, from large to small
/// and each once. Zero is a duration: whoever cannot take it says so.
///
/// Errors: nothing there, a sign, an unknown unit, units out of order, more than a [`Duration`] holds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a duration is missing; write it like `500ms`, `30s`, `15m` or `1h30m`".into());
    }
    if text.starts_with('-') {
        return Err(format!("`{text}`: a duration cannot be negative"));
    }
    let mut total: u128 = 0;
    let mut smallest: Option<usize> = None;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = split_number(rest);
        if number.is_empty() {
            return Err(format!("`{text}` is not a duration; write it like `500ms`, `30s`, `15m` or `1h30m`"));
        }
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        let bare = unit.is_empty() && rest.len() == text.len() && next.is_empty();
        let unit = if bare { "s" } else { unit.trim() };
        let Some(position) = TIME_UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err(format!("`{text}`: {}", unknown_unit(unit, TIME_UNITS.iter().map(|u| u.0))));
        };
        if smallest.is_some_and(|s| position <= s) {
            return Err(format!("`{text}`: the units of a duration go from large to small, each once"));
        }
        smallest = Some(position);
        let part = exact(number, TIME_UNITS[position].1).map_err(|e| format!("`{text}`: {e}"))?;
        total = total.checked_add(part).ok_or_else(|| format!("`{text}` is too long"))?;
        rest = next;
    }
    let seconds = u64::try_from(total / SECOND).map_err(|_| format!("`{text}` is too long"))?;
    Ok(Duration::new(seconds, (total % SECOND) as u32))
}

/// The shortest exact text: one unit where that is no longer than the compound (`90s`, not `1m30s`), else the
/// compound (`1h1s`, not `3601s`). [`parse_duration`] gives the same duration again.
pub fn format_duration(duration: Duration) -> String {
    let total = duration.as_nanos();
    if total == 0 {
        return "0s".into();
    }
    // Weeks are read but not printed: people count `400d`, not `57w1d`.
    let units = &TIME_UNITS[1..];
    let mut compound = String::new();
    let mut left = total;
    for (unit, size) in units {
        if left >= *size {
            compound += &format!("{}{unit}", left / size);
            left %= size;
        }
    }
    let (unit, size) = units.iter().find(|(_, size)| total.is_multiple_of(*size)).expect("nanoseconds divide all");
    let single = format!("{}{unit}", total / size);
    if single.len() <= compound.len() { single } else { compound }
}

/// Reads `16KiB`, `1GiB`, `10MB`, or plain bytes; the case of the unit does not matter, binary and decimal do.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (number, unit) = split_number(text);
    let unit = unit.trim_start();
    if number.is_empty() {
        return Err(format!("`{text}` is not a size; write it like `16KiB`, `10MB` or `1GiB`"));
    }
    let factor = match unit {
        "" => 1,
        _ => SIZE_UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
            .map(|u| u.1)
            .ok_or_else(|| format!("`{text}`: {}", unknown_unit(unit, SIZE_UNITS.iter().rev().map(|u| u.0))))?,
    };
    whole(text, number, factor)
}

/// The shortest exact text; binary units before decimal ones where both are as short.
pub fn format_size(bytes: u64) -> String {
    if bytes == 0 {
        return "0B".into();
    }
    SIZE_UNITS
        .iter()
        .filter(|(_, size)| bytes.is_multiple_of(*size))
        .map(|(unit, size)| (format!("{}{unit}", bytes / size), unit.len()))
        .min_by_key(|(text, unit)| (text.len() - unit, usize::from(*unit != 3)))
        .map(|(text, _)| text)
        .expect("bytes divide all")
}

/// Reads `10Mbit/s` as bits per second. The unit must be there: a bare number could be bytes as well.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (number, unit) = split_number(text);
    let unit = unit.trim_start();
    if number.is_empty() {
        return Err(format!("`{text}` is not a rate; write it like `10Mbit/s`"));
    }
    if unit.is_empty() {
        return Err(format!("`{text}`: the unit is missing; write it like `10Mbit/s`"));
    }
    let factor = RATE_UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        .map(|u| u.1)
        .ok_or_else(|| format!("`{text}`: {}", unknown_unit(unit, RATE_UNITS.iter().rev().map(|u| u.0))))?;
    whole(text, number, factor)
}

/// The shortest exact text.
pub fn format_rate(bits_per_s: u64) -> String {
    let (unit, size) = RATE_UNITS
        .iter()
        .find(|(_, size)| bits_per_s > 0 && bits_per_s.is_multiple_of(*size))
        .unwrap_or(&RATE_UNITS[RATE_UNITS.len() - 1]);
    format!("{}{unit}", bits_per_s / size)
}

/// Digits with at most one point between them, and what follows.
fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

fn unknown_unit<'a>(unit: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.collect();
    match unit {
        "" => format!("the unit is missing; known: {}", known.join(", ")),
        _ => format!("unknown unit `{unit}`; known: {}", known.join(", ")),
    }
}

fn whole(text: &str, number: &str, factor: u64) -> Result<u64, String> {
    exact(number, factor.into())
        .map_err(|e| format!("`{text}`: {e}"))
        .and_then(|value| u64::try_from(value).map_err(|_| format!("`{text}` is too large")))
}

/// `number` times `factor`, refused where the result is not whole.
fn exact(number: &str, factor: u128) -> Result<u128, String> {
    let malformed = || format!("`{number}` is not a number");
    let (integer, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if integer.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(malformed());
    }
    if integer.len() > 30 || fraction.len() > 18 {
        return Err(format!("`{number}` has too many digits"));
    }
    let integer: u128 = integer.parse().map_err(|_| malformed())?;
    let scale = 10u128.pow(fraction.len() as u32);
    let fraction: u128 = fraction.parse().map_err(|_| malformed())?;
    let too_large = || format!("`{number}` is too large");
    let part = fraction.checked_mul(factor).ok_or_else(too_large)?;
    if part % scale != 0 {
        return Err(format!("`{number}` is finer than can be kept"));
    }
    integer.checked_mul(factor).and_then(|i| i.checked_add(part / scale)).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, ms) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("15m", 900_000),
            ("2h", 7_200_000),
            ("400d", 400 * 86_400_000),
            ("1w", 7 * 86_400_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1m30s500ms", 90_500),
            ("5", 5_000),
            ("0.5", 500),
            ("1.5s", 1_500),
            ("0", 0),
            (" 30s ", 30_000),
            ("30 s", 30_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_in_words() {
        for (text, says) in [
            ("", "missing"),
            ("-5s", "negative"),
            ("5x", "unknown unit `x`; known: w, d, h, m, s, ms, us, ns"),
            ("s", "is not a duration"),
            ("1h5", "the unit is missing"),
            ("30m1h", "large to small"),
            ("1s1s", "large to small"),
            ("99999999999999999999s", "too long"),
            ("99999999999999999999999999999999999s", "too many digits"),
            ("0.3ns", "finer"),
            ("1..5s", "is not a number"),
            ("1.s", "is not a number"),
            ("½h", "is not a duration"),
        ] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn durations_print_in_their_shortest_form() {
        for (text, shown) in [
            ("0s", "0s"),
            ("90s", "90s"),
            ("900s", "15m"),
            ("3600s", "1h"),
            ("3601s", "1h1s"),
            ("5400s", "90m"),
            ("24h", "1d"),
            ("400d", "400d"),
            ("2w", "14d"),
            ("1500ms", "1500ms"),
            ("28", "28s"),
        ] {
            assert_eq!(format_duration(parse_duration(text).unwrap()), shown);
        }
    }

    #[test]
    fn sizes_are_binary_or_decimal_as_their_unit_says() {
        for (text, bytes) in [
            ("16KiB", 16 << 10),
            ("1GiB", 1 << 30),
            ("10MB", 10_000_000),
            ("10mb", 10_000_000),
            ("512", 512),
            ("512B", 512),
            ("1.5KiB", 1536),
            ("2 TiB", 2 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        assert!(parse_size("5 apples").unwrap_err().contains("known: B, KB, KiB"));
        assert!(parse_size("99999999TiB").unwrap_err().contains("too large"));
        assert!(parse_size("").is_err());
        assert_eq!(format_size(1 << 30), "1GiB");
        assert_eq!(format_size(10_000_000), "10MB");
        assert_eq!(format_size(16 << 10), "16KiB");
        assert_eq!(format_size(1_000), "1KB");
        assert_eq!(format_size(1_234), "1234B");
    }

    #[test]
    fn rates_are_bits_per_second_and_need_their_unit() {
        assert_eq!(parse_rate("10Mbit/s"), Ok(10_000_000));
        assert_eq!(parse_rate("1.5Gbit/s"), Ok(1_500_000_000));
        assert_eq!(parse_rate("64 kbit/s"), Ok(64_000));
        assert!(parse_rate("10").unwrap_err().contains("unit is missing"));
        assert!(parse_rate("10MB/s").unwrap_err().contains("known: bit/s, kbit/s"));
    }

    proptest! {
        #[test]
        fn a_printed_duration_reads_back(seconds in any::<u64>(), nanos in 0u32..1_000_000_000) {
            let duration = Duration::new(seconds, nanos);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }

        #[test]
        fn a_printed_duration_of_whole_milliseconds_reads_back(ms in 0u64..100_000_000_000) {
            let duration = Duration::from_millis(ms);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }

        #[test]
        fn a_printed_size_reads_back(bytes in any::<u64>(), shift in 0u32..64) {
            let bytes = bytes >> shift;
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in any::<String>(), bytes in any::<Vec<u8>>()) {
            for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
                let _ = (parse_duration(&text), parse_size(&text), parse_rate(&text));
            }
        }

        #[test]
        fn no_text_of_digits_and_units_makes_a_reader_panic(text in "[0-9.hmswdunKiMGTBbit/ -]{0,40}") {
            let _ = (parse_duration(&text), parse_size(&text), parse_rate(&text));
        }
    }
}
