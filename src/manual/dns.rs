//! # The DNS server
//!
//! It answers for its zones over UDP, TCP, TLS and HTTPS and for nothing else: no recursion, REFUSED outside its zones. What an
//! answer holds is said by [`records`](super::records); this page is about the rest of the message.
//!
//! ```toml
//! [dns]
//! listen          = ["192.0.2.53:53", "[2001:db8::53]:53"]
//! nsid            = "gtm-a"              # told to who asks (RFC 5001)
//! extended_errors = true                 # RFC 8914; the default
//! cookies         = { keys = ["dns-cookie.key", "dns-cookie.old"] }
//! rate_limit      = { per_second = 200, slip = 2, exempt = ["10.0.0.0/8"] }
//! geo             = { database = "GeoLite2-City.mmdb" }
//! ecs             = { ipv4_prefix = 24, ipv6_prefix = 56, from = ["198.51.100.0/24"] }
//! ```
//!
//! - **Sizes.** An answer over UDP has at most 1232 bytes, 512 where the query has no EDNS; what does not fit has TC and no
//!   records. ANY gets one RRset (RFC 8482). Names are compressed, and no answer carries what nobody asked for, but for
//!   the addresses that NS, MX and SRV name.
//! - **Unknown things.** Types, flags, options and opcodes that the server does not know are treated as RFC 8906 has it:
//!   NODATA, ignored, ignored, NOTIMP. Another version of EDNS is BADVERS. Types that no record can have (OPT, TSIG and the
//!   others of RFC 6895 §3.1) are NOTIMP.
//! - **UDP** is read by one thread for each core (16 at most), each with a socket of its own; the kernel gives a client's
//!   port to always the same one.
//! - **Cookies** (RFC 7873, in the form of RFC 9018) are on. `true`, the default, takes a key of this process; servers
//!   behind one address share a file with 32 hexadecimal digits (`openssl rand -hex 16`). The first key makes cookies
//!   and all are good, so a new one is rolled over in three reloads: add it last everywhere, then put it first
//!   everywhere, then, an hour later, take the old one out. A query without a good cookie is answered all the same. One
//!   without a question gets a cookie and nothing else (RFC 7873 §5.4); one with a cookie that is not ours gets BADCOOKIE.
//! - **Rate limit.** Off by default. Answers with records, without, and errors are counted apart, for each network of
//!   `ipv4_prefix` (24) or `ipv6_prefix` (56) bits; of what is above `per_second`, every `slip`-th answer is sent with TC
//!   and no records (2; 1: all, 0: none) and the others are dropped. A client with a good cookie, one over TCP and the
//!   networks of `exempt` are never limited. `table` is the number of clients told apart (65 536, 8 bytes each); where
//!   it is full, the one with the least to answer for makes room.
//! - **Client subnet** (RFC 7871). Off by default: then the option is ignored and no answer has it. With `ecs`, the
//!   subnet that a resolver of `from` (empty: any) tells stands for the client in the selection, cut to the configured
//!   bits. The scope in the answer is what was looked at, and 0 where all clients are answered alike. A malformed option
//!   is FORMERR.
//! - **Geography.** `geo` names a database in MaxMind's format (continent, country and first subdivision are read). It is
//!   read with the configuration, so a reload takes a new one; no query leaves the box.
//! - **TCP** (RFC 7766): queries may be pipelined and are answered in order, but for transfers, between whose messages
//!   other queries are answered. A client that asks is told how long it may be idle (RFC 7828). The limits stand below.
//! - **Extended errors.** 14 *Not Ready* before the first probe round and before the first transfer of a zone, 24 *Invalid
//!   Data* for one that has expired ([`transfers`](super::transfers)), 20 *Not Authoritative* outside the zones, 18
//!   *Prohibited* for transfers, 3 *Stale Answer* for `last_good`, 0 with the policy's name where another `on_empty`
//!   chose. `extended_errors = false` leaves them out.
//!
//! # Connections: TCP, TLS, HTTPS
//!
//! ```toml
//! [certificate.dns]
//! certificate = "certs/www.pem"
//! key         = "certs/www.key"
//!
//! [dns.tcp]
//! connections            = 1000
//! connections_per_client = 100
//! idle_timeout           = "10s"
//! queries_per_connection = 0
//! pipeline               = 100
//!
//! [dns.tls]                              # DNS over TLS, RFC 7858
//! listen       = ["192.0.2.53:853"]
//! certificates = ["dns"]
//!
//! [dns.https]                            # DNS over HTTPS, RFC 8484
//! listen       = ["192.0.2.53:443"]
//! certificates = ["dns"]
//! path         = "/dns-query"
//! tls          = { min_version = "1.3" }
//! ```
//!
//! | key of `[dns.tcp]` | is | default |
//! |---|---|---|
//! | `connections` | connections at a time, of all three transports together. For one more, that of whichever client has most is closed: its oldest that waits for a query or has not finished its handshake | 1000 |
//! | `connections_per_client` | the same for one IPv4 address or one IPv6 /64, whose own oldest one that waits is closed | 100 |
//! | `idle_timeout` | from the last answer to the end of the next query, for a handshake (10 s at most), for a whole HTTP request, and for taking what is sent | `10s` |
//! | `queries_per_connection` | then it ends; 0: any number | 0 |
//! | `pipeline` | queries of a connection that are under way at a time; over HTTP/2 its streams | 100 |
//!
//! The limits hold for connections that are accepted after a reload. `certificates` and `tls` are those of vservers
//! ([`tls`](super::tls)): chosen by SNI, versions, client certificates. A reload reads the files anew; the next handshake
//! shows what they hold then, and open connections go on.
//!
//! Over TLS everything is as over TCP, transfers included (RFC 9103). Over HTTPS a query is the body of a POST or stands
//! base64url-coded in `?dns=` of a GET, over HTTP/2 or HTTP/1.1; `max-age` of the answer is the least of its TTLs, and
//! `private`, as answers may depend on who asks. What is no query is 400, another path 404, another method 405, a query
//! of more than 4096 bytes 413 (in a URL 414), another type 415. Transfers are refused there: one answer is one
//! message.
//!
//! ```text
//! kdig @192.0.2.53 +tls www.example.test
//! dig @192.0.2.53 +https www.example.test
//! curl --doh-url https://192.0.2.53/dns-query https://www.example.test/
//! ```
//!
//! # Records
//!
//! Zone text and `data` take every common type in the form of its RFC: A, AAAA, AFSDB, APL, CAA, CDNSKEY, CDS, CERT,
//! CNAME, DHCID, DNAME, DNSKEY, DS, EUI48, EUI64, HINFO, HTTPS, IPSECKEY, KX, LOC, MX, NAPTR, NS, OPENPGPKEY, PTR,
//! RESINFO, RP, SMIMEA, SOA, SPF, SRV, SSHFP, SVCB, TLSA, TXT, URI, ZONEMD, and any other as RFC 3597 has it
//! (`TYPE65280 \\# 3 010203`).
//!
//! `ALIAS` (there is no RFC) stands where a CNAME may not, at the apex:
//!
//! ```text
//! @  ALIAS  www
//! ```
//!
//! A query for A or AAAA gets the addresses that the target has at that moment, steering included, as the owner's own.
//! The target must be in a zone served here; CNAME and ALIAS on the way are followed, also into another zone; an own
//! record of the owner goes before; the TTL is the least on the way. On the wire there is no such type.
//! A signed zone ([`dnssec`](super::dnssec)) takes no ALIAS.
//!
//! # Beside other servers
//!
//! Zones generated from fixed seeds, signed and not, are served by this server, by Knot and by NSD, and 1500 questions each
//! are asked of all three over UDP: code, flags and records of all sections must be the same. What differs:
//!
//! | question | Knot 3.2 | NSD 4.6 | here |
//! |---|---|---|---|
//! | addresses for NS and MX outside of referrals | as here | left out with `minimal-responses` | given where there is room |
//! | ANY, NSEC, RRSIG as questions | not compared | not compared | one RRset (RFC 8482); the NSEC of the name; the signatures of one RRset |
//!
//! Both have the zones as they stand; what scenarios make of them is compared by transfer ([`transfers`](super::transfers)).
//!
//! `scripts/conformance --dns` asks a signed and an unsigned zone by dig, kdig, delv and dnsperf, has them judged by
//! zonemaster (undelegated) and dnsviz, and a transfer by ldns-verify-zone. None has anything to say but that there is no
//! parent and no reverse zone where they are run.
