//! The engine that carries HTTP: one `HttpProxy` for all VIPs, fed by our own listeners through our own stream.
//!
//! What pingora decides here: framing towards the server, the pool of its connections, and the copying. What it does
//! not: which bytes of a client are a request ([`head`](super::head)), who serves it ([`member`](crate::dataplane::member)),
//! what an error looks like ([`pages`](super::pages)).
//!
//! # Traps of pingora 0.9.1, and the tests that hold them closed
//!
//! | trap | closed by | held closed by (tests/wire) |
//! |---|---|---|
//! | a tunnel is torn down where the 101 comes at once | `dial` | `l7::upgrade::a_tunnel_stands_however_quickly_the_server_agrees`, `l7::http2::servers::a_websocket_reaches_a_server_in_tls`, `clients::a_websocket_client_talks_to_a_websocket_server_in_the_clear_and_through_tls` |
//! | an empty last frame of HTTP/2 ends a chunked body twice | `request_body_filter` | `l7::http2::a_body_that_ends_with_an_empty_frame_ends_once` |
//! | ambiguous framing is repaired, not refused | `head`, before the engine; over HTTP/2 `head::http2` | `l7::strict::what_could_be_read_in_two_ways_is_refused_before_a_server_sees_it`, `l7::http2::a_request_that_could_be_read_in_two_ways_is_refused_and_its_connection_is_not` |
//! | a head has no time limit as a whole | the stream | `l7::strict::a_head_that_trickles_is_cut_as_a_whole` |
//! | 16 tries by default; a POST is repeated where the hook is overridden | `hooks::retry` | `l7::retry::a_request_is_tried_on_as_many_more_members_as_the_vserver_says`, `l7::balance::a_server_that_dies_before_it_answers_costs_no_idempotent_request` |
//! | no time-outs to servers, one stream a connection, a pool for all | `peer` | `l7::protocol::errors_of_servers_are_502_and_504_in_our_own_words`, `l7::http2::servers::streams_share_a_connection_and_clients_of_http_1_are_served_over_it` |
//! | connections of two services to one address are shared | the group key of `peer` | `l7::drain::a_flush_ends_requests_in_flight_and_pooled_connections` |
//! | a proxy a VIP is slow to make and splits the pool | one [`Engine`] | `l7::engine::two_vips_share_the_connections_to_a_server` |
//! | head and body leave as two writes | the stream buffers | `l7::engine::head_and_body_of_an_answer_leave_together` |
//! | `Date` is written over the server's | the stream (HTTP/1), `http2::session` | `l7::dates::the_date_of_a_server_stands_and_where_it_says_none_there_is_one` |
//! | `TE: trailers` is taken off towards servers of HTTP/2 | `hooks::request` | `l7::http2::servers::a_call_of_grpc_passes_with_its_trailers` |
//! | a server that allows no stream is waited for | the server's time-out | `l7::http2::servers::a_server_that_allows_no_stream_is_given_up_in_time` |
//! | trailers of a request are dropped: a body goes on as bytes and an end (`send_body_to_pipe`, `send_body_to2`), the sender of the stream is not given out, and the reader of HTTP/1.1 keeps none | – (documented) | `l7::trailers::through_pingora_a_body_ends_without_its_trailers` |
//! | crumbs of a cookie go on as several fields | `hooks::request` | `l7::http2::crumbs_of_a_cookie_reach_a_server_as_one_field` |
//! | pages carry `Server: Pingora` | pages are ours | `l7::http2::our_own_answers_carry_no_server_and_a_client_of_grpc_can_read_them` |
//! | names are resolved blocking; without a name nothing is verified; a bad key panics | addresses only, the address as the name, keys parsed before | `l7::http2::servers::without_a_name_the_address_is_verified` |
//! | a map of peers that wanted HTTP/1.1 grows with the flushes of services with `http2` | – (a few bytes each) | – |
//! | `try_peek` waits for 24 bytes | `head::http2::is_preface` | `l7::http2::a_short_request_of_http_1_is_not_held_back_by_the_look_for_a_preface` |
//! | an answer without a body ends by an empty frame, so that it cannot be trailers alone | `hooks::answer` | `clients::grpc_calls_of_every_kind_pass_and_a_missing_member_is_unavailable` |

mod connection;
mod dial;
mod hooks;
mod http2;
mod io;
mod peer;

use std::sync::Arc;

use pingora_core::apps::HttpServerApp;
use pingora_core::protocols::http::ServerSession;
use pingora_core::server::configuration::ServerConf;
use pingora_proxy::{HttpProxy, http_proxy};

use super::link::Link;
use super::stream::ClientStream;
use hooks::Hooks;

pub(super) use connection::take_over;

/// Tries of one request at most, first one included. The hooks stop much earlier, by time.
const TRIES_MAX: usize = 64;

pub(crate) struct Engine {
    proxy: Arc<HttpProxy<Hooks>>,
    prepared: peer::Prepared,
    /// Answers of HTTP/2 that clients do not take.
    unsent: Arc<http2::Unsent>,
}

// === impl Engine ===

impl Engine {
    /// `pooled`: idle connections to servers at most, over all services; beyond that the oldest is closed.
    pub(crate) fn new(pooled: usize) -> Engine {
        let conf = ServerConf {
            max_retries: TRIES_MAX,
            upstream_keepalive_pool_size: pooled,
            threads: 1,
            ..ServerConf::default()
        };
        Engine {
            proxy: Arc::new(http_proxy(&Arc::new(conf), Hooks)),
            prepared: peer::Prepared::default(),
            unsent: Arc::new(http2::Unsent::new()),
        }
    }

    fn prepared(&self) -> &peer::Prepared {
        &self.prepared
    }

    /// Answers the streams of one HTTP/2 connection until it ends.
    async fn run_http2(&self, stream: http2::Http2Stream, link: &Arc<Link>) {
        http2::run(&self.proxy, stream, link).await;
    }

    /// Answers the requests of one HTTP/1 connection until it ends.
    async fn run(&self, stream: ClientStream) {
        let link = Arc::clone(stream.link());
        let drain = link.shared.drain.clone();
        let mut session = ServerSession::new_http1(Box::new(stream));
        loop {
            // No time-out of pingora's before a head: the stream has its own.
            session.set_keepalive(Some(0));
            let Some(reused) = self.proxy.process_new_http(session, &drain).await else { return };
            link.allow_next();
            session = ServerSession::new_http1(reused.consume().0);
        }
    }
}
