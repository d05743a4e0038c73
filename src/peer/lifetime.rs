//! How long a connection may last: until the first certificate that the two sides showed ends. Whoever is verified at
//! the handshake alone would be heard for as long as nobody hangs up.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls_pki_types::CertificateDer;

use crate::model::tls::{Facts, Pem};

/// The end of a connection, in seconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lifetime(i64);

// === impl Lifetime ===

impl Lifetime {
    /// Of a connection on which this side shows the chain in `own`, and the other one `shown`. What cannot be read ends
    /// nothing: the handshake has settled that it is good now.
    pub(super) fn of(own: &Pem, shown: Option<&[CertificateDer<'_>]>) -> Lifetime {
        let own = own.certificates().unwrap_or_default();
        let all = own.iter().chain(shown.unwrap_or_default());
        Lifetime(all.filter_map(|one| Some(Facts::of(one).ok()?.not_after)).min().unwrap_or(i64::MAX))
    }

    /// What is left of it at `now`; `None`: it is over. A certificate is good through its last second.
    pub(super) fn left(self, now: SystemTime) -> Option<Duration> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let end = Duration::from_secs(u64::try_from(self.0.saturating_add(1)).unwrap_or(0));
        end.checked_sub(now).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends at the beginning of that day of January 2026.
    fn certificate(day: u8) -> rcgen::Certificate {
        let mut of = rcgen::CertificateParams::new(vec!["box-a".to_owned()]).unwrap();
        of.not_before = rcgen::date_time_ymd(2025, 1, 1);
        of.not_after = rcgen::date_time_ymd(2026, 1, day);
        of.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap()
    }

    #[test]
    fn a_connection_lasts_until_the_first_certificate_of_either_side_ends() {
        let (day, second) = (Duration::from_secs(86_400), Duration::from_secs(1));
        let start = UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        let [short, long, middle] = [2, 20, 10].map(certificate);
        let pem = |all: &[&rcgen::Certificate]| Pem {
            file: "c.pem".into(),
            text: all.iter().map(|one| one.pem()).collect::<String>().into(),
        };
        for (own, shown, days) in [
            (pem(&[&short]), vec![long.der().clone()], 1),
            (pem(&[&long]), vec![short.der().clone()], 1),
            (pem(&[&long, &middle]), vec![long.der().clone()], 9),
            (pem(&[&long]), vec![long.der().clone(), middle.der().clone()], 9),
        ] {
            let lifetime = Lifetime::of(&own, Some(&shown));
            assert_eq!(lifetime.left(start), Some(days * day + second));
            assert_eq!(lifetime.left(start + days * day), Some(second), "good through its last second");
            assert_eq!(lifetime.left(start + days * day + second), None);
            assert_eq!(lifetime.left(start + 1_000 * day), None);
        }
        let unread = Pem { file: "c.pem".into(), text: "".into() };
        assert!(Lifetime::of(&unread, None).left(start).is_some());
    }
}
