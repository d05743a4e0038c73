//! # How work ends, and how long it takes
//!
//! Every request (HTTP) and every connection (L4) that ends is told by *who* brought it about, in which *phase*, for what
//! *reason*: `server/wait/answer_timeout`. The same three words stand in the access log, in `bascule_ended_total` of
//! `/metrics`, in the statistics of a vserver and, for the networks in a vserver's `diagnostics`, in the field
//! `X-Bascule-Ending` of error answers.
//!
//! Who: `client`, `appliance`, `server`. Phases: `accept` (PROXY protocol header), `tls` (the client's handshake), `head`,
//! `rule` (rules and limits), `queue` (a member is looked or waited for), `connect` (its handshake included), `send`,
//! `wait` (for the answer's head), `body` (or bytes both ways).
//!
//! | reason | meaning |
//! |---|---|
//! | `done` | Both sides had what they wanted. |
//! | `responded` | A rule answered. |
//! | `redirected` | A rule redirected, or `redirect_url` did. |
//! | `rejected` | A rule refused. |
//! | `client_limit` | A client limit was reached: 429. |
//! | `too_many_connections` | So many were connected, or in their handshakes, at once that this one, which was idle or silent, gave way to another. |
//! | `tls_failed` | No certificate, version or cipher in common, or a certificate that was not accepted. |
//! | `bad_proxy_header` | The PROXY protocol header was missing or malformed. |
//! | `bad_request` | The request could be read in more than one way, or not at all: 400. |
//! | `too_large` | Head, target or number of fields over the bound: 414, 431. |
//! | `not_supported` | Something that is not offered: 405, 417, 501, 505. |
//! | `head_timeout` | The client did not finish its head in time: 408. |
//! | `idle_timeout` | Neither side sent anything for the idle time-out. |
//! | `keep_alive_timeout` | The client sent no further request on a kept-alive connection in time. |
//! | `client_gone` | The client went away. |
//! | `client_slow` | The client did not take the answer in time. |
//! | `no_member_up` | No member is UP, and nothing of the backup chain is. |
//! | `all_draining` | Members are there, but all of them drain. |
//! | `queue_full` | The surge queue was full. |
//! | `queue_timeout` | The surge queue took too long. |
//! | `spilled` | Spillover refused it (`backup_action = DROP`). |
//! | `connect_failed` | The server refused the connection, or was not reachable. |
//! | `connect_timeout` | The server did not answer the connection in time. |
//! | `server_tls_failed` | The handshake with the server failed, its certificate included. |
//! | `no_source_port` | No source port or address left towards the server. |
//! | `no_descriptor` | No file descriptor left. |
//! | `reset_before_head` | The server closed or reset before its answer began. |
//! | `answer_timeout` | The server did not begin its answer in time. |
//! | `bad_answer` | The server's answer is not HTTP, or could be read in more than one way. |
//! | `reset_in_body` | The server closed or reset within its answer. |
//! | `flushed` | The service went down or out, under `downStateFlush`. |
//! | `drained_flush` | The time of a drain was over. |
//! | `kicked` | An administrator ended it. |
//! | `shutdown` | The process ended. |
//! | `removed` | The configuration no longer has the vserver. |
//! | `internal` | A fault of our own: 500. |
//!
//! ## Times
//!
//! Vservers, services and members keep a histogram of each part; percentiles are off by at most 2 % from a microsecond to
//! an hour. `/metrics` has them as `bascule_vserver_time_seconds` and `bascule_service_time_seconds`, `stat lb vserver N`,
//! `stat service N` and `/api/v1/stats` as percentiles.
//!
//! | part | from | to |
//! |---|---|---|
//! | `total` | the first byte of the request; L4: accept | the last byte of the answer; L4: the close |
//! | `queue` | the client begins to wait in the surge queue | a member has a place; only of those that waited |
//! | `connect` | a connection to the server is begun | it stands; only of new ones |
//! | `server_tls` | the handshake with the server begins | it is over; only of new connections |
//! | `first_byte` | the last byte of the request is given to the server; L4: the first | its answer begins |
//! | `transfer` | the answer begins | its last byte |
//! | `own` | the head is complete; L4: the connection is ready | a server is called, or a kept connection taken, without the queue |
//! | `client_tls` | the client's handshake begins | it is over; once a connection |
//!
//! `own` is the time in which neither side is awaited and which can be told apart from waiting: the copying of bodies is
//! not in it.
//!
//! ## The access log
//!
//! Off by default:
//!
//! ```toml
//! [log]
//! access = "access.log"              # off | stdout | a file, relative to the folder of the configuration
//! format = "text"                    # key=value; or json: the same keys; common; combined
//! ```
//!
//! One line each: `time` (of the end), `id`, `client`, `vserver`, `by` (another vserver that served), `service`, `method`,
//! `host`, `path` (never the query: it may hold secrets), `status` (what the client was told), `server_status` (what the
//! server said, where a rule made something else of it), `bytes_in`, `bytes_out` (of bodies, our own included), the parts
//! above as `total_us` …, `who`, `phase`, `reason`, `why` (a server could not be reached), `rule` (that answered, refused or routed, or gave the answer its
//! status). The file is opened anew with every reload (SIGHUP), so that a rotated one
//! is left. Where the disk does not keep up lines are dropped and counted (`bascule_access_log_dropped_total`): traffic
//! never waits for a log. Without an access log, failures of servers and our own go to the log of the process, ten a
//! second at most.
//!
//! `common` and `combined` are the formats of web servers, for programs that read those: client, two names of users (always
//! `-`: nobody logs in with us), the time of the end in UTC, the request without its query, `status`, `bytes_out`; and with
//! `combined` Referer, without its query too, and User-Agent:
//!
//! ```text
//! 192.0.2.7 - - [29/Nov/2026:22:50:17 +0000] "GET /a HTTP/1.1" 200 512 "https://example.test/" "curl/8.5"
//! ```
//!
//! Quotation marks, backslashes and all that is not printable ASCII are written as `\x22`, blanks in a path as `\x20`. A
//! connection (L4), or a request that could not be read, has `"-"`; nothing told or no bytes are `-`. They have no room for
//! vserver, service, times, ids and how it ended: `text` and `json` have.
//!
//! Our own error answers end with `id: …` and carry it as `X-Request-Id`; it finds the line.
//!
//! ## Who is connected
//!
//! `show ns connectiontable [-vserver V] [-service S] [-client IP]` and `/api/v1/connections` list open client
//! connections; `kill connection ID`, `kill service S` (`serviceGroup`, `server`) and their `kick` in the REST interface end
//! what is under way with a reset (`kicked`). Nothing keeps the client from coming back: disable the service first.
//!
//! `bascule explain request --vserver V --path /x --client IP` says which rules would be asked and what each term is, where
//! new clients go, and why each member is in or out. Asking counts and moves nothing; limits on clients are named and not
//! tried, for that reason.
