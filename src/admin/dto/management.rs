//! How the appliance itself is managed.

dto! {
    /// What the management address shows.
    pub struct ManagementDto {
        /// The address with the port; null where there is the Unix socket alone.
        pub listen: Option<String>,
        /// TLS is spoken there.
        pub tls: bool,
        /// SHA-256 of its certificate, in hex with colons; null without TLS.
        pub fingerprint: Option<String>,
        /// When the certificate ends.
        pub expires: Option<String>,
    }
}

// === impl ManagementDto ===

impl ManagementDto {
    /// As long as nothing is known.
    pub fn plain() -> ManagementDto {
        ManagementDto { listen: None, tls: false, fingerprint: None, expires: None }
    }
}
