//! # Where NetScaler's documentation is silent
//!
//! Names and behaviour of the ADC are NetScaler's as far as its documentation goes. Where it says nothing, or two things,
//! a choice was made. These are the choices, so that nobody takes them for facts about NetScaler; each is held by tests.
//!
//! ## Probes and monitors
//!
//! | question | what happens here |
//! |---|---|
//! | what a new service is before its first probe | UNKNOWN, and gets no new clients. The first passed probe makes it UP; failed ones make it DOWN only after `retries` |
//! | probes of a service that is out | go on, so an enabled service is at once what its monitors say |
//! | `failure_retries` while nothing is known yet | counts as it does while the service is up: that many failures among the last `retries` probes make it DOWN from UNKNOWN too |
//! | `reverse` and an answer that asks for a drain (`trofs_code`, `trofs_string`) | such an answer is a passed probe, so reversed it is a failed one and drains nothing |
//! | how long a monitor's request for a drain lasts | over single failed probes, as long as the monitor stays up. A passed probe without the request ends it, and so does the monitor's going down |
//! | how a monitor's drain ends | it has no timer: the service is UP once an answer passes plainly, DOWN once the probes fail. TROFS_DOWN is shown only when an administrator drains as well |
//! | a monitor that is enabled again (`enable lb monitor`) | is probed at once and counts from its first sample on; the service stays what its other monitors say meanwhile |
//! | a service whose monitors are all disabled, or passive | UP, where `mon_threshold` is 0 |
//! | HTTP-INLINE | one sample an interval: failed where more than half of the answers to users had another status than `response_codes`. Without users since the last sample a request is made, so that a service that is down can come back |
//! | LRTM off, and a probe skipped because traffic was seen | no probe is ever skipped |
//! | exit statuses of a script (USER) | 0 passed, 126 and 127 void, everything else failed |
//! | a forced state | replaces what the probes say, a monitor's drain included. Probes go on underneath, and `NONE` shows their truth of that moment. An administrator's disable and a name that does not resolve stand above it |
//! | unknown behind a derived check (SCENARIO, DATACENTER, …) | the sample is void: the check stays as it was |
//! | the latency of a check with several targets | when it was decided; the others are still waited for, so that each shows what it gave |
//! | the first samples of many new checks | sixteen at a time, 1.6 ms apart |
//! | failures that come together | told, never acted on ([`checks`](super::checks)) |
//! | what a flap is (`flaps<3 in 30m`) | a change between up and down; leaving UNKNOWN is none |
//! | a server whose name has never resolved | its enabled services are UNKNOWN. One that has resolved keeps its address, whatever DNS says or does not say afterwards |
//! | `health_monitor = false` | always UP when enabled, TROFS while draining, never TROFS_DOWN |
//!
//! ## Disable, drain, enable
//!
//! | question | what happens here |
//! |---|---|
//! | enable during TROFS or TROFS_DOWN | the drain and its timer are forgotten, and the service is what its monitors say; connections and persistence stay. Enable works in every state |
//! | a second disable during a drain | replaces the first, its deadline too, whether that makes it longer or shorter; without delay and not graceful the service is out at once |
//! | disable of a service that is out | changes nothing and answers 200, since clients repeat themselves. A later deadline does not bring it back, over a restart neither |
//! | a delay of 0 | the same as none |
//! | the probe recovers in TROFS_DOWN | back to TROFS under the same deadline, also where the service was DOWN when it was disabled |
//! | a service that is DOWN and disabled gracefully | out as soon as nothing is open on it |
//! | a drain before any probe result | shown as TROFS |
//! | an administrator's drain and a monitor's at once | the administrator's deadline decides; when the monitor's ends first, the service drains on |
//! | disabled at several levels (service, group, server) | the levels are kept apart: each is enabled for itself, and the drain that ends first takes the service out |
//! | a drain that is complete | stays complete, although a persistent client should come in that moment |
//! | persistence in a graceful drain | honoured as in a timed one, where `trofs_persistence` is on; in TROFS_DOWN it is not |
//! | graceful without a deadline, over a restart | the transactions it waited for ended with the old process, so the service is out |
//!
//! ## Vservers and backups
//!
//! | question | what happens here |
//! |---|---|
//! | the state while all members drain and none is UP | UP. The backup is not used and new clients are refused, as documented; DOWN would contradict that |
//! | the effective state of a disabled vserver | its chain's: UP while a backup is UP, else DOWN |
//! | the state of a primary held out by `disable_primary_on_down` | DOWN until somebody enables it. Only a failure holds it: neither a start, nor a reload, nor the feature being off |
//! | `health_threshold` | counts members. UP and TROFS are active; DOWN, TROFS_DOWN and UNKNOWN are not; OFS is not counted at all. Exactly at the threshold is UP |
//! | health and spillover | share of weights that are UP among members that are not OFS, rounded down; below the threshold new clients go on. TROFS is not UP |
//! | the chain of a primary that spills | the first vserver of it that is UP with a member UP. One that spills itself passes on along its own chain and takes the client only if nobody there can; disabled, failed and draining ones are skipped. With nobody to take them the primary keeps its new clients while a member of it is UP |
//! | a backup's persistence | a client that the backup knows stays with its member there, while new clients go to the backup |
//! | all members full (`max_client`) or out of reach | out of reach: the next members, then the vservers of the chain. Full: the client waits in the surge queue ([`overload`](super::overload)); it goes on to the chain only where `spillover` says so |
//! | `vs:NAME.admin` and `.fault` | of a vserver that cannot serve by its own members: `.admin` if it is disabled, or if every member that is not UP was taken out (OFS, TROFS, TROFS_DOWN); `.fault` if one is DOWN that nobody touched, if it has no members, or if it is held down with members UP |
//! | LEASTCONNECTION and LEASTREQUEST | the same figure: work on the service over all vservers, by whichever it came |
//! | startup round robin | none: a member that came UP is given its share at once, or grows into it (`slow_start`) |
//! | a lower order whose members are all full | its clients wait, spill or are refused; the next order is for members that are down, ejected or out of reach |
//!
//! ## Connections
//!
//! | question | what happens here |
//! |---|---|
//! | `down_state_flush` on the vserver, off on the service | when the vserver goes down, its client connections end, idle ones too, with the work its own members do for them; when only the service does, nothing ends |
//! | off on the vserver, on on the service | when the service goes down, requests and connections in flight on it end on both sides; idle clients of the vserver stay |
//! | on on both; off on both | both of the above; what is in flight finishes |
//! | when a drain flushes | at its end, not at its beginning; a graceful one that ended because nothing was open flushes nothing. Going from TROFS to TROFS_DOWN flushes as going DOWN does |
//! | a member that cannot be reached | the request or connection goes to the next one, whatever the method, since nothing was sent |
//! | a server that fails before its answer began | an idempotent request whose body can be sent again goes to the next member, at most twice; any other is answered 502 |
//! | a target in absolute form (`GET http://a/`) beside another Host | 400. A proxy may replace Host by the target's (RFC 9112 §3.2.2); two names for one request are how filters are deceived |
//! | GET or HEAD with a body | 400: two parsers may disagree where it ends |
//! | HTTP or TCP with nobody to serve | 503, and the connection stays open; TCP is reset |
//!
//! ## Datagrams
//!
//! | question | what happens here |
//! |---|---|
//! | what a session of UDP is | all datagrams of one client address and port at one VIP, until nothing has come from either side for `clt_timeout` (120 s). It is balanced once, counts as a connection (`max_client`, LEASTCONNECTION, the table of connections), and the server sees a port of its own for each |
//! | a member that is not there (ICMP says so) | the session goes to another member, with the datagram at hand; what was sent before is lost, as datagrams are. It counts as a failed connect |
//! | sessions in a drain, at a flush | TROFS keeps them; where `down_state_flush` ends connections it ends sessions within a second, and the next datagram of the client is balanced anew |
//! | too many sessions (65 536 for a VIP, a quarter of the connections of the process for all; fewer where the limit of open files says so) | the one that no server has answered and that was silent longest makes room; else the one that was silent longest, if for 5 s; else the new client is not served. Forged addresses push out each other, not those who are served |
//! | nobody to serve a datagram, or all members full | it is dropped and counted as refused; datagrams do not wait in the surge queue |
//! | queries of a DNS vserver | each is balanced on its own. To the server they go from a few sockets under identifiers drawn anew; only an answer to the question that was asked goes back, under the client's own. A query without an answer within 5 s is forgotten: the resolver asks again |
//! | the end of the process, or of the VIP | sessions and queries end with their VIP, also where a stop leaves TCP connections time to finish |
//! | the default monitor of UDP, DNS and ANY | `ping-default`: whether the host is there. Bind a DNS or UDP-ECV monitor to know of the service |
//! | one address and port | may be a TCP vserver's and a UDP vserver's at once, as DNS and DNS_TCP have it |
//!
//! ## Beside NetScaler
//!
//! | question | what happens here |
//! |---|---|
//! | time windows in the two nights on which the clock jumps | hours are what the clock on the wall shows: a window that it never shows does not open, one that it shows twice is open twice as long without a break ([`window`](crate::machine::window) has the table) |
//! | a window over midnight | belongs to the day on which it begins, as do weekday and holiday |
//! | the shorter TTL near a flip (`degraded_ttl`) | holds while a scenario that a record names is active or in the making of a transition, and while the `check` of a record is false ([`records`](super::records)); ADC states announce nothing, and negative answers keep the SOA's minimum |
//! | which caches count as holding a former answer | those that were answered by this box: the time of each answer and its TTL, and one second for what is under way; after a restart, every RRset a moment before it |
//! | when an entry of the journal counts as shipped by syslog | when the connection has held for 2 s after it was written, since syslog over TCP confirms nothing |
//! | `explain dns --at` | scenarios from their commits, terms from the rows of the journal; the shorter TTL shows while a scenario was active, not while one was about to change, since single samples are not journalled |
//! | DNS queries for type OPT; for type 0 | NOTIMP, as for other types that no record can have; NODATA, since 0 stands for no record |
//! | a second process at an address of `[dns] listen` | is refused the port, though the readers of an address share it |
//! | answers over HTTPS and caches between | `private`: what is answered may be for this client only |
//! | queries over TLS and HTTPS of more than 4096 bytes | as over TCP: the connection ends, or 413 |
//! | limits of connections (`[dns.tcp]`) | one count for TCP, TLS and HTTPS: a client has no more by mixing them |
//! | `key` beside `from` in `[zone.NAME.transfer]` | signs what is asked of the primaries; the zone goes out only where `allow` says so |
//! | a zone of a primary that has a CNAME beside other data, records outside the zone, or two SOAs | refused whole; what there is stays |
//! | a zone that its primary signs, without keys here | refused: unsigned it would be bogus wherever the parent has a DS |
//! | DNS queries of type ANY | answered with one RRset, the CNAME or else the one of the lowest type number (RFC 8482) |
//!
//! ## Drills
//!
//! | question | what happens here |
//! |---|---|
//! | how many at once | one: a second would begin while another scenario is active |
//! | when its time begins | with the call, also where a guard is asked first |
//! | a guard that holds the return back | the drill ends later than planned; a person may pass it |
//! | a guard that refuses the activation | the drill is over; it is not asked again |
//! | a fault that is real meanwhile | where it would fire by itself, return and failover are committed together, and nobody sees the scenario inactive; where it would not, the drill goes on |
//! | whoever sets a mode of the scenario | takes the drill over: `deactivate on` is its return, anything else leaves the scenario where it is |
//! | scenarios that follow the drilled one | belong to the drill, on their way out and back |
//! | a pair's permission to return | is no "other scenario that is active": it is so while all is well |
//! | a gate | does not hold back what a drill tells: its list was named for it |
//! | what can end it early | the named conditions of `[drills.stop_on]`, so that they are checked at load and are there after a restart |
//!
//! ## Triggers and guards
//!
//! | question | what happens here |
//! |---|---|
//! | a commit that is published before it is on disk | its triggers wait for the disk: sent before, a crash could give their seq, and with it their key, to another commit |
//! | which definition a delivery follows | the one of the configuration at each attempt, so that a wrong address can be mended while it waits; the payload is of the commit |
//! | `drill` in a payload | a commit of a [drill](super::drills), or one that was forced by hand with a reason that begins with the word `drill` or `test` |
//! | what the circuit breaker counts | no answer, 429 and 5xx; another unexpected answer is one of a receiver that lives |
//! | a trigger that the configuration no longer has | its deliveries are dead at once, and can be replayed when it is back |
//! | too much waits | the oldest is given up: what is newer says more about now |
//! | a query that is answered 5xx, 408, 429 or a redirect | cannot tell: somebody between may have answered |
//! | decisions about a guard | only of the attempt that runs; refusing needs no `approve` in the guard |
//! | characters of a key that HTTP cannot carry | percent-encoded, as are `:` and `%` inside its parts |
//!
//! ## What is told to others
//!
//! | question | what happens here |
//! |---|---|
//! | which spans there are | one for the request, one for each server that was tried; moments are events of these, not spans, as they are instants that most readers want beside the bar |
//! | whose `traceparent` counts | everybody's, as `trace.accept` says by default: behind another proxy that is what is wanted; a VIP that the world calls names its networks |
//! | a trace that its caller does not sample | passes unchanged and is not sampled, whatever `one_in` says |
//! | a request that is not sampled | still names a trace to its server, so that all agree not to sample it |
//! | OTLP as JSON, not protobuf or gRPC | every collector takes it at the same address, and it needs nothing that is not here already |
//! | queries and Referer's queries in access logs of web servers' formats | left out as in our own: they may hold secrets |
//! | the log over syslog | what stands on stderr, from when the configuration is read; lost lines are counted, not kept: the journal is what must not be lost |
//!
//! ## Alerts and syslog
//!
//! | question | what happens here |
//! |---|---|
//! | how syslog is reached | by a trigger of type SYSLOG, so that alerts and commits share one way: order, retries, dead letters, tests |
//! | a vserver that is DOWN while its backup serves | on backup, not down: down is where nobody takes new clients |
//! | a service that a person forced down, took out or drains | no `service.down`: it is an override |
//! | how long something has held | by the monotonic clock from when it is first seen; its age before is wall time. `since` of a service begins anew with the process |
//! | unknown | neither raises nor resolves, so a restart tells nothing twice |
//! | `disputed` without a peer link | the two access lists of the active site contradict each other while this site's Internet is well |
//! | `serve-all` | any value of `on_empty` that has to answer, not `serve_all` alone |
//! | an override that is set anew | another one: the alert about the former is resolved |
//! | ids of alerts | microseconds since 1970, or the next free number: nothing need be on disk for them to be new |
//! | `not_durable` | told at once, since waiting for the disk would keep it until it is over |
//! | an alert whose definition a reload takes away | resolved, and whoever was told of its beginning is told |
//!
//! ## Boxes that hear each other
//!
//! | question | what happens here |
//! |---|---|
//! | what NAME of `[peer.NAME]` is | the other box's `appliance.name`; its certificate must name it (subjectAltName), whatever the host in `url` |
//! | which configuration must be the same | the tables that decide answers, each compared by a hash of its own; a box's addresses and services never are |
//! | a pair of the same name with other sites there | the box is refused, as one of another cluster is; pairs that only one of them has are a difference of configurations |
//! | whose eyes a pair sees with | B's, where its box is heard; else this box's own. `A.internet`, `B.wan@A`, `B.lan@A` are A's own word |
//! | A's word that comes back while B is cut off | must hold for `loss_hold` before B hands traffic back: it may come a moment before B's own Internet does |
//! | `loss_hold` where signals are told | allows for three intervals of silence beside the slowest detection |
//! | a dispute | is told once it has held for `loss_hold` while the backup's own Internet is fine |
//! | an `internet` list of another site | that site's own box probes it; here it only says what `dc:NAME.internet` without `@` is |
//! | maintenance | the switch of this box; another one at the peer is shown as a difference, and decides nothing here |
