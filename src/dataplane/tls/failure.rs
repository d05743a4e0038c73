//! Why a handshake with a client failed, in the words that counters and the log use.

use std::io;

use rustls::Error;

/// A closed list; its order is that of `TlsLive::failed_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Not over within the time-out.
    Timeout,
    /// The client went away.
    ClientGone,
    /// What the client sent is not TLS, or not as it must be.
    Malformed,
    /// No version, cipher or application protocol in common.
    NothingInCommon,
    /// No certificate for the name that the client asked for (`strict_sni`).
    UnknownName,
    /// The client's certificate is missing, or was not accepted.
    ClientCertificate,
    /// The client did not accept ours, or gave up for a reason of its own.
    RefusedByClient,
    /// Too many handshakes, or connections, at once: it gave way to another.
    TooMany,
    /// A certificate that cannot be used, or no randomness.
    Internal,
}

// === impl Failure ===

impl Failure {
    pub fn of(error: &io::Error) -> Failure {
        let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
            return match error.kind() {
                io::ErrorKind::TimedOut => Failure::Timeout,
                io::ErrorKind::InvalidData => Failure::Malformed,
                _ => Failure::ClientGone,
            };
        };
        match error {
            Error::PeerIncompatible(_) | Error::NoApplicationProtocol => Failure::NothingInCommon,
            Error::NoCertificatesPresented | Error::InvalidCertificate(_) => Failure::ClientCertificate,
            Error::AlertReceived(_) => Failure::RefusedByClient,
            Error::InvalidMessage(_)
            | Error::InappropriateMessage { .. }
            | Error::InappropriateHandshakeMessage { .. }
            | Error::PeerMisbehaved(_)
            | Error::DecryptError
            | Error::PeerSentOversizedRecord => Failure::Malformed,
            _ => Failure::Internal,
        }
    }

    /// In `snapshot::live::TLS_FAILURES`.
    pub fn index(self) -> usize {
        self as usize
    }

    pub fn word(self) -> &'static str {
        crate::snapshot::live::TLS_FAILURES[self.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn every_failure_has_a_word_of_its_own() {
        let all = [
            (Failure::Timeout, "timeout"),
            (Failure::ClientGone, "client_gone"),
            (Failure::Malformed, "malformed"),
            (Failure::NothingInCommon, "nothing_in_common"),
            (Failure::UnknownName, "unknown_name"),
            (Failure::ClientCertificate, "client_certificate"),
            (Failure::RefusedByClient, "refused_by_client"),
            (Failure::TooMany, "too_many"),
            (Failure::Internal, "internal"),
        ];
        assert_eq!(all.len(), crate::snapshot::live::TLS_FAILURES.len());
        for (failure, word) in all {
            assert_eq!(failure.word(), word);
        }
    }
}
