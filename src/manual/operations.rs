//! # Operations
//!
//! ## What is configuration, and what is state
//!
//! FILE is the saved configuration. The running configuration begins as FILE and can be replaced at run time
//! (`PUT /api/v1/config`, `bascule apply FILE`); `save` writes it back, atomically, keeping the comments and the order
//! of what did not change and five older versions (`FILE.1` … `FILE.5`). A reload (SIGHUP or the API) takes FILE again
//! and says which unsaved changes it drops. Either is all or nothing: a configuration with a problem changes nothing.
//! Files that a configuration names (certificates, keys, zone files, databases) are the box's: relative names count from
//! the folder of the box's own FILE (`config.folder` of `/api/v1/status`), wherever the configuration was sent from.
//! `bascule apply FILE` reads includes beside FILE and sends them along; where a file of such a name lies beside FILE and is
//! not the box's, it changes nothing and says so, until `--box-files` says that the box's is meant. `bascule diff` warns.
//! Connections and requests under way go on as they began. One thing ends them: a service or vserver that the new
//! configuration no longer has is flushed where its `down_state_flush` is on, as if it were disabled without a delay. Drain
//! it first, or switch the flush off, and nothing is lost.
//!
//! What people do on the running box is **state**, durable before it is answered: disabling and enabling, drain
//! deadlines, modes of scenarios, switches, forces, moved splits. It survives reload, `kill -9`, restart and upgrade. Every such
//! override carries who, when, why and until when; `/api/v1/status` lists them all.
//!
//! ## The state directory
//!
//! One SQLite database, `bascule.db`, a lock, `bascule.sock`, the socket of the command line, and with `[network]`
//! the file `addresses`: what was put on interfaces ([`network`](super::network)). The tables can be read with `sqlite3`
//! while the appliance runs. Two processes cannot share a directory.
//!
//! | table | holds |
//! |---|---|
//! | `scenarios` | state, number, evidence and last transition of every scenario |
//! | `overrides` | what people have set |
//! | `intents` | acts that are promised and not yet carried out |
//! | `outbox` | deliveries of triggers: what waits, what was given up, what was delivered last |
//! | `journal` | what happened, append-only, each entry with the hash of the one before |
//! | `meta` | the schema number: a newer one than the program knows is refused with a sentence, an older one is brought forward |
//!
//! A commit of a scenario and every act of a person are on disk before they are published or answered. States of
//! services and vservers never wait for the disk. If the disk does not answer within two seconds, an activation is
//! published with the alert `not_durable`, and a deactivation waits.
//!
//! `bascule replay DIR` runs the journal through the engine and compares: it ends with 0 when the chain of hashes holds
//! and every commit comes out the same. It can be used beside a running appliance.
//!
//! ## Watching
//!
//! `/readyz` is 200 once every listener is bound and the first snapshot is published, 503 while starting and while
//! draining; `/healthz` says that the process answers; `/metrics` is for Prometheus. `show status` in the shell lists what
//! is wrong, what drains and what people have set, worst first. A reload that was refused stands there until one is taken,
//! and in `bascule_config_last_reload_successful`; so does a member that passive health has ejected. `stat ns` counts what
//! comes in over all addresses, `show rule` and `stat rule` (`/api/v1/rules`) say what each traffic rule does and how often
//! it did, and `explain dns`, `explain request` and `explain service` say why.
//!
//! The log goes to stderr, one line for each change of a state, act, transition and reload, and none for single probes;
//! faults are warnings with the last failed probe as the reason:
//!
//! ```text
//!  WARN service red UP -> DOWN cause="probe" why="503 Service Unavailable, expected 200"
//!  INFO scenario site-a-out activated seq=1 cause="condition" group="red and blue have failed" actor="auto"
//!  INFO service web1: disabled, out at 2026-11-29T22:50:17.000Z actor="uid:0" reason="patch"
//! ```
//!
//! `BASCULE_LOG` filters it: `debug` shows requests that failed and rows of the board, `warn` only faults.
//!
//! The same lines go to a receiver of syslog as well (RFC 5424) where the configuration names one, by default nowhere:
//!
//! ```toml
//! [log]
//! syslog = { address = "udp:192.0.2.9:514", facility = "local5" }
//! ```
//!
//! `address` is `udp:`, `tcp:` (octet counting, one connection) or `unix:` with the path of a socket; `facility` is `daemon` by
//! default, `app_name` `bascule`; MSGID is `log`, the host the name of the appliance, the severity that of the line. Lines
//! before the configuration was read are on stderr alone. Nobody confirms a line, so this is no journal
//! ([`audit`](super::audit) ships that one without losing any): 1024 lines wait at most for a receiver that is away, tried
//! again after one to thirty seconds; what finds no room is dropped and counted (`bascule_log_syslog_dropped_total`), and
//! whoever logs never waits. The last lines of a process have half a second to leave.
//!
//! ## Open files
//!
//! A client connection may need two, so the hard limit of the process bounds how many there can be at once: 204864 allow
//! all 100000, 20000 allow 7568. The soft limit is raised at the start; where the hard one allows fewer, a warning says how
//! many and what would allow all (systemd: `LimitNOFILE`). Beyond the bound clients wait in the kernel's queue. Used up all
//! the same, `no_descriptor` and `no_source_port` say so, in the log once in a while, in `/metrics` for every connection.
//!
//! ## Stopping
//!
//! SIGTERM stops taking new work, closes idle connections, lets what is open finish (`--drain`, 30 s by default) and
//! ends with 0. A client that has begun a handshake, a PROXY protocol header or the head of a request and not finished it
//! has a second left; then it is closed without an answer, as nothing was asked. A second SIGTERM ends at once.
//! An upgrade need not stop anything: `bascule handover` ([`upkeep`](super::upkeep)).
//!
//! ## Under a service manager
//!
//! Where `NOTIFY_SOCKET` is set (systemd's `Type=notify`) the process says when every listener is bound, when it begins to
//! stop, and, thrice in each `WatchdogSec=`, that it is alive: that sign passes through the one writer and the runtime of
//! the traffic, and stays away where either stands still. `bascule reload` is made for `ExecReload=`: it ends once the new
//! configuration carries traffic, says what has changed, and fails with all problems where it does not load; then nothing
//! is changed. After a handover ([`upkeep`](super::upkeep)) all of that is the new process's. [`appliance`](super::appliance)
//! has the unit of the package.
//!
//! ## Rehearsing
//!
//! `bascule test PATH` plays event scripts to the engine in virtual time and judges what they expect, so that a runbook
//! becomes a test; `bascule simulate FILE --events SCRIPT` prints the same walk as a timeline. A script stands beside its
//! configuration (`box.events` and `box.toml`), one step a line:
//!
//! ```events
//! at 10s fail api-a                        # from now on every sample of this check fails
//! within 5s expect sc:a-is-out active
//! expect www A = 198.51.100.10
//! expect trigger page-sre once
//! disable service web1 delay 30s
//! expect vs:web UP new clients own
//! after 30s expect svc:web1 OFS
//! restart down 20s
//! expect www A = 198.51.100.10
//! ```
//!
//! Every check passes until a step says otherwise, and is probed at its own interval with its own rules; queries and
//! approvals of guards pass until `guard SCENARIO refuse` or `cannot-tell`. All words are described at
//! [`script`](crate::rehearse::script). A wrong expectation is shown with file and line, what is so instead, and what had
//! happened before; the exit code is 1, and `--junit FILE` writes a report. `profiles/` holds policies that run, each with
//! a script that walks its idea and its trap.
