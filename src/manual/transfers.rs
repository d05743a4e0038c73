//! # Zone transfers
//!
//! Secondaries may have a zone, steered records included:
//!
//! ```toml
//! [dns.tsig."xfr.example"]
//! algorithm = "hmac-sha256"
//! secret = { env = "XFR_SECRET" }
//!
//! [zone."example.test".transfer]
//! allow  = ["192.0.2.0/24"]
//! key    = "xfr.example"
//! notify = ["192.0.2.53:53"]
//! ```
//!
//! | key | is |
//! |---|---|
//! | `allow` | networks that may transfer the zone. Empty: any address, where there is a `key` |
//! | `key` | a key of `[dns.tsig]` that requests must be signed with; NOTIFY is signed with it too. With `allow`, both must hold |
//! | `notify` | addresses that are told of each new serial, over UDP; six tries with 1, 2, 4, 8, 16 and 32 s to answer |
//! | `secret` | in Base64, from a file (read with the configuration) or from the environment. `tsig-keygen` and `keymgr -t` print one |
//!
//! AXFR (RFC 5936) is answered over TCP, eight transfers at a time. IXFR is answered with the SOA alone where the
//! secondary has the zone as it is, else with the whole zone (RFC 1995 §4 allows that). What is not allowed is REFUSED
//! with the extended error 18; a wrong signature is NOTAUTH with BADKEY, BADSIG or BADTIME (clocks may differ by 300 s). Over UDP
//! transfers are REFUSED. Queries other than transfers may be signed, but are answered without a signature.
//!
//! # What a steered RRset is in a transfer
//!
//! All that scenarios and checks leave of it, and what `on_empty` makes of nothing. The selection is no part of it: a
//! secondary answers with every record of the set, without weights and without `answers`. A set of several CNAMEs is its first.
//! So secondaries follow scenarios, each as fast as NOTIFY and the transfer are, and serve what they have while this box
//! is away: for as long as `expire` says.
//!
//! # The serial
//!
//! The serial of a zone that is transferred is the one in the configuration plus the seconds from 2026-01-01 UTC to
//! the last change of what it holds, and at least one more than before. It changes with every flip that changes an
//! answer set, with a reload that changes a record, and, where the zone is signed, eight times in the `validity` of signatures, so
//! that secondaries get fresh ones. Nothing need be stored for it to grow over restarts; it only must not be lowered in
//! the configuration. Where secondaries already have a higher one from another primary (a date, most often), configure
//! that number.
