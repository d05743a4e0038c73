//! # Alerts: what a person should hear of although no scenario has committed
//!
//! A trigger of a scenario tells of transitions. An **alert** tells of what is wrong and is none: it is raised once,
//! stands as long as it is so, and is resolved once. Whoever was told of the beginning is told of the end.
//!
//! ```toml
//! [trigger.noc]
//! type     = "SYSLOG"
//! address  = "udp:192.0.2.9:514"            # or "tcp:log.example:601", "unix:/dev/log"
//! facility = "local4"
//!
//! [trigger.pager]
//! type   = "HTTP"
//! uri    = "https://hooks.example.test/alerts"
//! body   = '{"dedup_key": "${dedup_key}", "what": "${type}", "text": "${object}: ${text}"}'
//!
//! [alert.down]
//! about    = "runbook 3"
//! on       = ["service.down>1m", "vserver.down", "vserver.on-backup>5m"]
//! vservers = ["web*"]                       # kinds about vservers: only for these
//! triggers = ["pager", "noc"]
//! repeat   = "4h"                           # told again while it stands
//!
//! [alert.upkeep]
//! on       = ["certificate<21d", "override>4h", "unsaved>1h", "clock.unsynced", "dead-letter"]
//! triggers = ["noc"]
//!
//! [alert.failover]
//! on       = ["guard.refused", "scenario.stuck", "scenario.ready-to-return>15m", "oscillation", "disputed", "serve-all"]
//! for      = "10s"                          # of those that say no time of their own
//! triggers = ["pager"]
//! ```
//!
//! ## Kinds
//!
//! | kind | raised while |
//! |---|---|
//! | `service.down` | the service is DOWN. Not where a person forced it down or took it out: that is an override |
//! | `vserver.down` | the vserver is DOWN and no vserver of its chain takes new clients |
//! | `vserver.on-backup` | its new clients go to a vserver of its chain, whatever the reason |
//! | `correlated_failure` | a monitor, an access list or a check that is new or changed fails everywhere at once, or most members of a vserver failed in one moment ([`checks`](super::checks)) |
//! | `guard.refused` | the last attempt of a guard refused, or could not tell until its deadline under `on_timeout = "block"`, and the commit is still wanted |
//! | `scenario.stuck` | both modes are `on` |
//! | `scenario.ready-to-return` | the deactivation condition is true, and its mode `off` leaves it to a person |
//! | `oscillation` | too many automatic commits: the scenario is held in its state |
//! | `disputed` | of a data-centre pair: the access of the active site fails from here although this site's Internet is well, and yet the active site is well by its own word, told over the peer link. Without that link: and yet it is heard (by its `internet` list where it has one, else by its other access list). Not during its maintenance |
//! | `serve-all` | every record of a steered RRset is left out, and `on_empty` says what is answered, whichever value it has |
//! | `dead-letter` | deliveries of the trigger were given up, until they are replayed and delivered, or discarded |
//! | `certificate` | a `[certificate.NAME]` ends within 14 days, or within the time after `<`; of the link to other boxes `peer_link.certificate` and `peer.NAME.certificate` |
//! | `override` | what a person set (a disable, a force, a mode, a switch, a split) is in force |
//! | `unsaved` | the running configuration is not the saved one |
//! | `peer.unknown` | another box has not been heard for three intervals ([`peers`](super::peers)) |
//! | `peer.config-differs` | its configuration has been another one for a minute, in what boxes have in common |
//! | `peer.clock` | its clock is off by more than two seconds |
//! | `clock.unsynced` | the kernel says that its clock is not synchronised |
//! | `not_durable` | what is published may not survive a power loss |
//! | `journal.unshipped` | a destination of the journal ([`audit`](super::audit)) is not reached |
//! | `address.conflict` | somebody else has the address of a vserver, or claims it ([`network`](super::network)) |
//!
//! A time after `>` is how long it must hold; `for` is that of the kinds that say none; without either it is raised at
//! once. What breaks off in between begins anew, so a service that flaps within the time is no alert. `services`,
//! `vservers` and `scenarios` limit the kinds that are about these, by names in which `*` stands for any text and `?` for
//! one character; other kinds are about every object.
//!
//! One alert stands for each definition, kind and object, however often it is seen. Two definitions may watch the same.
//! Without `triggers` an alert shows here alone.
//!
//! ## What is sent
//!
//! An alert goes the way of every trigger ([`triggers`](super::triggers)): written with its beginning or end, at least
//! once, in order for each alert, tried again, given up in the end, signed where a secret is set. The key is
//! `appliance:alert:id:raise:trigger`, then `resolve`, and `repeat-1`, `repeat-2` … in between. Members beside those of a
//! commit (which are there too, so that a template fits both):
//!
//! | member | is |
//! |---|---|
//! | `type` | `alert.raised`, `alert.repeated`, `alert.resolved` |
//! | `dedup_key` | `appliance:alert:id`: the same from the beginning to the end |
//! | `alert`, `kind` | the definition, and which of its kinds |
//! | `object_kind`, `object`, `part` | as `service`, `web1`; of an override also what of it: `admin`, `force`, `activate` … |
//! | `severity`, `text` | `error`, `warning` or `info`; what is wrong, in words |
//! | `since`, `raised_at`, `resolved_at`, `repeats` | since when it is so, when it was told, when it ended (or null), how often it was told again |
//! | `why` | of a resolved one: `it is over`, or that the configuration no longer watches it |
//! | `about` | that of the alert, else that of the scenario it is about |
//! | `direction`, `seq`, `scenario` | `activate` for a beginning, `deactivate` for an end; the id; the scenario it is about, or empty |
//!
//! However many alerts wait to be told, what a commit promised goes first. Alerts have 1024 places of their own to wait
//! in; where one more comes, the oldest one for the receiver to which most of them wait is given up.
//!
//! A trigger of type SYSLOG sends one message of RFC 5424: over UDP a datagram of at most 2048 bytes (RFC 5426), over
//! TCP a connection with octet counting (RFC 6587), or a datagram to a local socket. `facility` is `user`, `daemon`
//! (the default), `auth` or `local0` to `local7`; `app_name` is `bascule` where nothing else is said; HOSTNAME is the
//! name of the appliance, MSGID the `type`. The severity is that of the alert (error 3, warning 4, info 6), and notice
//! (5) for its end and for commits of scenarios, which such a trigger may tell of as well. `body` replaces the text.
//! UDP and local sockets confirm nothing: such a message counts as delivered once it is handed over and nobody has
//! refused it. Over TCP it counts once the receiver has closed the connection after it, as rsyslog and syslog-ng do;
//! one that has hung, or keeps the connection until the `timeout`, is tried again and may get the message twice.
//!
//! ## Restart, reload, and a failing disk
//!
//! What stands is saved. After a restart, also after `kill -9`, it is not raised again: it goes on standing until the
//! first round of probes is over and what it is about is known, and is resolved then where it went by meanwhile. What
//! waits of its time when the process ends begins anew, except where the object itself remembers since when (an override,
//! a dead letter, a certificate). A reload that takes an alert, a kind or a pattern away resolves what stood by it.
//!
//! `not_durable` alone is told without waiting for the disk, since the disk is what it tells of.
//!
//! ## Seeing
//!
//! | shell | REST | shows |
//! |---|---|---|
//! | `show alerts` | GET `/api/v1/alerts?alert=&kind=` | what stands: since when, and how far its triggers are |
//! | `show status` | GET `/api/v1/status`: `alerts`, `problems`, `clock` | the same beside everything else that is wrong; dead letters, refused guards, disputes and an unsynchronised clock are problems there whether an alert watches them or not |
//! | `rm outbox 17` | DELETE `/api/v1/outbox/17` | forgets a dead letter that nobody will replay |
//!
//! Metrics: `bascule_alerts`, `bascule_alerts_raised_total`, `bascule_alerts_resolved_total`, and
//! `bascule_clock_synchronised`. `/events` has the topic `alert`; the journal has an entry `alert` for each beginning, each
//! time it was told again, and each end, under the object that it is about.
//!
//! Whether the clock is synchronised is asked of systemd's time service (`timedatectl`) at the start and every ten minutes:
//! it passes on what the kernel says, whichever daemon sets the clock. Where there is no such service, as in most
//! containers, nobody can tell, and nothing is raised.
