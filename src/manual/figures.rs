//! # Figures
//!
//! What is counted and measured, and where it is read: `/metrics` for Prometheus, whose `# HELP` lines say what each series
//! tells; `/api/v1/stats` and the objects themselves in the REST interface; `stat` in the shell. Totals count since the
//! start, or since the object was made; a new configuration does not touch them. Times stand in
//! [`endings`](super::endings).
//!
//! `bascule top` shows problems, vservers and services again and again: what is not at rest first, then the busiest.
//! `--every 5s` sets the pace, `--once` looks once; Ctrl-C ends it.
//!
//! Below are NetScaler's statistics, one by one. *There*: read where the third column says, `stats.` for
//! `/api/v1/stats/vservers/N` or `/api/v1/stats/services/N`, `vserver.`, `service.` and `group.` for the object itself.
//! *None*: it cannot mean anything here, for the reason beside it. A test holds the tables against what is answered.
//!
//! ## lbvserver, csvserver
//!
//! Of a content-switching vserver what concerns members is 0, since they belong to its targets.
//!
//! | statistic | | here | remark |
//! |---|---|---|---|
//! | name, type | there | `vserver.name`, `vserver.type` | |
//! | state | there | `vserver.state`, `bascule_vserver_state` | and `vserver.effective_state` |
//! | primaryipaddress, primaryport | there | `vserver.address` | |
//! | vslbhealth | there | `vserver.health`, `bascule_vserver_health_ratio` | percent; the ratio from 0 to 1 |
//! | actsvcs, inactsvcs | there | `vserver.members` | `eligible` of each, with the reason |
//! | tothits, hitsrate | there | `stats.requests.total`, `stats.requests.rate`, `bascule_vserver_requests_total` | requests (HTTP), connections (L4) |
//! | totalrequests, requestsrate | there | `stats.requests.total`, `stats.requests.rate` | as above |
//! | totalresponses, responsesrate | there | `stats.responses.total`, `stats.responses.rate` | answers that servers began; `bascule_vserver_responses_total` counts what clients got, ours too |
//! | totalrequestbytes, requestbytesrate | there | `stats.bytes_in.total`, `stats.bytes_in.rate` | |
//! | totalresponsebytes, responsebytesrate | there | `stats.bytes_out.total`, `stats.bytes_out.rate` | |
//! | totalpktsrecvd, totalpktssent | there | `stats.packets_in_total`, `stats.packets_out_total` | reads and datagrams: the kernel has the packets |
//! | curclntconnections, establishedconn | there | `stats.client_connections`, `bascule_vserver_connections` | those whose TCP handshake is over; the kernel has the others |
//! | cursrvrconnections | there | `stats.server_connections` | at work; idle ones are `curreusepool` |
//! | curpersistencesessions | there | `stats.persistence_sessions`, `bascule_persistence_entries` | and `bascule_persistence_hits_total`, `bascule_persistence_misses_total`, `bascule_persistence_evictions_total` |
//! | curbackuppersistencesessions | there | `stats.backup_persistence_sessions` | entries behind a cookie |
//! | surgecount, vsvrsurgecount | there | `stats.surge_count`, `bascule_vserver_surge_length` | and `bascule_vserver_surge_wait_seconds_total`, `bascule_vserver_surge_full_total`, `bascule_vserver_surge_timeout_total` |
//! | svcsurgecount | none | | services have no queue of their own: clients wait at the vserver |
//! | sothreshold | there | `vserver.spillover_threshold` | |
//! | totspillovers | there | `stats.spillovers_total`, `bascule_vserver_spilled_total` | the vserver was UP |
//! | totvserverdownbackuphits | there | `stats.backup_hits_total`, `bascule_vserver_backup_hits_total` | the vserver was DOWN |
//! | avgcltttlb | there | `stats.times` | `mean_ms` of the part `total`, and percentiles; `bascule_vserver_time_seconds` |
//! | cltresponsetimeapdex | there | `stats.apdex` | `score`, against 500 ms, NetScaler's default; connections (L4) count as well |
//! | totalttlbtransactions, toleratingttlbtransactions, frustratingttlbtransactions | there | `stats.apdex`, `bascule_vserver_apdex_transactions_total` | tolerating up to 2 s, frustrated beyond |
//! | deferredreq, deferredreqrate | there | `stats.deferred.total`, `stats.deferred.rate`, `bascule_vserver_surge_entered_total` | those that had to wait for a member |
//! | invalidrequestresponse, invalidrequestresponsedropped | there | `stats.invalid_total` | one figure: whatever is invalid is refused. By reason: `bascule_ended_total` |
//! | labelledconn, pushlabel | none | | no server push |
//! | curmptcpsessions, cursubflowconn | none | | MPTCP is not spoken |
//!
//! ## service
//!
//! | statistic | | here | remark |
//! |---|---|---|---|
//! | name, servicetype | there | `service.name`, `service.type` | |
//! | state | there | `service.state`, `bascule_service_state` | |
//! | primaryipaddress, primaryport | there | `service.address` | |
//! | throughput, throughputrate | there | `stats.bytes_in.total`, `stats.bytes_in.rate`, `stats.bytes_out.total`, `stats.bytes_out.rate` | bytes and bytes per second, each way; NetScaler adds up and divides to Mbit |
//! | avgsvrttfb | there | `stats.times` | `mean_ms` of the part `first_byte`; `bascule_service_time_seconds` |
//! | totalrequests, totalresponses, totalrequestbytes, totalresponsebytes | there | `stats.requests.total`, `stats.responses.total`, `stats.bytes_in.total`, `stats.bytes_out.total` | with their rates |
//! | curclntconnections | there | `stats.client_connections` | clients whose work it has |
//! | cursrvrconnections, svrestablishedconn | there | `stats.server_connections` | at work; with `reuse_pool`: open |
//! | curreusepool | there | `stats.reuse_pool`, `bascule_service_pooled_connections` | of the engine of common requests; idle connections of HTTP/2 are not counted |
//! | maxclients | there | `service.max_client` | |
//! | curload | there | `stats.load` | what a LOAD monitor told |
//! | curtflags | none | | bits of NetScaler's own state of a connection |
//! | surgecount | none | | clients wait at the vserver |
//! | vsvrservicehits, vsvrservicehitsrate | there | `stats.requests.total`, `stats.requests.rate` | of one vserver alone: `requests_total` of its member |
//! | activetransactions | there | `service.active`, `bascule_service_active` | |
//! | totalttlbtransactions, toleratingttlbtransactions, frustratingttlbtransactions | there | `stats.apdex` | |
//!
//! ## servicegroup
//!
//! | statistic | | here | remark |
//! |---|---|---|---|
//! | servicegroupname, servicetype | there | `group.name`, `group.type` | |
//! | state | there | `group.state` | |
//! | servicegroupmember | there | `group.members` | each is a service, `GROUP/MEMBER`, with all that stands under service |
//!
//! ## Policies
//!
//! Of content switching, the responder and rewriting: `cspolicy`, `responderpolicy`, `rewritepolicy`.
//!
//! | statistic | | here | remark |
//! |---|---|---|---|
//! | pipolicyhits, pipolicyhitsrate | there | `bascule_rule_hits_total` | of one binding, whose rule is called VSERVER/POLICY; of all together: `stat cs policy` and its like, NITRO |
//! | pipolicyundefhits, pipolicyundefhitsrate | none | | an expression is true or false of every request; 0 where they are asked for |
//!
//! ## What NetScaler does not have
//!
//! | series | what for |
//! |---|---|
//! | `bascule_service_ejected`, `bascule_service_ejections_total` | passive health, see [`methods`](super::methods) |
//! | `bascule_vserver_retries_total`, `bascule_vserver_retries_denied_total` | what the retry budget allowed and did not, see [`http`](super::http) |
//! | `bascule_vserver_limited_total` | `client_limits`: 429, and connections that were reset |
//! | `bascule_vserver_spilled_clients` | clients that spilled and are kept at the backup |
//! | `bascule_alerts`, `bascule_alerts_raised_total`, `bascule_alerts_resolved_total` | what stands, see [`alerts`](super::alerts) |
//! | `bascule_ended_total`, `bascule_vserver_responses_total` | ends by who, phase and reason; answers by class |
//! | `bascule_vserver_time_seconds`, `bascule_service_time_seconds` | times by part |
//! | `bascule_check_time_seconds`, `bascule_probe_lateness_seconds`, `bascule_correlated_failure` | latencies of checks, how late probes begin, failures that come together: see [`checks`](super::checks) |
