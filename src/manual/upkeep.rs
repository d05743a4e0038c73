//! # Upkeep: upgrades, backups, help
//!
//! ## Going on as a new process
//!
//! `bascule handover` (or SIGUSR2 to the process) has the appliance go on as a new process of the program as it is
//! installed now. It ends with 0 once the new one serves, with 1 and the reason where the old one goes on, and with 3 where
//! nobody could be asked: none runs on that state directory, or one of a version that cannot do it. Where the old process
//! is killed meanwhile it ends with 0 if another one serves in its place, and says which, else with 3.
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
//! | a delivery that is under way | is waited for, two seconds at most; one that takes longer arrives twice, with the same key | arrives twice |
//!
//! The new process loads FILE first, takes the sockets, reads the state, probes, and serves only where every vserver that
//! is UP in the old one is UP in it. What fails before that, also by `kill -9`, changes nothing: the old process has never
//! stopped serving, takes the state again, and says why in the journal (`handover`), the log and the answer of the command.
//! The new process has 60 seconds to load FILE, and 60 more to see what the old one sees. State that is of an older version
//! is brought forward only once the new process serves.
//!
//! Until the old process has ended, `--drain` at most, memory is used twice, and servers are probed by both.
//!
//! It changes the program, and not the configuration. So it is refused, and nothing is changed, where the running
//! configuration is not saved, and where FILE, or a file that it names, was changed and not taken (`bascule reload`), is
//! missing or does not load: the new process begins with FILE. A comment is no change, and neither is what people have set,
//! such as a disabled service. It is refused as well where the new process does not have every vserver that is UP; where
//! state is kept in memory (`--ephemeral`); and where the process is the first of its container, whose end would end that.
//! Peers that ask at the moment of the handover may be refused once, and ask again.
//!
//! Under systemd the old process names the new one as the main process (`MAINPID=`), and only that gives signs of life from
//! then on. A signal to stop that comes meanwhile ends the new process and stops the old one. A new process that crashes
//! while the old one drains ends the old one too, with 1, so that the manager starts another; an old process that is killed
//! while it hands over is followed by the new one, where no manager ends both. The package hands over by itself
//! ([`appliance`](super::appliance)).
//!
//! ## Versions
//!
//! FILE says `schema = 1`; another number is refused. The state has a number of its own (`meta` in `bascule.db`): an older
//! one is brought forward, and what was there before is kept beside it (`bascule.db.schema-3`); a newer one is refused with
//! a sentence and changes nothing. To go back to an older version, stop, put that file in the place of `bascule.db`, and
//! start the older program: what happened since is lost.
//!
//! ## Backup and restore
//!
//! ```text
//! bascule backup  /srv/bascule.tar.gz --config /etc/bascule/bascule.toml --state /var/lib/bascule
//! bascule restore /srv/bascule.tar.gz --config /etc/bascule/bascule.toml --state /var/lib/bascule
//! ```
//!
//! One file holds FILE, all that it names (includes, certificates, keys, zone files, databases, secrets, scripts), and the
//! state directory: what people have set, scenarios, journal, outbox, drills, history, what was uploaded, keys that were
//! made. Unfinished files of the appliance at the top of the state directory (`*.new`, `bascule.db.schema-*`) are not in it;
//! what lies in `ssl` is, whatever its name. It is a tar packed with gzip, with the size and the SHA-256 of every file in `bascule-backup.json`. It can be made
//! beside a running appliance: the database is copied as it is at one moment. What is running and not saved is not in it.
//! It holds secrets, so it is made for its owner alone (mode 0600).
//!
//! A restore compares everything with the manifest before anything is moved into its place, and unpacks no more than that
//! says. It refuses a state directory
//! that a process holds or that is not empty, files of a configuration that are there already (`--replace` takes them), names
//! that lead out of their folder, and what a newer version has made; a backup without FILE, whose FILE is no TOML, or whose
//! database is none; and two files that go to one place, or to where a folder is. Then nothing was changed. What FILE names outside its folder is restored only with
//! `--elsewhere`, to where it was. Uploaded certificates are named by whole paths into the state directory: restore to the
//! same one. As root, files are given to the owner of the folder that they go to.
//!
//! ## A disk that is full, or cannot be written
//!
//! | | what happens |
//! |---|---|
//! | traffic, probes, DNS | go on |
//! | scenarios | an activation is published two seconds late, a deactivation waits |
//! | acts of people | refused: 500, code `disk`, with the reason; nothing was done |
//! | `PUT /api/v1/config`, `bascule apply` | in force, with a warning that the journal does not have it yet |
//! | `save config` | refused; FILE stays as it was |
//! | handover, backup | refused; the running process goes on |
//! | `/api/v1/status`, `/metrics` | `not_durable` and a problem say why, so does `show status`; `bascule_not_durable` is 1 |
//! | the journal | waits in memory: 50 000 entries, then the oldest of states are dropped, and the journal says how many |
//! | a start, also after a power loss | serves from what is saved |
//! | a first start | ends, and says why |
//!
//! Once there is room everything that waits is written within a second or two, and `not_durable` is gone; nobody has to
//! restart anything. On a file system that is read-only a process that starts has no socket in the state directory: ask it
//! with `--url`.
//!
//! ## Packets
//!
//! `bascule nstrace /tmp/web.pcapng --vserver web --time 30s --size 200` writes the packets of both legs, between clients and
//! the VIP and between the box and the servers behind it, for Wireshark: whole IP packets of all interfaces, until the time
//! is over or the file has as many MiB. `--service NAME` names servers; `--address` and `--port` narrow what was named, or
//! everything where nothing was. It needs CAP_NET_RAW (root) and says so where it has it not. The appliance is only asked for
//! addresses; a VIP or server that moves meanwhile is not followed. On a box under much load the kernel drops packets that
//! are not taken in time. What is traced may hold secrets of clients: the file is made for its owner alone.
//!
//! The running appliance does the same where one asks it to, as its own user and into its state directory, so that nobody
//! needs root or a login to the machine; an operator may:
//!
//! | shell | REST | |
//! |---|---|---|
//! | `start nstrace -time 30 -filter EXPRESSION` | `POST /api/v1/traces` | begins; one capture at a time, at most an hour |
//! | `show nstrace` | `GET /api/v1/traces` | what is being written, and what was |
//! | `stop nstrace` | `POST /api/v1/traces/stop` | ends |
//! | | `GET /api/v1/traces/NAME` | the file |
//!
//! `-time` (60) are seconds, `-filesize` (100) the MiB of the file, `-size` the bytes that are kept of each packet (0, the default: all; a NetScaler
//! keeps 164). A filter is `CONNECTION.LB_VSERVER.NAME.EQ("web")` (also `CS_VSERVER`), `CONNECTION.SVCNAME.EQ("web1")`, `CONNECTION.IP.EQ(192.0.2.7)` (also `SRCIP`, `DSTIP`:
//! either end counts), `CONNECTION.PORT.EQ(443)`, or several of different kinds joined by `&&`; everything else is refused.
//! The last five files are kept; the oldest goes once a new one has begun. It does not begin, and ends, where the disk has less than 128 MiB left. Beginning and ending stand in the journal; so who has looked at packets is known.
//! NITRO's `nstrace` (`?action=start`, `?action=stop`, GET) is the same.
//!
//! ## Help from others
//!
//! `bascule support /tmp/bascule-support.tar.gz` gathers the configuration with secrets hidden, states of all objects, the
//! last 5000 entries of the journal, metrics, and figures of the process and the machine from `/proc`; neither command lines
//! nor environments, where secrets may stand, and no comment of a configuration. Of addresses of HTTP the host alone is
//! shown (`https://hooks.example.com/(hidden)`), since the path of a webhook is its secret, and of SQL no literal. What it
//! could not get it names. Look into it before you send it: names, hosts and what people wrote as reasons are in it.
//!
//! `show techsupport` in the shell (`POST /api/v1/support`, for operators) has the running appliance make it in its state
//! directory, says where it is, and keeps the last five; `GET /api/v1/support/NAME` fetches one. Neither these nor
//! captures are part of a backup.
