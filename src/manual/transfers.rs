//! # Zone transfers
//!
//! # Zones to secondaries
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
//! | `history` | changes that are kept for IXFR (100; 0: none) |
//! | `secret` | in Base64, from a file (read with the configuration) or from the environment. `tsig-keygen` and `keymgr -t` print one |
//!
//! AXFR (RFC 5936) is answered over TCP, eight transfers at a time. IXFR (RFC 1995) is answered with the SOA alone where the
//! secondary has the zone as it is; with the differences where they are known and not more than the zone; else with the whole
//! zone. They are known for the last `history` changes of this process, flips of scenarios included, where the zone is
//! not signed and a change has no more than 10 000 records. What is not allowed is REFUSED
//! with the extended error 18; a wrong signature is NOTAUTH with BADKEY, BADSIG or BADTIME (clocks may differ by 300 s). Over UDP
//! transfers are REFUSED. Queries other than transfers may be signed, but are answered without a signature.
//!
//! # Zones from another primary
//!
//! A zone whose records another server keeps can be steered here: it is transferred, and what is configured lies over it.
//!
//! ```toml
//! [dns.tsig."xfr.example"]
//! secret = { env = "XFR_SECRET" }
//!
//! [check.site-a]
//! type    = "TCP"
//! address = "192.0.2.10:443"
//!
//! [zone."example.org".transfer]
//! from     = ["192.0.2.1:53", { address = "192.0.2.2:53", key = "xfr.example" }]
//! max_size = "64MiB"
//!
//! [zone."example.org".rrset."www A"]
//! records = [
//!   { data = "192.0.2.10", check = "site-a" },
//!   { data = "198.51.100.10" },
//! ]
//! ```
//!
//! | key | is |
//! |---|---|
//! | `from` | primaries, asked in this order. An address is asked with the `key` beside it, where there is one; a table says its own key, or none |
//! | `max_size` | most that is taken: names, data and 10 bytes a record, of two million records at most; beyond it the transfer fails and what there is stays (64 MiB) |
//!
//! - **Steering.** An RRset of the configuration takes the place of the primary's with its name and type; all others of
//!   that name stay. One that may be a CNAME takes the place of everything at its name, and a CNAME of the primary's goes where
//!   anything is steered. Such a zone has no `static`, `file` or `soa` of its own.
//! - **When.** The primaries are asked at the start, at each `refresh` of the SOA, every `retry` after a failure, at a
//!   NOTIFY, and by `transfer zone NAME` in the shell (POST `/zones/NAME/transfer`; `whole` takes all of it whatever its
//!   serial). First for the SOA over TCP, then for differences (IXFR), then for the whole (AXFR). A serial that is older than
//!   what there is counts as a failure. Everything has a time-out: 5 s to connect, 10 s for a message, 10 minutes in all.
//! - **NOTIFY** is taken from the addresses in `from`, and signed where that primary has a key; from others it is REFUSED,
//!   for zones that do not come from a primary NOTAUTH. The primary is asked once a second at most.
//! - **On disk.** What has come is kept in `zones/` of the state directory, so that a restart answers from it before any
//!   primary does, for as long as it may.
//! - **Expired.** Where no primary has confirmed the zone for the `expire` of its SOA, and before its first transfer, every
//!   name of it is SERVFAIL, steered ones too (extended errors 24 and 14). `show zone`, `/zones`, `problems` of `/status`,
//!   `/metrics` and the journal say so, and why.
//! - **Signed zones.** With [`dnssec`](super::dnssec) the primary's signatures, DNSKEY, NSEC and CDS records are left
//!   out and the zone is signed here. Without, a zone that its primary signs is refused: steered answers could not be believed.
//! - **Onwards.** With `allow` the zone goes to secondaries of its own, its serial counted as below from that of the
//!   primary. A `key` alone lets it in, not out.
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
