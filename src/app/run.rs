//! From nothing to ready, and from ready to nothing.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::handover::{self, Giver, Taking};
use super::logging::Logging;
use super::ready::{self, Listeners};
use super::running::{End, Running};
use super::signals::{self, Hangup, StopSignals, Upgrade};
use super::supervised;
use super::{RunOptions, first_boot, state_directory};
use crate::admin::{self, Doors, TlsDoor};
use crate::config::Loaded;
use crate::control::clock::Clock;
use crate::control::reactor::{Begin, Reactor};
use crate::control::store::{self, Found, Memory, Store};
use crate::dataplane::Dataplane;
use crate::dataplane::dns::secondary::{self, Secondaries};
use crate::dataplane::dns::serve::DnsServer;
use crate::dataplane::handed::{Handed, Socket};
use crate::files::{self, DiskFiles};
use crate::model::time::Tick;
use crate::network::{self, Networking};
use crate::peer;
use crate::probe::runner;
use crate::snapshot::Cell;
use crate::snapshot::live::CookieKey;

/// So that what takes long does not hold up the next one.
const MANAGEMENT_THREADS: usize = 2;

/// The one writer has ended by a bug (`EX_SOFTWARE`).
const BUG: u8 = 70;

pub(super) async fn run(options: RunOptions, logging: &Logging) -> ExitCode {
    // Before anything can take long: a stop signal is never lost.
    let signals = StopSignals::new().and_then(|stop| Ok((stop, Hangup::new()?, Upgrade::new()?)));
    let (mut stop, hangup, mut upgrade) = match signals {
        Ok(signals) => signals,
        Err(error) => return fail(&format!("cannot wait for signals: {error}")),
    };
    let giver = Giver::new(&options);
    let mut taking = match Taking::inherited() {
        Ok(taking) => taking,
        Err(why) => return fail(&why),
    };
    if let Some(file) = options.ready_file.as_ref().filter(|_| taking.is_none()) {
        // Of a process that was killed: whoever waits for the file must not take it for ours.
        let _ = std::fs::remove_file(file);
    }
    let running = match start(&options, &mut taking).await {
        Ok(running) => running,
        Err(why) => {
            if let Some(taking) = &mut taking {
                taking.fail(&why).await;
            }
            return fail(&why);
        }
    };
    logging.follow(Arc::clone(&running.reactor.cell));
    signals::reload_on_hangup(hangup, running.reactor.handle.clone());
    if let Some(mut taking) = taking {
        taking.serving().await;
        running.reactor.handle.begin_writing().await;
        taking.named().await;
    }
    supervised::watch(running.reactor.handle.clone());
    let end = {
        let mut telling = pin!(tell_ready(&running, &options));
        loop {
            tokio::select! {
                name = stop.next() => break End::Signal(name),
                () = running.reactor.ended() => break End::Bug,
                () = upgrade.next() => {
                    if let Some(end) = running.hand_over(&giver, &options, &mut stop).await {
                        break end;
                    }
                }
                never = &mut telling => match never {},
            }
        }
    };
    let code = match end {
        End::Handed(heir) => {
            tracing::info!("handed over: draining for at most {:?}", options.drain);
            return running.leave(options.drain, &mut stop, heir).await;
        }
        End::Signal(name) => {
            tracing::info!("{name}: draining for at most {:?}", options.drain);
            ExitCode::SUCCESS
        }
        End::Bug => {
            tracing::error!("the one writer has ended: a bug; its message stands above");
            ExitCode::from(BUG)
        }
    };
    supervised::stopping();
    if let Some(file) = &options.ready_file {
        let _ = std::fs::remove_file(file);
    }
    running.stop(options.drain, &mut stop).await;
    code
}

async fn start(options: &RunOptions, taking: &mut Option<Taking>) -> Result<Running, String> {
    let loaded = load(options)?;
    let handed = taking.as_ref().map_or_else(Handed::default, |taking| taking.handed.clone());
    let admin_asked = loaded.model.admin.listen;
    let admin_listener = listen_admin(admin_asked, &handed)?;
    let admin_address = admin_listener.local_addr().map_err(|e| e.to_string())?;
    if let Some(taking) = taking {
        taking.loaded().await;
    }
    let (store, mut found, socket) = open_state(options, taking.is_some())?;
    let state = (!options.ephemeral).then(|| state_directory(options));
    if let Some(dir) = state.as_deref().filter(|_| loaded.model.zones.iter().any(|zone| zone.transfer.comes_in())) {
        found.zones = secondary::kept(dir);
    }
    let clock = Clock::start();
    let reactor = Reactor::start(Begin {
        loaded,
        store,
        found,
        path: Some(options.config.clone()),
        state: state.clone(),
        overrides: options.set.clone(),
        files: Arc::new(DiskFiles::beside(&options.config)),
        clock,
        probes: runner::LIMIT,
    })
    .map_err(|e| format!("the machine refuses threads: {e}"))?;

    if let Some(taking) = taking {
        network::notice(&reactor.cell).await;
        taking.until_go(&reactor.handle).await;
    }
    let folder = options.config.parent().map(Path::to_owned).unwrap_or_default();
    let (cell, observations) = (Arc::clone(&reactor.cell), reactor.observations.clone());
    let dataplane = Dataplane::start_at(cell, observations, clock.instant(Tick::ZERO), folder, handed.clone()).await;
    let network = Networking::start(Arc::clone(&reactor.cell), reactor.observations.clone(), state.clone());
    let secondaries = Secondaries::new(reactor.observations.clone(), state.as_deref());
    let dns = DnsServer::start_handed(Arc::clone(&reactor.cell), Some(secondaries), handed.clone()).await;
    tokio::spawn(join_listeners(Arc::clone(&reactor.cell), dataplane.reconciled(), dns.reconciled()));
    let (stop_admin, stopping) = watch::channel(false);
    let unix = socket.as_deref().and_then(|path| handed.local(handover::LOCAL).or_else(|| listen_socket(path)));
    // Copies, for the process that follows.
    let admin_door = Socket::stream(handover::ADMIN, admin_asked, &admin_listener);
    let own_doors = [Some(admin_door), unix.as_ref().map(|unix| Socket::local(handover::LOCAL, unix))];
    let own_doors = own_doors.into_iter().flatten().flatten().collect();
    let socket = socket.filter(|_| unix.is_some());
    let tls = Arc::new(TlsDoor::new(state.clone()));
    let first_boot = state.as_deref().and_then(|state| first_boot::tell(state, &reactor.handle));
    let (people, program) = (options.logins, std::env::current_exe().ok());
    let doors = Doors { tcp: Some(admin_listener), unix, tls: Arc::clone(&tls), state, first_boot, people, program };
    let peers = peer::start(reactor.handle.clone());
    let management = management().map_err(|e| format!("the machine refuses threads: {e}"))?;
    let admin = {
        let _inside = management.enter();
        admin::serve_through(reactor.handle.clone(), doors, stopping)
    };
    let doors = own_doors;
    Ok(Running {
        reactor,
        dataplane,
        dns,
        network,
        admin,
        management,
        peers,
        admin_address,
        doors,
        tls,
        stop_admin,
        socket,
    })
}

/// Management has threads of its own: an answer waits for its share of the machine, and not for its turn among all the
/// traffic.
fn management() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(MANAGEMENT_THREADS)
        .enable_all()
        .thread_name("bascule-admin")
        .build()
}

/// Exactly what `check` does, and its words.
fn load(options: &RunOptions) -> Result<Loaded, String> {
    match files::load(&options.config, &options.set) {
        Ok(loaded) => {
            for warning in &loaded.warnings {
                tracing::warn!("{}", warning.plain());
            }
            Ok(loaded)
        }
        Err(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            Err(format!("{} does not load; not started", options.config.display()))
        }
    }
}

/// The store, what it holds, and where the local socket goes.
type State = (Box<dyn Store>, Found, Option<PathBuf>);

/// `waits`: another process serves from it still.
fn open_state(options: &RunOptions, waits: bool) -> Result<State, String> {
    if options.ephemeral {
        return Ok((Box::new(Memory::new()), Found::default(), None));
    }
    let dir = state_directory(options);
    let opened = if waits { store::open_waiting(&dir) } else { store::open(&dir) };
    let (store, mut found) = opened.map_err(|e| e.what)?;
    found.cookie_key = Some(Arc::new(cookie_key(&dir)?));
    Ok((Box::new(store), found, Some(dir.join("bascule.sock"))))
}

/// The key of encrypted cookies: made at the first start, so that cookies outlive the process.
fn cookie_key(dir: &Path) -> Result<CookieKey, String> {
    let path = dir.join("cookie.key");
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    match std::fs::read(&path) {
        Ok(bytes) => {
            let secret = <[u8; CookieKey::BYTES]>::try_from(bytes).map_err(|_| {
                format!(
                    "{} is not a key of {} bytes; remove it, and cookies are made anew",
                    path.display(),
                    CookieKey::BYTES
                )
            })?;
            Ok(CookieKey::new(&secret))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let secret = CookieKey::fresh().ok_or("the system has no random numbers")?;
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            let mut file = options.open(&path).map_err(said)?;
            file.write_all(&secret).and_then(|()| file.sync_all()).map_err(said)?;
            Ok(CookieKey::new(&secret))
        }
        Err(error) => Err(said(error)),
    }
}

fn listen_admin(address: SocketAddr, handed: &Handed) -> Result<TcpListener, String> {
    if let Some(listener) = handed.listener(handover::ADMIN, address) {
        return Ok(listener);
    }
    TcpListener::bind(address).map_err(|error| {
        format!("cannot listen on {address} for administration: {error}; end what uses it, or change admin.listen")
    })
}

/// The state directory is ours (it is locked), so a socket that is there is left over from a process that was killed.
fn listen_socket(path: &Path) -> Option<UnixListener> {
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path)
        .and_then(|l| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map(|()| l));
    match listener {
        Ok(listener) => Some(listener),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "no local socket: commands need --url");
            None
        }
    }
}

/// A generation is there when both sides of the data plane have bound what it asks for.
async fn join_listeners(cell: Arc<Cell>, mut traffic: watch::Receiver<u64>, mut dns: watch::Receiver<u64>) {
    loop {
        let both = (*traffic.borrow_and_update()).min(*dns.borrow_and_update());
        cell.set_reconciled(both);
        let changed = tokio::select! {
            changed = traffic.changed() => changed,
            changed = dns.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
    }
}

/// Says that it is ready, and keeps the ready file true from then on: a VIP may come, go, or get another port.
async fn tell_ready(running: &Running, options: &RunOptions) -> std::convert::Infallible {
    let cell = &running.reactor.cell;
    let mut published = cell.subscribe();
    let generation = loop {
        let generation = *published.borrow_and_update();
        if cell.load().ready {
            break generation;
        }
        if published.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    cell.reconciled(generation).await;
    let listeners = || {
        let snapshot = cell.load_full();
        let mut listeners = Listeners::of(running.admin_address, &snapshot);
        listeners.fingerprint = running.tls.current(&snapshot.model).ok().flatten().map(|i| i.fingerprint.clone());
        listeners
    };
    // Whoever started us may have closed our stdout.
    let first = listeners();
    let _ = first.print(std::io::stdout().lock());
    supervised::ready(first.count());
    let Some(file) = &options.ready_file else { return std::future::pending().await };
    let mut written = serde_json::Value::Null;
    let mut bound = cell.bound();
    loop {
        bound.borrow_and_update();
        let content = listeners().json();
        if content != written {
            match ready::write(file, &content) {
                Ok(()) => written = content,
                Err(error) => tracing::error!(file = %file.display(), %error, "cannot write the ready file"),
            }
        }
        if bound.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn fail(why: &str) -> ExitCode {
    eprintln!("bascule: {why}");
    ExitCode::FAILURE
}
