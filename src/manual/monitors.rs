//! # Monitors and checks
//!
//! A monitor is a definition; bound to a service it becomes a check of its own (`SERVICE:MONITOR`), which takes samples and
//! says up or down. `[check.NAME]` is the same for scenarios, with targets of its own ([`checks`](super::checks)). What a service is follows from
//! its monitors: see [`states`](super::states).
//!
//! ```toml
//! [monitor.page]
//! type = "HTTP"
//! request = "GET /health"
//! response_codes = ["200-204", 301]
//! interval = "2s"
//! response_timeout = "800ms"
//!
//! [monitor.busy]
//! type = "LOAD"
//! request = "GET /load"
//!
//! [service.web1]
//! type = "HTTP"
//! address = "192.0.2.11:80"
//! monitors = { page = { weight = 2 }, busy = { passive = true } }
//!
//! [vserver.web]
//! type = "HTTP"
//! address = "192.0.2.1:80"
//! services = ["web1"]
//! ```
//!
//! ## Built-in ones
//!
//! Bound by name as they are (`monitors = ["tcp"]`), of the type that the name says, and not to be changed or defined
//! again: arp, dns, ftp, http, http-ecv, http2direct, http2ssl, https, https-ecv, ldns-dns, ldns-ping, ldns-tcp, mqtt,
//! mqtt-tls, nd6, ping, ping-default, sta, stasecure, tcp, tcp-default, tcp-ecv, tcps, tcps-ecv, udp-ecv, xdm, xnc. Those
//! whose type is not in the table below cannot be bound in this build.
//!
//! ## Types
//!
//! | type | passes where | own keys |
//! |---|---|---|
//! | PING | an ICMP echo comes back | |
//! | TCP | a connection is accepted; `secure`: and a TLS handshake | |
//! | HTTP | the status is among `response_codes` (200) | `request` (`HEAD /`), `custom_headers`, `trofs_code` |
//! | HTTP2 | the same over HTTP/2: with prior knowledge, `secure`: by ALPN | as HTTP |
//! | HTTP-ECV | `receive` is in the first 24 KiB of the body | `send` (`GET /`), `receive`, `response_codes`, `custom_headers`, `trofs_code`, `trofs_string` |
//! | HTTP-INLINE | at least half of the answers that users got since the last sample had a status among `response_codes`; without users, as HTTP | as HTTP, and `action`: DOWN (default), LOG, NONE |
//! | TCP-ECV | `receive` is in the first 24 KiB that come | `send`, `receive`, `trofs_string` |
//! | UDP-ECV (checks: also UDP) | `receive` is in the answer; without it: the port is not reported unreachable | `send`, `receive` |
//! | DNS, DNS-TCP | a record of the type comes, one of `ip_address` where given | `query`, `query_type` (A), `ip_address` |
//! | FTP | greeting 220; with a login: 230 | `user_name`, `password` |
//! | FTP-EXTENDED | and the file has a size | and `file_name` |
//! | SMTP | greeting 220, EHLO or HELO 250 | |
//! | POP3 | greeting `+OK`; with a login: that too | `user_name`, `password` |
//! | NNTP | greeting 200 or 201; the group is there | `group` |
//! | LDAP | the bind succeeds; with `base_dn`: an entry is found, with the `attribute` where given | `bind_dn`, `password`, `base_dn`, `filter` (`(objectClass=*)`), `attribute` |
//! | RADIUS | the code of the answer is among `rad_codes` (2, Access-Accept) | `user_name`, `password`, `rad_key`, `rad_nas_ip`, `rad_codes` |
//! | RADIUS_ACCOUNTING | a Start and a Stop are accounted for | `user_name`, `rad_key`, `rad_nas_ip` |
//! | MYSQL | the greeting; with a login: that too; with a query: a row, its first value as `sql_expect` says (`<= 60`, `= 'YES'`, or the very text) where given | `user_name`, `password`, `database`, `sql_query`, `sql_expect` |
//! | MYSQL-ECV | as MYSQL, with a query | as MYSQL |
//! | ORACLE (checks alone) | a login; the query (`select 1 from dual` where none is given) gives a row, its first value `sql_expect` where given; see [`sql`](super::sql) | `user_name`, `password`, `database` (the service), `sql_query`, `sql_expect` |
//! | POSTGRESQL | as MYSQL; without a login: the server answers the request for TLS | as MYSQL |
//! | REDIS | PONG; with a password after AUTH | `user_name` (`default`), `password` |
//! | MQTT | a session is accepted and a ping answered (3.1.1) | `user_name`, `password`, `mqtt_client_identifier` (a new one each time) |
//! | GRPC | `grpc.health.v1.Health/Check` says SERVING | `grpc_service_name` (the server as a whole) |
//! | LOAD | the answer is a number from 0 on, not above `load_threshold` where given; the method CUSTOMLOAD goes by it | `request` (`GET /`), `response_codes`, `custom_headers`, `json_pointer`, `load_threshold` |
//! | USER | the script ends with status 0 | see below |
//!
//! LDNS-PING, LDNS-TCP, LDNS-DNS, ARP, ND6, SNMP, SIP-UDP, SIP-TCP, RTSP, DIAMETER, MSSQL-ECV, ORACLE-ECV, MQTT-ECV, APPC,
//! SMPP, STOREFRONT and the CITRIX types are stored and shown; they are never probed, their state is unknown, and
//! `last_error` says so. (The first two groups ask about the network between boxes, which nothing here decides by; the
//! others need a client that there is not.)
//!
//! ## Parameters of all types
//!
//! | key | default | range | |
//! |---|---|---|---|
//! | `interval` | 5s | 20ms to 20940s | start to start; more than `response_timeout` |
//! | `response_timeout` | 2s | 1ms to 20939s | for everything, from the name lookup to the last byte |
//! | `response_timeout_threshold` | 0 | 0 to 100 | percent of `response_timeout`: the first sample that takes longer, after quicker ones, is warned of. 0: none |
//! | `retries` | 3 | 1 to 127 | failed samples in a row that take it down |
//! | `failure_retries` | 0 | less than `retries` | so many failed among the last `retries` take it down. 0: all of them |
//! | `alert_retries` | 0 | 0 to 32 | so many failed in a row are warned of. 0: none |
//! | `success_retries` | 1 | 1 to 127 | passed samples in a row that bring it up |
//! | `down_time` | 30s | 20ms to 20939s | the wait before a monitor that is down is probed again; between the first pass and the last that is needed it is `interval` |
//! | `lrtm` | false | | the average time to an answer is learned and shown |
//! | `deviation` | 0 | less than `response_timeout` | an answer later than the learned average and this is a failed sample; learns the average by itself |
//! | `reverse` | false | | passed and failed change places |
//! | `state` | ENABLED | | DISABLED: bound, and neither probed nor counted |
//! | `dest_ip`, `dest_port` | the service's | | |
//! | `secure` | false | | TLS from the first byte, where the type runs over TCP; MYSQL and POSTGRESQL agree on it in the clear first, as they do |
//! | `verify` | false | | the certificate must be good by the system's roots, for the address or for `server_name` |
//! | `server_name` | the host | | sent, and verified |
//!
//! The average that `lrtm` and `deviation` learn is exponential: an answer counts an eighth, and the first eight are
//! believed whatever they take. Late answers are learned from as well, so a server that has become slower for good is
//! believed after some samples.
//!
//! ## Bindings
//!
//! `monitors = ["a", "b"]`, `{ a = 3, b = 1 }` with weights, or `{ a = { weight = 3, state = "DISABLED", passive = true } }`.
//!
//! - `weight` (1, 1 to 100) is counted against the service's `mon_threshold`.
//! - `state = "DISABLED"`: neither probed nor counted. `disable lb monitor SERVICE MONITOR` in the shell, or
//!   POST /api/v1/checks/SERVICE:MONITOR/disable, does that at run time; it outlives reload and restart, and the name of a
//!   group reaches all its members. A service whose monitors are all disabled is UP. An enabled monitor counts from its
//!   first sample on, so that enabling it takes no service out of traffic.
//! - `show lb monitor NAME` in the shell and /api/v1/monitors/NAME show a definition and everywhere it is bound, each with
//!   its last response and how many probes were made and failed.
//! - `passive`: probed and shown, and never decides. HTTP-INLINE with the action LOG or NONE is passive by itself; LOG
//!   warns when it goes down.
//!
//! ## Secrets
//!
//! `password` and `rad_key` are `{ file = "…" }`, relative to the folder of the configuration, or `{ env = "…" }`; they are
//! read for each sample, so a changed secret counts at once. One that is not there makes samples void: they change
//! nothing, and `last_error` says which is missing.
//!
//! MySQL counts connections that end without a login against a host, and blocks it after `max_connect_errors`: give a
//! monitor of a busy server a login. A server with `caching_sha2_password` may want the password itself, which is sent
//! over TLS alone (`secure`).
//!
//! ## Scripts
//!
//! ```toml
//! [monitors]
//! scripts = "/etc/bascule/scripts"
//!
//! [monitor.deep]
//! type = "USER"
//! script_name = "deep-check"
//! script_args = ["--table", "orders"]
//! environment = { MODE = "read-only", TOKEN = { file = "token" } }
//! interval = "30s"
//! response_timeout = "10s"
//! ```
//!
//! The script is run as `deep-check ADDRESS PORT --table orders`, without a shell, from a folder that only an operator
//! writes to: what everybody may change, and links that lead out of the folder, are not run. It gets its `environment`,
//! PATH, and `BASCULE_CHECK`, `BASCULE_HOST`, `BASCULE_ADDRESS`, `BASCULE_PORT`, `BASCULE_TIMEOUT_MS`, and nothing else of
//! ours. Status 0 is passed; 126 and 127 are void; everything else, and the end by a signal, is failed. The first line
//! that it prints is shown.
//!
//! | limit | default | range | |
//! |---|---|---|---|
//! | `response_timeout` | 2s | | then the script and everything it started are killed |
//! | `memory` | 512MiB | 16MiB to 1TiB | address space of each process |
//! | `cpu_time` | `response_timeout` | 1s to 1h | of each process, in whole seconds |
//! | `file_size` | 1MiB | | of each file that it writes |
//! | `open_files` | 64 | 8 to 65536 | of each process |
//! | output | 64KiB | | more is a failure |
//! | scripts at once | 64 | | one that cannot begin within its time-out is void |
//!
//! What a script starts dies with it, also where it ends well; a process that leaves the group (`setsid`) escapes that, and
//! the limits above are what is left. Scripts run as the user that Bascule runs as.
//!
//! ## What a sample never does
//!
//! Every sample opens a new connection. Redirects are not followed. No server can make a probe read or wait without end:
//! bodies are looked at up to 24 KiB (checks: 64 KiB), dialogues up to 256 KiB, and all of it within the time-out. A
//! sample that this machine could not take, or took too late, or in which a probe broke off by a fault of this program,
//! is void: it says nothing about the server.
