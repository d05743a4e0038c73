//! Traces of requests: where they go, which are sampled, and how one is named on the wire (W3C Trace Context).

use std::fmt;
use std::time::Duration;

use super::id::Name;
use super::net::Network;

/// `[trace]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Where spans are sent: OTLP over HTTP, encoded as JSON.
    pub endpoint: Name,
    /// Further fields of those requests.
    pub headers: Vec<(Name, Name)>,
    /// Of the requests that come without a trace, one of so many is sampled; 0: none. Default 100.
    pub one_in: u32,
    /// Whose `traceparent` counts; of all others it is replaced. Default: everybody's.
    pub accept: Vec<Network>,
    /// Default `bascule`.
    pub service_name: Name,
    /// Of one request that sends spans. Default 10 s.
    pub timeout: Duration,
}

/// `traceparent`: the trace that a request belongs to, and the span that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// Not zero.
    pub trace: [u8; 16],
    /// Not zero.
    pub span: [u8; 8],
    /// Bit 0: sampled. Bit 1: the trace was named at random.
    pub flags: u8,
}

/// Bit 0 of the flags.
pub const SAMPLED: u8 = 1;

/// The bits of the flags that have a meaning.
const KNOWN_FLAGS: u8 = 3;

/// `00-` trace `-` span `-` flags.
const LENGTH: usize = 55;

// === impl Trace ===

impl Trace {
    pub const ONE_IN: u32 = 100;
    pub const TIMEOUT: Duration = Duration::from_secs(10);

    /// Everybody.
    pub fn everybody() -> Vec<Network> {
        ["0.0.0.0/0", "::/0"].iter().filter_map(|network| network.parse().ok()).collect()
    }

    /// Whether a request that begins this trace is sampled. By the name of the trace alone, so that all who sample by the
    /// same share sample the same ones.
    pub fn samples(&self, trace: &[u8; 16]) -> bool {
        let random = trace[8..].iter().fold(0_u64, |all, &b| all << 8 | u64::from(b)) >> 1;
        match self.one_in {
            0 => false,
            one_in => random < (1 << 63) / u64::from(one_in),
        }
    }
}

// === impl TraceParent ===

impl TraceParent {
    /// As W3C Trace Context §3.2 has it, versions to come included. `None`: it counts for nothing.
    pub fn parse(field: &[u8]) -> Option<TraceParent> {
        let (head, more) = field.split_at_checked(LENGTH)?;
        let version = hex::<1>(&head[..2])?[0];
        let ends = if version == 0 { more.is_empty() } else { more.is_empty() || more[0] == b'-' };
        let dashes = [2, 35, 52].iter().all(|&at| head[at] == b'-');
        let (trace, span, [flags]) = (hex::<16>(&head[3..35])?, hex::<8>(&head[36..52])?, hex::<1>(&head[53..])?);
        let named = trace != [0; 16] && span != [0; 8];
        (version != 0xff && ends && dashes && named).then_some(TraceParent { trace, span, flags: flags & KNOWN_FLAGS })
    }

    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

/// Digits in lower case alone.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("00-")?;
        self.trace.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str("-")?;
        self.span.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        write!(f, "-{:02x}", self.flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_and_printed_alike() {
        let parsed = TraceParent::parse(GIVEN.as_bytes()).unwrap();
        assert!(parsed.is_sampled());
        assert_eq!(parsed.to_string(), GIVEN);
    }

    #[test]
    fn a_version_to_come_may_say_more_and_only_what_is_known_of_the_flags_goes_on() {
        let later = GIVEN.replacen("00", "01", 1).replace("-01", "-fe") + "-what-comes-then";
        let parsed = TraceParent::parse(later.as_bytes()).unwrap();
        assert_eq!(parsed.to_string(), GIVEN.replace("-01", "-02"));
        assert!(!parsed.is_sampled());
    }

    #[test]
    fn what_is_malformed_counts_for_nothing() {
        let zeros = |from: &str| GIVEN.replace(from, &"0".repeat(from.len()));
        for bad in [
            String::new(),
            GIVEN[..54].to_owned(),
            format!("{GIVEN}-x"),
            format!("{GIVEN} "),
            GIVEN.replacen("00", "ff", 1),
            GIVEN.to_uppercase(),
            GIVEN.replace('-', "_"),
            GIVEN.replacen("4bf9", "4bg9", 1),
            zeros("4bf92f3577b34da6a3ce929d0e0e4736"),
            zeros("00f067aa0ba902b7"),
            GIVEN.replacen("00", "01", 1) + "x",
            "é".repeat(40),
        ] {
            assert_eq!(TraceParent::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn one_of_so_many_is_sampled_by_the_name_of_the_trace_alone() {
        let trace = |one_in| Trace {
            endpoint: "http://127.0.0.1:4318/v1/traces".into(),
            headers: Vec::new(),
            one_in,
            accept: Trace::everybody(),
            service_name: "bascule".into(),
            timeout: Trace::TIMEOUT,
        };
        let named = |at: u64| {
            let mut name = [7; 16];
            // Spread evenly over all names.
            name[8..].copy_from_slice(&at.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            name
        };
        for (one_in, least, most) in [(0, 0, 0), (1, 10_000, 10_000), (10, 950, 1_050), (1_000_000, 0, 5)] {
            let sampled = (0..10_000).filter(|&at| trace(one_in).samples(&named(at))).count();
            assert!((least..=most).contains(&sampled), "one in {one_in}: {sampled}");
        }
    }
}
