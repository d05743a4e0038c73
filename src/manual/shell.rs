//! # The shell and the screen
//!
//! `bascule shell` is NetScaler's command line on a running appliance; `bascule top` is a screen of what goes on. This page
//! is about what both do on a terminal. Which commands change the configuration stands in [`commands`](super::commands).
//!
//! ## Lines
//!
//! - On a terminal: history (`~/.bascule_history`), completion with Tab, `help` or `?` behind any words of a command.
//! - `bascule shell -c 'COMMAND' -c …`, or lines through a pipe, or `batch -fileName F [-outfile F]`.
//! - Behind each command stands `Done` or `ERROR: …`. The exit code is 1 after an error. `--json` prints what REST answers.
//! - `show service | grep -v UP`: the lines of an answer that match a regular expression. `-i`: in any case; `-v`: those
//!   that do not match. Several may follow each other.
//! - ^C takes back a line that is being written; while a command waits, it ends the waiting, and what the appliance was asked
//!   to do may go on.
//!
//! - Tab completes keywords, options, the words of enumerations (`set lb vserver web -persistenceType S<Tab>`) and names, also of
//!   what is bound or referred to (`bind lb vserver web <Tab>`, `-backupVServer <Tab>`).
//!
//! ## show
//!
//! | command | shows |
//! |---|---|
//! | `show service`, `serviceGroup`, `server`, `lb vserver`, `cs vserver`, `lb monitor`, each with or without a name | NetScaler's lines in NetScaler's order; with a name also what is bound. What NetScaler does not have (who disabled it and why, health, splits, the surge queue) stands below them |
//! | `show ns version`, `ns feature` (or `feature`), `ns mode`, `ns ip`, `ns hostName`, `ns config`, `ha node` | the appliance. It stands alone, so `ha node` shows one. `ns ip` lists the management address, source addresses and those of vservers |
//! | `show ns ip6`, `route`, `route6`, `vlan`, `dns nameServer`, `ntp server`, `ntp status` | of the machine's network what the configuration says ([`network`](super::network)); whether the clock is synchronized |
//! | `show ns info`, `ns license`, `ns hardware` | the appliance with its features and modes; what is licensed (everything that is there); the machine as the kernel tells: processors, memory, the disks of the system and of the state, links and their speeds (`machine` of `/status`) |
//! | `show ssl vserver`, `show ssl certKey` | how vservers speak TLS: versions, certificates, curves and cipher suites; certificates with their days left |
//! | `show serviceGroupMember G [<server> [<port>]]` | members of a group as `show serviceGroup G` has them; `stat serviceGroupMember G <server> <port>`: counters of one |
//! | `show system user` | local users; with a name the command policy that is its role |
//! | `show ns runningConfig` (or `run`), `show ns savedConfig` | the configuration that runs, and FILE, as lines of an `ns.conf` |
//! | `shell`, `shell "ls -l /var"` | a shell of the machine, or one command of it. Written in full, on the machine itself, for superusers; it has the rights of whoever runs the command line |
//! | `config ns` | asks for the box's own address, its name and a password ([`first_boot`](super::first_boot)) |
//! | `show techsupport`, `start`, `stop` and `show nstrace` | what whoever helps needs, and packets ([`upkeep`](super::upkeep)) |
//! | `diff ns config` | what going back to FILE would change |
//! | `show journal` | what happened; of the configuration a line for each difference |
//! | `enable ns mode`, `disable ns mode` | as NITRO has it: a mode that is as it is asked for is taken, no other |
//!
//! `-summary` behind `show service`, `serviceGroup`, `server`, `lb vserver`, `cs vserver` and `ssl certKey` prints one object
//! a line. `-format` and `-level` are refused: `--json` is what programs read.
//!
//! What is not there is told as NetScaler does, with the nearest name behind: ``No such resource [name, wbe1]; did you
//! mean `web1`?``.
//!
//! ## stat
//!
//! `stat lb vserver`, `cs vserver`, `service`, `serviceGroup`, `lb monitor` list a summary; with a name follow the
//! statistics with rate and total, and what is bound; `cs policy`, `responder policy` and `rewrite policy` tell their hits. A rate is per second over the last 14 seconds. Below stand times by
//! part and how requests ended, where there were any. `stat ns` (or `system`) and `stat ssl` are of the whole appliance.
//!
//! | option | does |
//! |---|---|
//! | `-detail` | of a list each object as if it were asked for alone |
//! | `-fullValues` | nothing more: no value is ever shortened |
//! | `-ntimes N` | N times, every seven seconds (`-interval S`: every S); 0: until ^C |
//! | `-at 14:17` | of one service or vserver: what was counted then. A time of day is the last that was, in UTC as all times that are shown; `-at 2h` and `-at 2026-11-29T03:10:00Z` are taken as well. The past reaches back 48 hours |
//! | `-clearstats basic`, `-clearstats full` | of vservers, services, groups (with their members), `ns` and `ssl`: tells the counters once more, and they begin at 0 again (both levels alike). `clear ns stats global` clears those of the appliance, `all` those of every object too. A role that operates is needed, and the journal says who did it |
//! | `-logFile` | refused: there are no files of counters |
//!
//! What is cleared begins again for `stat`, for NITRO under `stat` (`?args=clearstats:full`) and for
//! `/api/v1/stats/…?cleared=true`, until the appliance starts anew. `/metrics`, `-at` and `/api/v1/stats` go on counting:
//! who reads those sees no break.
//!
//! ## Pasting
//!
//! Pasted lines are shown together; Enter carries out each in order. A line that fails does not keep the others from being
//! carried out, and at the end stands which failed. What the appliance warns of (a service that no vserver has) is told
//! once, behind the last line, where it still holds then. The same goes for lines through a pipe, for several `-c` and for
//! `batch`.
//!
//! Lines of configuration that come together and only add, set or bind are carried out as one change, with one entry of
//! the journal: 300 lines take about as long as one. Each is answered as if it had come alone. What takes something away
//! (`rm`, `unbind`, `rename`, `clear`) is a change of its own. With `--json` each line goes alone.
//!
//! ```text
//! 2 of 300 commands failed:
//!         line 12: add server p1 192.0.2.9
//!                 ERROR: Server already exists [name, p1]
//!         line 80: bind lb vserver web nobody
//!                 ERROR: No such service [serviceName, nobody]
//! ```
//!
//! A terminal that does not mark what is pasted (a serial console, `expect`, `tmux send-keys`), or what is typed while a
//! command is at work, comes as if somebody typed very fast: each line is carried out as it comes, none is lost, and the
//! same summary follows when no more lines come.
//!
//! ## `bascule top`
//!
//! Problems, then vservers and services: those that are not at rest before those that are, then the busiest. What drains
//! counts down. `--every 5s` looks more seldom, `--once` looks once.
//!
//! | key | does |
//! |---|---|
//! | up and down, `j` and `k`, page up and down, home, end | moves the selection, and scrolls |
//! | `d` | drains the selected service: asks for the seconds; none: out of service at once. A vserver has no delay and is asked about |
//! | `g` | drains it gracefully: asks for the most seconds; none: until nobody is left |
//! | `e` | enables it |
//! | `/` | only names that hold this text; Esc ends it |
//! | `s` | sorts by state, by name, by rate |
//! | `q`, ^C | ends it |
//!
//! Without a terminal it prints one look and ends; on one without a screen (`TERM=dumb`) one look below the other.
//! Where the appliance says nothing for more than two seconds, the first line says so and for how long: what stands below is
//! what was. One read waits for eight seconds, then another is made; keys work meanwhile.
//!
//! ## What is printed is text
//!
//! Names, comments and what an appliance answers may hold any character. What a terminal would obey (control characters but
//! for the end of a line and the tab, marks that turn text around) is written out for people: an escape as `\u{1b}`. In
//! `show ns runningConfig` such a text is quoted, and there `\u{1b}` reads back as the character; `-toml` has TOML's
//! `\u001B`, `--json` JSON's.
