//! One process of this program gives its sockets and its state to the next, so that an upgrade costs no request.
//!
//! ```text
//!   old: serves                                     new: the program as it lies on the disk now
//!    │ SIGUSR2                                       │
//!    ├── starts it; a copy of every socket ─────────▶│ loads FILE: a bad one ends it here
//!    │◀───────────────────────────────── loaded ─────┤
//!    ├── writes what is left, lets go of the store   │
//!    ├── yours ─────────────────────────────────────▶│ reads the state, writes nothing; probes
//!    │◀───────────────────── sees: these are UP ─────┤
//!    ├── go, once it sees UP all that is UP here ───▶│ accepts on the same sockets
//!    │◀──────────────────────────────── serving ─────┤ begins to write
//!    ├── named, once it has said `MAINPID=` ────────▶│ the main process now, gives signs of life
//!    └── accepts nothing more, ends in peace         └── serves
//! ```
//!
//! Why so, and not by the descriptor store of systemd or an `exec` in place:
//!
//! - **Both accept for a moment.** A listening socket that two processes hold has one queue, so there is no moment at which
//!   nobody takes a connection, and a start that takes ten seconds costs no latency. A store of descriptors keeps the
//!   queue alive but lets clients wait for all of the start, and needs one particular manager.
//! - **Nothing is believed before it was seen.** The new process probes before it accepts, since members that nobody has
//!   heard of yet would be answered for with 503. It goes on only where every vserver that is UP here is UP there.
//! - **One moment of no return.** Until it has said `serving` the new process has written nothing, also no newer tables;
//!   whatever kills it before, the old one takes the store back, having lost no entry, and has never stopped serving.
//!   What kills it after that is a crash like any other; the old process, where it is there still, ends of it as a
//!   failure, so that a service manager that looks at either of them starts a new one.
//! - **The old process stays the one of its connections.** Nothing of a connection is carried over. Its clients are told
//!   with their next answer that the connection ends (HTTP/2: GOAWAY), and idle ones are left alone for as long as
//!   `--drain` allows, since a close could meet a request on its way.
//!
//! What is not handed over, as in a restart: counters and history of connections, sessions of UDP, persistence that lives
//! in memory, sessions of TLS, states of services (they are probed anew, and read from nothing).

mod asking;
mod giving;
mod outcome;
mod taking;
mod wire;

use std::time::Duration;

pub use asking::{NotHanded, ask};
pub(super) use giving::{Giver, Heir};
pub(super) use outcome::Outcome;
pub(super) use taking::Taking;

/// Holds the number of the process that hands over. A process whose parent that is not has inherited it by accident.
const VARIABLE: &str = "BASCULE_HANDOVER";

/// How long the new process may take to load FILE.
const LOADED_WITHIN: Duration = Duration::from_secs(60);

/// How long it may take from the state to seeing what the old one sees.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// The name that the socket of the command line is handed over by.
pub(super) const LOCAL: &str = "socket";
/// That of the management.
pub(super) const ADMIN: &str = "admin";
