//! L5: the ways in over HTTP: REST under `/api/v1`, NITRO under `/nitro/v1`, server-sent events, `/metrics`, `/healthz`,
//! `/readyz`.
//!
//! One table, [`route::table`], says for each method and path who may call it, what it reads and what it answers; the
//! router, the checks of query and body, and `/api/v1/openapi.json` are all made of it, so that nothing is reachable
//! that is not documented, and nothing is documented that is not there.
//!
//! A request goes: connection ([`server`]) → who calls, and may they ([`auth`]) → parameters and body, all keys known
//! ([`body`]) → one look at the world or one command through [`Handle`](crate::control::Handle) → a structure of
//! [`dto`], or a problem document ([`problem`]).

#[macro_use]
pub mod dto;

mod access;
pub(crate) mod auth;
mod body;
mod cleared;
mod dashboard;
pub(crate) mod edit;
mod events;
mod health;
mod history;
mod idempotency;
mod look;
mod machine;
mod metrics;
mod nitro;
mod openapi;
mod problem;
mod rest;
mod route;
mod searches;
mod server;
mod superuser;
mod timeline;
mod tls;
mod tools;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

pub(crate) use crate::config::nearest;
use crate::control::{Command, Done, Handle, Refusal, World};
use crate::model::first_boot::FirstBoot;
use problem::Problem;

pub use server::{Doors, serve, serve_through};
pub use tls::{Identity, TlsDoor};

/// How long a command may take besides its wait for a drain: the disk, and the listeners of a new configuration.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the one writer may take to answer a read. It answers between two steps, so this is a box in trouble.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// What every handler shares.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    handle: Handle,
    /// What is remembered of callers.
    keeper: auth::Keeper,
    tls: Arc<TlsDoor>,
    /// Where management listens over TCP.
    listens: Option<SocketAddr>,
    first_boot: Option<FirstBoot>,
    events: Arc<events::Hub>,
    turns: edit::Turns,
    answers: idempotency::Answers,
    nitro: nitro::Nitro,
    /// How busy the processors are.
    meter: machine::Meter,
    tools: tools::Tools,
    cleared: cleared::Cleared,
    history: Arc<history::History>,
    /// Streams of `/events`.
    streams: Arc<events::Streams>,
    searches: searches::Searches,
    /// True once the process ends: streams close.
    stopping: watch::Receiver<bool>,
}

// === impl App ===

impl App {
    /// The doors are for somebody else to open.
    fn new(handle: Handle, doors: &Doors, stopping: watch::Receiver<bool>) -> App {
        let Doors { tcp, tls, state, first_boot, people, program, .. } = doors;
        let events = events::Hub::start(handle.clone(), stopping.clone());
        let history = history::History::start(handle.clone(), state.clone(), stopping.clone());
        let tools = tools::Tools::new(program.clone(), state.clone());
        App(Arc::new(Shared {
            handle,
            keeper: auth::Keeper::with_people(*people),
            tls: Arc::clone(tls),
            listens: tcp.as_ref().and_then(|tcp| tcp.local_addr().ok()),
            first_boot: first_boot.clone(),
            events,
            turns: edit::Turns::default(),
            answers: idempotency::Answers::default(),
            nitro: nitro::Nitro::default(),
            meter: machine::Meter::default(),
            tools,
            cleared: cleared::Cleared::default(),
            history,
            streams: Arc::default(),
            searches: searches::Searches::default(),
            stopping,
        }))
    }

    fn handle(&self) -> &Handle {
        &self.0.handle
    }

    /// What the kernel says of the machine now.
    fn machine(&self) -> machine::Machine {
        machine::Machine::read(&self.0.meter, tokio::time::Instant::now(), self.0.tools.state())
    }

    fn history(&self) -> &history::History {
        &self.0.history
    }

    /// Carries out `command`; `wait` is what the command itself may wait.
    async fn command(&self, caller: auth::Caller, command: Command, wait: Duration) -> Result<Done, Refusal> {
        match tokio::time::timeout(
            COMMAND_TIMEOUT + wait,
            self.0.handle.command_through(caller.actor, caller.door, command),
        )
        .await
        {
            Ok(answer) => answer,
            Err(_) => Err(Refusal::Disk(
                "the appliance does not answer in time; whether it was done, the journal will tell".into(),
            )),
        }
    }

    /// Looks at the world between two steps.
    async fn read<T: Send + 'static>(&self, look: impl FnOnce(&World<'_>) -> T + Send + 'static) -> Result<T, Problem> {
        match tokio::time::timeout(READ_TIMEOUT, self.0.handle.read(look)).await {
            Ok(answer) => answer.map_err(Problem::from),
            Err(_) => Err(Problem::busy("the appliance does not answer in time; try again")),
        }
    }
}
