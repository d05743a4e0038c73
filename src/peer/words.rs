//! Why a conversation failed, in words that say whose fault it is and what to do. No address, port or time of a single
//! attempt stands in them: the same fault has the same words, so that it is told once.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

use crate::model::peer::PeerTls;

/// What a text of another box may take of a message.
const QUOTED_MOST: usize = 300;

/// Of the box that asks `name`.
pub(super) fn of_asking(error: &io::Error, name: &str, tls: &PeerTls) -> String {
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return of_tls(error, name, tls);
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "nobody listens there (connection refused): the box is down, or `url` has the wrong port".into()
        }
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "it closed the connection before it had answered: it is stopping, or it is no box of this kind".into()
        }
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "there is no way to it: the network between the sites is down".into()
        }
        _ => format!("the connection failed: {error}"),
    }
}

fn of_tls(error: &Error, name: &str, tls: &PeerTls) -> String {
    let (own, ca) = (&tls.certificate.file, &tls.ca.file);
    match error {
        Error::InvalidCertificate(why) => of_certificate(why, name, ca),
        Error::AlertReceived(alert) => match alert {
            AlertDescription::UnknownCA => {
                format!("it does not accept this box's certificate ({own}): its `ca` does not know who signed it")
            }
            AlertDescription::CertificateExpired => {
                format!("this box's own certificate ({own}) has expired: renew it here")
            }
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::AccessDenied => {
                format!("it does not accept this box's certificate ({own}): {alert:?}; is it for TLS clients as well?")
            }
            AlertDescription::ProtocolVersion => "it does not speak TLS 1.3, which peers need".into(),
            alert => format!("it ended the TLS handshake: {alert:?}"),
        },
        Error::PeerIncompatible(_) => "it does not speak TLS 1.3, which peers need".into(),
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => {
            "what it sends is not TLS: `url` leads to another service".into()
        }
        error => format!("TLS failed: {error}"),
    }
}

fn of_certificate(why: &CertificateError, name: &str, ca: &str) -> String {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "its certificate is not signed by an authority in `ca` ({ca}): the wrong certificate there, or the wrong \
             `ca` here"
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired: renew it there (or this box's clock is wrong)".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: one of the two clocks is wrong".into()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
            "its certificate is not for `{name}`: `url` leads to another box, or that box needs a certificate with \
             `{name}` as DNS name (subjectAltName)"
        ),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "its certificate is not for TLS servers: issue one for servers and clients".into()
        }
        why => format!("its certificate cannot be accepted: {why:?}"),
    }
}

/// Of the box that is asked; for its log.
pub(super) fn of_answering(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::NoCertificatesPresented) => "it shows no certificate".into(),
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "its certificate is not signed by an authority in `peer_link.ca`".into()
        }
        Some(Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. })) => {
            "its certificate has expired".into()
        }
        Some(Error::AlertReceived(alert)) => format!("it did not accept this box's certificate: {alert:?}"),
        Some(Error::InvalidMessage(_)) => "what it sends is not TLS".into(),
        Some(error) => error.to_string(),
        None => error.to_string(),
    }
}

/// A text of another box: short, and on one line.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(QUOTED_MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    short.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_another_box_stays_on_its_line_and_is_cut() {
        assert_eq!(quoted(" a\r\nb\x1b[2J "), "a  b [2J");
        assert_eq!(quoted(&"ä".repeat(1_000)).chars().count(), QUOTED_MOST);
    }
}
