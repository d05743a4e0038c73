//! # Upkeep: upgrades
//!
//! ## Going on as a new process
//!
//! `bascule handover` (or SIGUSR2 to the process) has the appliance go on as a new process of the program as it is
//! installed now. It ends with 0 once the new one serves, and with 1 and the reason where the old one goes on.
//!
//! | | a handover costs | a restart costs |
//! |---|---|---|
//! | new connections | nothing: both processes accept for a moment | refused until the new process listens |
//! | requests on kept connections | nothing: the next answer says `Connection: close` (HTTP/2: GOAWAY) | those that come after the drain began |
//! | idle connections | left alone for `--drain` less a second, then closed | closed at once |
//! | TCP, WebSocket, long answers | go on in the old process for at most `--drain`, then they are reset | the same |
//! | datagrams, queries of DNS | nothing; a session of UDP begins anew, and may go to another member | what comes meanwhile |
//! | states of services | probed anew before the new process serves | probed anew while it serves |
//! | what people have set, scenarios, journal, deliveries | nothing | nothing |
//! | acts of people | refused with 503 for as long as the new process probes (one round, five seconds at most) | refused |
//! | persistence by cookie | nothing | nothing |
//! | other persistence, counters, sessions of TLS | begin anew | begin anew |
//! | a delivery that is under way | may arrive twice, with the same key | the same |
//!
//! The new process loads FILE first, takes the sockets, reads the state, probes, and serves only where every vserver that
//! is UP in the old one is UP in it. What fails before that, also by `kill -9`, changes nothing: the old process has never
//! stopped serving, takes the state again, and says why in the journal (`handover`), the log and the answer of the command.
//! The new process has 60 seconds to load FILE, and 60 more to see what the old one sees. State that is of an older version
//! is brought forward only once the new process serves.
//!
//! Until the old process has ended, `--drain` at most, memory is used twice, and servers are probed by both.
//!
//! It is refused where the running configuration is not saved, since the new process begins with FILE; where state is kept
//! in memory (`--ephemeral`); and where the process is the first of its container, whose end would end that. Peers that ask
//! at the moment of the handover may be refused once, and ask again.
//!
//! Under systemd the old process names the new one as the main process (`MAINPID=`). A signal to stop that comes meanwhile
//! ends the new process and stops the old one.
//!
//! ## Versions
//!
//! FILE says `schema = 1`; another number is refused. The state has a number of its own (`meta` in `bascule.db`): an older
//! one is brought forward, and what was there before is kept beside it (`bascule.db.schema-3`); a newer one is refused with
//! a sentence and changes nothing. To go back to an older version, stop, put that file in the place of `bascule.db`, and
//! start the older program: what happened since is lost.
