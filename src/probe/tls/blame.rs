//! Why a certificate was refused, and whose it is to mend.

use std::error::Error;
use std::io;

use rustls::CertificateError;
use rustls_pki_types::UnixTime;

use crate::model::time::Wall;

/// Names of a certificate that are repeated.
const NAMES_MAX: usize = 4;

/// In words, where a certificate is what `error` is about, at whatever depth.
pub(in crate::probe) fn of(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
        return Some(format!("invalid peer certificate: {}", in_words(why)));
    }
    // An error of I/O shows what is in it by `get_ref` alone: its source is the source of that.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => of(inner),
        None => of(error.source()?),
    }
}

fn in_words(why: &CertificateError) -> String {
    const CLOCK: &str = "to be renewed on the server, unless the clock of this machine is wrong";
    match why {
        CertificateError::Expired => format!("it has expired; {CLOCK}"),
        CertificateError::ExpiredContext { not_after, .. } => format!("it expired at {}; {CLOCK}", moment(*not_after)),
        CertificateError::NotValidYet => format!("it is not valid yet; {CLOCK}"),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("it is valid from {} on; {CLOCK}", moment(*not_before))
        }
        CertificateError::UnknownIssuer => {
            "nobody whom this machine trusts has signed it; the server is another one, or sends no intermediate \
             certificates, or its authority belongs among the roots of this machine"
                .to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let mut names = presented.iter().take(NAMES_MAX).map(|name| bare(name)).collect::<Vec<_>>().join(", ");
            if presented.len() > NAMES_MAX {
                names.push_str(", …");
            }
            let names = if names.is_empty() { "no name".to_owned() } else { names };
            let expected = expected.to_str();
            format!(
                "it is for {names}, and not for {expected}; the server is another one, or was asked by another name"
            )
        }
        CertificateError::NotValidForName => {
            "it is for another name; the server is another one, or was asked by another name".to_owned()
        }
        CertificateError::Revoked => "it was revoked; to be replaced on the server".to_owned(),
        other => other.to_string(),
    }
}

/// `DnsName("a.example")`, as it is presented, without what kind of name it is.
fn bare(name: &str) -> &str {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    inside.trim_matches('"')
}

fn moment(at: UnixTime) -> String {
    Wall(i64::try_from(at.as_secs()).unwrap_or(i64::MAX / 1_000_000).saturating_mul(1_000_000)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_certificate_is_found_at_any_depth_and_told_with_who_mends_it() {
        #[derive(Debug)]
        struct Outer(io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("outer")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let of_certificate = |why| {
            let inner = io::Error::new(io::ErrorKind::InvalidData, rustls::Error::InvalidCertificate(why));
            io::Error::other(inner)
        };
        let expired = CertificateError::ExpiredContext {
            time: UnixTime::since_unix_epoch(std::time::Duration::from_secs(2)),
            not_after: UnixTime::since_unix_epoch(std::time::Duration::from_secs(1)),
        };
        let said = of(&Outer(of_certificate(expired))).unwrap();
        assert!(said.contains("it expired at 1970-01-01T00:00:01.000Z; to be renewed on the server"), "{said}");
        assert!(
            of(&of_certificate(CertificateError::UnknownIssuer)).unwrap().contains("nobody whom this machine trusts")
        );
        assert_eq!(of(&Outer(io::ErrorKind::ConnectionReset.into())), None);
        assert_eq!(
            (bare("DnsName(\"a.example\")"), bare("IpAddress(192.0.2.1)"), bare("x")),
            ("a.example", "192.0.2.1", "x")
        );
    }
}
