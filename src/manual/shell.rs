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
//! ## Pasting
//!
//! Pasted lines are shown together; Enter carries out each in order. A line that fails does not keep the others from being
//! carried out, and at the end stands which failed:
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
