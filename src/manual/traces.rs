//! # Traces of requests
//!
//! Each HTTP request can take part in a trace: the request names it to its server in the field `traceparent`
//! ([W3C Trace Context](https://www.w3.org/TR/trace-context/)), and what is known of it afterwards is sent as spans of
//! OpenTelemetry to a collector. Off, and without any cost, until there is
//!
//! ```toml
//! [trace]
//! endpoint = "http://127.0.0.1:4318/v1/traces"   # OTLP over HTTP, encoded as JSON
//! ```
//!
//! | key | default | meaning |
//! |---|---|---|
//! | `endpoint` | must be there | Where spans are sent, the whole path included. `https://` verifies by the system's roots. |
//! | `headers` | none | Fields of those requests, such as a token; not those that say what the body is or how it comes. |
//! | `one_in` | 100 | Of the requests that come without a trace, one of so many is sampled; 1: all, 0: none. |
//! | `accept` | everybody | Networks whose `traceparent` counts. |
//! | `service_name` | `bascule` | `service.name` of the spans. |
//! | `timeout` | `10s` | Of one request that sends spans; a second to a minute. |
//!
//! ## Which requests are sampled
//!
//! A caller that sends a `traceparent` decides: what it samples is sampled, what it does not sample passes with its field
//! unchanged. Whoever can send that field can have his requests sampled, so a VIP that the world calls wants
//! `accept = ["10.0.0.0/8"]` or the like: of others the field is replaced, and `tracestate` emptied. A request without one
//! gets a trace of its own, and one in `one_in` of these is sampled, by the name of the trace alone, as others that sample
//! by a ratio do it. A malformed `traceparent` is none, and several of them are none either.
//!
//! A server is always told the span that its own should hang below, whether it is sampled or not, and nothing a client
//! sent can stand beside it. `tracestate` of an accepted trace goes on as it is.
//!
//! ## What is sent
//!
//! A span of kind *server* for the request, from its first byte to the last of the answer, and below it one of kind *client*
//! for each server that was tried, the 16 first ones at most. Attributes are those of OpenTelemetry's conventions for HTTP
//! (`http.request.method`, `url.path`, never the query, `client.address`, `http.response.status_code` …), and our own:
//! `bascule.vserver`, `bascule.service`, `bascule.rule`, `bascule.request_id` (the `id` of the access log), `bascule.ending`
//! (as [`endings`](super::endings) has it), `bascule.connection.reused`. Moments are events: *head complete*, *left the
//! queue*; *tcp connected*, *connected*, *request sent*, *first byte of the answer*. A span is an error where the answer was
//! 500 or more, or none for a fault that is not the client's; that of a try from 400 on, or where it failed.
//!
//! Connections of L4, answers to requests that could not be read, DNS and health checks have no spans.
//!
//! ## Where a collector is slow or away
//!
//! The spans of 4096 requests wait at most, and are sent 512 requests at a time, four times a second, by a thread of their
//! own. What finds no room is dropped: traffic never waits for it. What a collector cannot take for now (no answer, 429,
//! 502, 503, 504) is sent five times at most, with pauses of one to thirty seconds or as long as its `Retry-After` says; what it
//! refuses is dropped. What waits at the end of the process is lost. A change of `[trace]` counts at once: what is under way
//! to an end that hangs is given up, and sent to the new one.
//!
//! `/metrics` counts: `bascule_trace_requests_total` (sampled), `bascule_trace_sent_total`, `bascule_trace_dropped_total`,
//! `bascule_trace_failures_total` (attempts). The log says once that spans are not taken, and once that they are again.
