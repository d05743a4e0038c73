//! # What this build does not do
//!
//! What is not there is refused, or says so where it is used; nothing is accepted and ignored. A key or a word that
//! NetScaler or the GTM knows and this build does not carry out is named at load as "not available in this build", with
//! what is available.
//!
//! ## Traffic
//!
//! | asked for | what happens |
//! |---|---|
//! | vserver and service types FTP, RTSP, SIP, RADIUS, DIAMETER, MYSQL, MSSQL, … | refused at load; SSL, SSL_BRIDGE, SSL_TCP, TCP, UDP, DNS, DNS_TCP and ANY are there beside HTTP |
//! | protocols other than TCP and UDP through ANY | nothing listens for them |
//! | TLS below 1.2; choosing ciphers and curves; OCSP, revocation lists; keys under a pass phrase; TLS profiles | refused at load: the suites are those of TLS 1.3 and those of TLS 1.2 with forward secrecy |
//! | the methods USER_TOKEN, LRTM and AUDITLOGHASH; persistence by Call-ID, RTSP, Diameter, FIX and user session | refused at load |
//! | listen policies | refused at load |
//! | members from DNS beyond 256 a group, or 64 SRV records of a name | they wait until one leaves; see [`members`](super::members) |
//! | members that come from anything but DNS (`auto_scale` by POLICY, CLOUD, API) | refused at load |
//! | a member from DNS in a condition (`svc:web/192.0.2.1:80`), a rule or `proximity` | refused at load: who they are, only an answer tells. `vs:` and `group` work |
//! | moving a split where the configuration has none | refused: it would end the balancing by the weights of all members |
//! | startup round robin after a change (`new_service_request`) | refused at load; `slow_start` is there |
//! | features other than LB and GSLB as switches (content switching, rewriting and answering are rules and always on); compression, cache, … | refused at load |
//! | `usip`, `cka`, `cmp`, TCP and HTTP profiles of services | refused at load |
//! | HTTP/2 from a client of a vserver without `http2` | 505 where it begins with the preface |
//! | trailers of requests over HTTP/2, and of answers from one version of HTTP to the other ([`http`](super::http)); interim answers to clients of HTTP/2, WebSocket over HTTP/2, server push, upgrades other than WebSocket | not passed on |
//! | CONNECT and TRACE | 405 |
//! | monitors of the types LDNS-PING, LDNS-TCP, LDNS-DNS, ARP, ND6, SNMP, SIP, RTSP, DIAMETER, MSSQL-ECV, ORACLE-ECV, MQTT-ECV, APPC, SMPP, STOREFRONT, CITRIX-… | accepted and stored; the state is unknown and `last_error` says why |
//! | transparent monitors, profiles of monitors, traps | refused at load; see [`netscaler`](super::netscaler) |
//!
//! ## DNS
//!
//! | asked for | what happens |
//! |---|---|
//! | DNSSEC with NSEC3, with RSA or P-384, CDS and CDNSKEY records, roll-over by itself | NSEC, ECDSA P-256 and Ed25519 only; keys are rolled by hand ([`dnssec`](super::dnssec)) |
//! | incremental transfers of signed zones, and of changes before the start | IXFR is answered with the whole zone ([`transfers`](super::transfers)) |
//! | zones from another primary over TLS or QUIC (RFC 9103), catalog zones | TCP, with TSIG; each zone is configured ([`transfers`](super::transfers)) |
//! | TSIG other than HMAC-SHA256, or on messages that are no transfers | refused at load; such a query is answered without a signature |
//! | dynamic updates | NOTIMP: records change with the configuration |
//! | round-trip times as a selection | refused at load: `ordered`, `weighted`, `round_robin`, `hash` are there, after `topology` by own networks and `geo` by a database |
//! | DNS over QUIC, DNS over HTTP/3, padding (RFC 8467) | there is no key for them; TLS and HTTPS are there ([`dns`](super::dns)) |
//! | recursion and forwarding | names outside all zones are REFUSED (EDE 20); an alias that leads out of the zones ends there |
//!
//! ## Scenarios
//!
//! | asked for | what happens |
//! |---|---|
//! | SQL of type ORACLE in a build without `--features oracle` | accepted; queries *cannot tell*, attempts of triggers fail, checks are void, and all of them say so ([`sql`](super::sql)) |
//! | checks by a command line (`type = "USER"` runs a script); calendars of time windows (`cron`, `ics`) | refused at load |
//! | one scenario state over several boxes | each box decides for itself, by the evidence that they tell each other; where they have decided apart, `show peers NAME` lists it |
//!
//! ## Management
//!
//! | asked for | what happens |
//! |---|---|
//! | `dry_run` of what is done to the outbox, to single connections, to persistence entries, to locks and to zones from primaries; of save, reload, the stop of a drill and the test of a trigger | 501, and nothing is done; every other act answers it |
//! | alerts by SNMP or mail, on a full disk; grouping of many alerts into one message; syslog over TLS | refused at load; each alert is a message of its own ([`alerts`](super::alerts)) |
//! | of an `ns.conf`: what GSLB does beyond records and backups, policy labels, data sets, string maps, callouts, classic expressions | `bascule import` lists each line and exits with 2 ([`import`](super::import)) |
//! | shipping the journal by UDP | refused at load: a datagram can be lost without a word ([`audit`](super::audit)) |
//! | a pair of boxes with one address (HA) | each box is on its own; two sites meet in DNS |
//! | a journal whose end was cut off by somebody who may write the file | what is left is a whole chain, so `replay` cannot see it. Entries that were changed or taken out before the end are found. Ship it ([`audit`](super::audit)), or note the number and hash of the last entry elsewhere, to be sure of the end |
