//! # Signed zones
//!
//! A zone with keys is signed, steered answers included:
//!
//! ```toml
//! [zone."example.test".dnssec]
//! keys = [
//!   { file = "ksk.pem", role = "ksk" },
//!   { file = "zsk.pem", role = "zsk" },
//!   { file = "next.pem", role = "zsk", state = "published" },
//! ]
//! validity = "14d"
//! ```
//!
//! | key | is |
//! |---|---|
//! | `file` | a private key: PKCS#8 in PEM form, or BIND's `K….private` with its `.key` file beside it. A plain string is the same as `{ file = … }` |
//! | `role` | `ksk` signs the DNSKEY records, `zsk` everything else, `csk` all of it. Default: what the flags of the `.key` file say, else `csk` |
//! | `state` | `active` signs; `published` only stands among the DNSKEY records. Default `active` |
//! | `validity` | how long a signature is good. `1d` to a year, default `14d`; no TTL of the zone may be more than a quarter of it; those of a zone that comes from a primary are cut to it |
//!
//! Algorithms are ECDSAP256SHA256 (13) and ED25519 (15). One key is enough:
//!
//! ```text
//! openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out zone.pem; chmod 600 zone.pem
//! ```
//!
//! `show zone example.test` (and `ds` of the zone in the API) has the DS records for the parent: give them to it *after*
//! the signed zone is served. `delv` with them as its anchor says whether all is well.
//!
//! # What is signed, and when
//!
//! Signatures are made in the background, some 40 µs each, as soon as a zone is configured: one for each of its RRsets and
//! NSEC records, and for the sets that steering can put in their place. A query with DO then costs a look into a table; what
//! it needs and is not there yet it makes itself, once. A reload makes those of what is new in the zone and nothing else,
//! as long as its keys and `validity` stay; a scenario that flips makes none, but for NSEC records of steered names whose
//! types change with it and the SOA of a zone that is transferred.
//!
//! What can be asked of a zone is a bounded list, because names that clients make up are never signed: NSEC records of
//! names that exist deny them, and answers of a wildcard carry the wildcard's signature. Of a steered RRset each set that
//! scenarios and checks leave has a signature of its own, and so has each subset that `select = { answers = … }` can draw; a
//! selection with more than 4096 subsets is refused when the configuration is loaded. Signatures begin an hour in the past
//! and end spread over an eighth of the validity. They are replaced in the background when three eighths of it are left,
//! and at the latest by a query when it is a quarter. The clock of the machine must be right within the hour.
//!
//! # What does not exist
//!
//! Denial is NSEC (RFC 4034), and all names can therefore be listed by whoever walks the chain. A steered name is always
//! part of the chain, also while it is empty: it can be NODATA, never NXDOMAIN. The type bitmap of its NSEC says what is
//! served at this moment, so that the proof of an empty RRset is true, and so is that of its types after the next flip.
//! NSEC records have the TTL of negative answers (RFC 9077): a resolver that concludes from a cached one (RFC 8198) is
//! late by no more than one that has cached a NODATA. While a set answers SERVFAIL its type is not denied.
//!
//! # Rolling keys
//!
//! Each step is a reload, and each wait is counted from it. *TTL* is that of the DNSKEY records, which is the SOA's.
//!
//! A ZSK, by publication beforehand (RFC 6781 §4.1.1.1):
//!
//! 1. Add the new key with `state = "published"`. Wait for the TTL.
//! 2. Make the new key `active` and the old one `published`. Wait for the longest TTL of the zone.
//! 3. Remove the old key.
//!
//! A KSK or CSK, by two signatures (§4.1.2):
//!
//! 1. Add the new key as `active`. Wait for the TTL.
//! 2. Give the parent the new DS in place of the old one. Wait until the parent's servers have it, and for the old DS's
//!    TTL.
//! 3. Remove the old key.
//!
//! An algorithm: add `active` keys of the new one for both roles, wait for the longest TTL, then as for a KSK. To stop
//! signing: take the DS from the parent, wait for its TTL, and then remove `dnssec`.
