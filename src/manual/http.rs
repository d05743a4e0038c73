//! # HTTP/2, gRPC, WebSocket, retries
//!
//! ## What servers are told of the client
//!
//! `forwarded_for` of a vserver (on) ends the list in X-Forwarded-For with the client's address; `x_forwarded` (off) sets
//! X-Forwarded-Proto, -Port and -Host; `forwarded` (off) ends the list in Forwarded (RFC 7239). `cip` of a service sets a
//! field of its own (`cip_header`, `client-ip`) to the client's address, beside X-Forwarded-For; where `cip_header` is
//! X-Forwarded-For it is that address alone. What a client wrote under such a name is replaced, or stands in a list before
//! its true address: a server that trusts the last entry, or the field of `cip`, cannot be deceived.
//!
//! ## Clients that leave
//!
//! A client that resets its connection, or its stream of HTTP/2, is noticed at once: the request is broken off at the
//! server too, and its place is free (`client_gone`). So is one that closes its sending side before its answer has begun,
//! as clients do that give up; over TLS by its close_notify. `abort_on_close = false` of a vserver (on) answers such a
//! client all the same, for programs that say "no more requests" in this way (`nc -N`). Once the answer has begun an end
//! of the sending side breaks nothing off.
//!
//! ## HTTP/2
//!
//! | towards | switched on by | how it is agreed on |
//! |---|---|---|
//! | clients of an SSL vserver | `http2` of the vserver, on by default | ALPN |
//! | clients of an HTTP vserver | `http2`, off by default | prior knowledge: the client begins with the preface. HTTP/1 stays served on the same port |
//! | servers of an SSL service | `http2` of the service, off by default | ALPN; a server that does not offer it is spoken to in HTTP/1.1 |
//! | servers of an HTTP service | `http2` of the service | prior knowledge: the server must speak it |
//!
//! Each stream is balanced by itself, by the rules, limits and persistence that HTTP/1.1 has. Requests are as strictly
//! judged: what would be refused in HTTP/1.1 is answered with the same status, and the connection stays of use.
//!
//! | bound, for each client connection | value |
//! |---|---|
//! | streams at once | 100 |
//! | header list | 64 KiB, 100 fields (431); the pieces of a Cookie field are one |
//! | bytes of bodies that are not taken yet | 256 KiB a stream, 1 MiB in all |
//! | streams that the client resets | 400 at once, 40 a second over time; then GOAWAY (ENHANCE_YOUR_CALM) |
//! | PING, SETTINGS, PRIORITY, empty DATA frames and frames of unknown types | 2000 at once, 500 a second over time; then the same |
//! | WINDOW_UPDATE frames | 100 000 at once and a second; then the same |
//! | answers that the client does not take (half a MiB each) | an eighth of the memory of the machine, 128 MiB at least, for all connections; then the same for a connection that has at least as many as the average |
//! | malformed requests (400) | 32, then the same |
//! | no stream open | `clt_timeout`, then GOAWAY |
//! | a body that the client owes | `clt_timeout` without a byte, then the stream is reset |
//! | a client that does not answer a PING while streams are open | 30 s, then closed |
//!
//! GOAWAY is also said when the process stops, when the vserver goes, and after the answer of a member that drains, so
//! that the client comes again and is balanced (HTTP/1.1: `Connection: close`). A flush (`down_state_flush`) resets the
//! streams of its member and leaves the others.
//!
//! What servers answer to clients of HTTP/1.1 is read by a grammar without alternatives: 502 where it could be read in two
//! ways. To clients of HTTP/2 framing is judged by the same rules (a length that is no number or stands there twice, other
//! codings than `chunked`, `chunked` on HTTP/1.0: 502), but the spelling of heads is tolerated where no reader behind can
//! see it, as a head of HTTP/2 is written anew: bare LF, folded lines, a blank before a colon. Of a Content-Length beside
//! Transfer-Encoding the chunks count (RFC 9112 §6.3), and the connection to that server stays of use.
//!
//! What does not pass: trailers of a request (below); interim answers (1xx) towards clients of HTTP/2, which is why
//! `Expect` is taken off; WebSocket over HTTP/2 (RFC 8441), which is not offered; server push. A fragment in a path is cut
//! off.
//!
//! A server of HTTP/2 that allows no stream (SETTINGS_MAX_CONCURRENT_STREAMS 0) is one that is silent: after `svr_timeout`
//! the request is answered 504 (`answer_timeout`).
//!
//! ### Conformance
//!
//! 109 cases of RFC 9113 and RFC 7541 are sent frame by frame, from the preface to Huffman padding.
//!
//! | section | what | instead |
//! |---|---|---|
//! | 8.1 | a pseudo-field in the trailers of a request | ignored. Trailers of requests go nowhere, so no server sees it |
//! | 4.2, 5.1, 6.3–6.9, 7541 | 20 errors with a code of their own: FRAME_SIZE_ERROR, STREAM_CLOSED, FLOW_CONTROL_ERROR, COMPRESSION_ERROR | the connection ends as it must, with GOAWAY (PROTOCOL_ERROR) |
//!
//! Not among the cases: more DATA than the window allows, which needs a server that does not read.
//!
//! ## Public suites
//!
//! They are not part of the project; whoever has them runs them. Every case that is not passed is listed with its reason,
//! and one without a known reason is exit status 1.
//!
//! ```sh
//! scripts/conformance --h2spec PROGRAM --llhttp FOLDER --smuggler FOLDER     # any of them
//! ```
//!
//! | suite, of November 2026 | what | cases | agreed | stricter | differs |
//! |---|---|---|---|---|---|
//! | h2spec 2.6.0, its strict cases too | HTTP/2 over TLS | 147 | 147 | 0 | 0 |
//! | | HTTP/2 in the clear | 147 | 146 | 0 | 1 |
//! | llhttp 9.4.2 | requests of HTTP/1 | 165 | 126 | 38 | 1 |
//! | | answers of servers | 84 | 68 | 16 | 0 |
//! | smuggler | `Transfer-Encoding` in disguise beside a `Content-Length`, ending early and late | 3536 | 3536 | 0 | 0 |
//!
//! Agreed is: as many messages with bodies as long as the suite says, or an error where it says so; of smuggler, refused,
//! or passed on with one length and nothing hidden. Requests of llhttp that have no Host get one. Stricter is refused (400;
//! answers 502) where the suite takes it:
//!
//! | cases | why |
//! |---|---|
//! | 28 | the suite takes it only in a lenient mode |
//! | 6 | RTSP, ICE, the preface of HTTP/2 behind HTTP/1 |
//! | 5 | a transfer coding other than `chunked` |
//! | 4 | CONNECT (405) |
//! | 3 | two empty lines before a request (one is read over, RFC 9112 §2.2), one before an answer |
//! | 2 | 101 that nobody asked for |
//! | 2 | HTTP/0.9 |
//! | 4 | a GET with a body; a fragment; user information in the target; `*` for a method other than OPTIONS |
//!
//! What differs: a method that is not known passes (ANNOUNCE; methods are between client and server, RFC 9110 §16.1). And
//! in the clear a client that does not begin with the preface of HTTP/2 speaks HTTP/1 for all one knows: it is answered
//! 400 in HTTP/1.1, not by GOAWAY.
//!
//! ## Trailers
//!
//! | on the way | trailers of requests | of answers |
//! |---|---|---|
//! | HTTP/1.1 → HTTP/1.1 | pass | pass |
//! | HTTP/2 → HTTP/2 | do not pass | pass |
//! | from one version to the other; requests for an upgrade, and those with a body in chunks that are copied | do not pass | do not pass |
//!
//! None passes that would say again what the head has said (RFC 9110 §6.5.1): fields of framing and the connection, Host,
//! conditions and ranges, credentials and cookies, who the client is (`X-Forwarded-…`, `Forwarded`), type and coding of
//! the content, Date, Location and the like. Where rules edit the head of a request, or the service has a
//! `client_ip_header`, its trailers end here.
//!
//! ## Date
//!
//! The server's `Date` stands; an answer without one gets ours (RFC 9110 §6.6.1).
//!
//! ## gRPC
//!
//! Calls of all four kinds pass, messages as they come, with the trailers of the answer; `te: trailers` goes on. Set
//! `http2` on the vserver and on the service. Deadlines are the client's: it resets the stream, and the server sees that.
//! A stream on which the server is silent for `svr_timeout` (360 s) ends, so a watch that may be silent for longer needs
//! a longer one. Where no server answers, the client gets what it can read: `grpc-status` 14 (UNAVAILABLE) for 502, 503,
//! 504 and 429, in an answer without messages.
//!
//! ## WebSocket and other upgrades
//!
//! WebSocket handshakes go to the server over HTTP/1.1, also where the service has `http2`; in the clear and through TLS,
//! on both sides. Other upgrades are not offered to servers. A tunnel counts as a request in flight: it holds a graceful
//! drain, a flush and `kick` end it, and so does silence of both sides for `clt_timeout` or of the server for
//! `svr_timeout`.
//!
//! ## TLS to servers
//!
//! With `verify` the name is that of the service's `server_name`, else of its server's host, else of the request; where
//! there is none the address itself must stand in the certificate. What fails is a connect that failed: another member is
//! tried, and the request is answered 502 (`server_tls_failed`).
//!
//! ## Retries
//!
//! `retry = { max = 2, budget_percent = 20 }` of a vserver:
//!
//! | what failed | tried again |
//! |---|---|
//! | a member could not be reached, or went down while it was being reached | on another, whatever the method |
//! | an idle connection that the server closed as it was taken | on the same member, idempotent requests whose body can be sent again, and any of which it took nothing |
//! | the server broke off before its answer began | on another, idempotent requests whose body (64 KiB at most) can be sent again |
//! | the server said by HTTP/2 that it did not begin | at most twice, whatever the method |
//!
//! `max` is how many members are tried after the first; 0 never. Requests that a server has had draw on a budget when they
//! are sent again: `budget_percent` of the requests of the last ten seconds, and three a second in any case, so that
//! servers that fail are not hit harder. A body can be sent again while no more than 64 KiB of it, framing of chunks
//! included, have come from the client, and whether it has come to its end does not matter.
//!
//! `max_req` of a service ends a connection to the server after so many requests (0: never). With `http2` it is a new
//! connection after about so many requests of all.
