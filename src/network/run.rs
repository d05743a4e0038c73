//! The task that carries out the plan: waits for whatever comes first, tells the plan, does what it asks for, and tells
//! how every address stands. Nothing is decided here.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::carry::Netlink;
use super::listen::Ears;
use super::machine::Machine;
use super::plan::{Act, Plan};
use super::wish::wishes;
use super::{networkd, unit};
use crate::model::Model;
use crate::model::event::Observation;
use crate::model::network::{self, AddressState, Manager};
use crate::model::time::Tick;
use crate::snapshot::{Cell, Snapshot};

/// Everything is looked at again at least so often: a word of the kernel may be lost where there are too many.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// What the kernel says comes in bursts.
const BURST: Duration = Duration::from_millis(10);
/// What did not work is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// Looks after the machine's network, as soon as a configuration has a `[network]`.
pub struct Networking {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// What runs while it looks after it.
struct Keeper {
    cell: Arc<Cell>,
    observations: mpsc::Sender<Observation>,
    began: Instant,
    plan: Plan,
    ears: Ears,
    /// The configuration that is followed.
    model: Option<Arc<Model>>,
    /// What was told last of each address.
    told: HashMap<IpAddr, AddressState>,
    /// What was carried out last of `[network]`, and whether Bascule sets the interfaces' own addresses.
    applied: Option<network::Networking>,
    by_netlink: bool,
    /// Something did not work: when it is tried again.
    retry_at: Option<Tick>,
    /// When everything is looked at again at the latest.
    look_at: Tick,
}

// === impl Networking ===

impl Networking {
    /// To be called within a tokio runtime.
    pub fn start(cell: Arc<Cell>, observations: mpsc::Sender<Observation>) -> Networking {
        let (stop, stopping) = watch::channel(false);
        let task = tokio::spawn(run(cell, observations, stopping));
        Networking { stop, task }
    }

    /// Takes the VIPs and source addresses off the machine that it had put there, so that another box can have them.
    pub async fn leave(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }

    /// Ends, and leaves everything where it is: another process of this program goes on with it.
    pub fn stay(self) {
        self.task.abort();
    }
}

async fn run(cell: Arc<Cell>, observations: mpsc::Sender<Observation>, mut stopping: watch::Receiver<bool>) {
    let mut published = cell.subscribe();
    loop {
        published.borrow_and_update();
        if cell.load().model.network.is_some() {
            break;
        }
        tokio::select! {
            changed = published.changed() => if changed.is_err() { return },
            () = told(&mut stopping) => return,
        }
    }
    let (netlink, mut changes) = loop {
        match Netlink::open() {
            Ok(open) => break open,
            Err(error) => {
                let why = format!("the kernel's netlink cannot be opened: {error}");
                tracing::error!("{why}; addresses are left alone");
                *cell.load().network.trouble.lock() = vec![why];
            }
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = told(&mut stopping) => return,
        }
    };
    let (ears, mut heard) = Ears::new();
    let mut keeper = Keeper {
        cell,
        observations,
        began: Instant::now(),
        plan: Plan::default(),
        ears,
        model: None,
        told: HashMap::new(),
        applied: None,
        by_netlink: false,
        retry_at: None,
        look_at: Tick::ZERO,
    };
    keeper.follow(false).await;
    keeper.look(&netlink).await;
    let mut settled = false;
    loop {
        if !settled {
            keeper.settle(&netlink).await;
        }
        settled = false;
        let next = [keeper.plan.wake_at(), keeper.retry_at].into_iter().flatten().fold(keeper.look_at, Tick::min);
        let mut look_again = false;
        tokio::select! {
            changed = published.changed() => {
                if changed.is_err() {
                    return;
                }
                published.borrow_and_update();
                settled = !keeper.follow(false).await;
            }
            Some(()) = changes.recv() => {
                tokio::time::sleep(BURST).await;
                look_again = true;
            }
            Some((link, said)) = heard.recv() => {
                let now = keeper.now();
                settled = !keeper.plan.hear(now, link, said);
            }
            () = tokio::time::sleep(next.since(keeper.now())) => {}
            () = told(&mut stopping) => break,
        }
        let now = keeper.now();
        if keeper.retry_at.is_some_and(|at| at <= now) {
            keeper.follow(true).await;
            settled = false;
        }
        if look_again || keeper.look_at <= now {
            let _ = changes.try_recv();
            keeper.look(&netlink).await;
            settled = false;
        }
    }
    // Nobody said that it is to leave.
    if !*stopping.borrow() {
        return;
    }
    keeper.look(&netlink).await;
    for act in keeper.plan.leave() {
        keeper.carry_out(&netlink, &act).await;
    }
}

async fn told(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

// === impl Keeper ===

impl Keeper {
    fn now(&self) -> Tick {
        Tick(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// The configuration that is published now; false: it is the one from before. `again`: what did not work is tried once
    /// more.
    async fn follow(&mut self, again: bool) -> bool {
        let snapshot = self.cell.load_full();
        let model = Arc::clone(&snapshot.model);
        if !again && self.model.as_ref().is_some_and(|known| Arc::ptr_eq(known, &model)) {
            return false;
        }
        self.model = Some(model);
        let network = snapshot.model.network.clone();
        if network != self.applied || again {
            let failed = self.interfaces(network.as_ref()).await;
            if !again {
                failed.iter().for_each(|what| tracing::warn!("network: {what}"));
            }
            self.retry_at = (!failed.is_empty()).then(|| self.now() + RETRY);
            *snapshot.network.trouble.lock() = failed;
            self.applied = network;
        }
        self.plan.want(wishes(&snapshot.model, self.by_netlink));
        true
    }

    /// Has the interfaces' own settings carried out, or says what is not.
    async fn interfaces(&mut self, network: Option<&network::Networking>) -> Vec<String> {
        let had = self.applied.clone().filter(|network| !network.interfaces.is_empty());
        let network = match (network, had) {
            (Some(network), had) if had.is_some() || !network.interfaces.is_empty() => network.clone(),
            // What was written for them goes.
            (None, Some(had)) => {
                network::Networking { interfaces: Vec::new(), routes: Vec::new(), name_servers: Vec::new(), ..had }
            }
            _ => {
                self.by_netlink = false;
                return Vec::new();
            }
        };
        let (manager, units) = (network.manager, unit::units(&network));
        let done = tokio::task::spawn_blocking(move || {
            let by_networkd = match manager {
                Manager::Auto => networkd::runs(),
                Manager::Networkd => true,
                Manager::Netlink => false,
            };
            by_networkd.then(|| networkd::apply(&units))
        });
        match done.await {
            Ok(Some(applied)) => {
                self.by_netlink = false;
                applied.err().into_iter().collect()
            }
            Ok(None) => {
                self.by_netlink = true;
                unit::beyond_netlink(&network)
            }
            Err(_) => vec!["the interfaces could not be set: a bug; its message stands in the log".to_owned()],
        }
    }

    async fn look(&mut self, netlink: &Netlink) {
        self.look_at = self.now() + LOOK_EVERY;
        match netlink.look().await {
            Ok(machine) => self.plan.observe(machine),
            Err(error) => tracing::warn!(%error, "cannot read the addresses of this machine"),
        }
    }

    /// Does what is to be done now, and tells how it stands.
    async fn settle(&mut self, netlink: &Netlink) {
        // What is added shows at once, and may have something following; a few rounds are enough, and never endless.
        for _ in 0..4 {
            let acts = self.plan.settle(self.now());
            let mut changed = false;
            for act in &acts {
                changed |= self.carry_out(netlink, act).await;
            }
            if !changed {
                break;
            }
            self.look(netlink).await;
        }
        self.tell();
    }

    /// True where it changes what the machine has.
    async fn carry_out(&mut self, netlink: &Netlink, act: &Act) -> bool {
        let name = |machine: &Machine, link: u32| {
            machine.link(link).map_or_else(|| format!("link {link}"), |link| link.name.to_string())
        };
        let (done, changes) = match *act {
            Act::Up { link } => (netlink.set_up(link).await, true),
            Act::Add { link, address } => {
                let preferred = !address.is_host();
                let done = netlink.add(link, address, preferred).await;
                match &done {
                    Ok(()) => tracing::info!("{} added to {}", address.ip, name(self.plan.machine(), link)),
                    Err(error) => self.plan.refused(self.now(), address.ip, &in_words(error)),
                }
                (done, true)
            }
            Act::Remove { link, address } => {
                let done = netlink.remove(link, address).await;
                if done.is_ok() {
                    tracing::info!("{} removed from {}", address.ip, name(self.plan.machine(), link));
                }
                (done, true)
            }
            Act::Probe { link, ip } => match (self.plan.machine().link(link), ip) {
                (Some(link), IpAddr::V4(ip)) => (self.ears.probe(link, ip).await, false),
                _ => (Ok(()), false),
            },
            Act::Announce { link, ip } => match self.plan.machine().link(link) {
                Some(link) => (self.ears.announce(link, ip).await, false),
                None => (Ok(()), false),
            },
        };
        let Err(error) = done else { return changes };
        match *act {
            // Not to be known to be free is to be refused.
            Act::Probe { ip, .. } => {
                self.plan.refused(self.now(), ip, &format!("it cannot be asked for: {}", in_words(&error)));
            }
            _ => tracing::warn!(?act, %error, "an act on the network failed"),
        }
        false
    }

    fn tell(&mut self) {
        let snapshot = self.cell.load_full();
        let mut interfaces = std::collections::HashSet::new();
        let (mut told, mut dns) = (HashMap::new(), Vec::new());
        for (wish, state) in self.plan.states() {
            let ip = wish.address.ip;
            // That it is asked for again is no news, and what is wrong with it shows meanwhile.
            let before = self.told.remove(&ip);
            let is_asked = matches!(state, AddressState::Probing { .. });
            let state = match &before {
                Some(before) if is_asked && before.trouble().is_some() => before.clone(),
                _ => state,
            };
            if let Some(interface) = state.interface().filter(|_| ip.is_ipv4()) {
                interfaces.insert(crate::model::id::Name::clone(interface));
            }
            for vserver in &wish.vservers {
                if let Some(entry) = snapshot.model.vserver_id(vserver).map(|id| &snapshot.vservers[id.index()]) {
                    *entry.live.vip.lock() = state.clone();
                }
            }
            if wish.dns {
                dns.push((ip, state.clone()));
            }
            if wish.source {
                tell_source(&snapshot, ip, &state);
            }
            let was_well = before.as_ref().is_none_or(|before| before.trouble().is_none());
            if before.as_ref() != Some(&state) && !(was_well && state.trouble().is_none()) && !is_asked {
                let whose =
                    if wish.vservers.is_empty() { vec![None] } else { wish.vservers.iter().map(Some).collect() };
                for vserver in whose {
                    let vserver = vserver.cloned();
                    // A hint: how it stands is told again with the next change.
                    let _ = self.observations.try_send(Observation::Address { vserver, ip, state: state.clone() });
                }
            }
            told.insert(ip, state);
        }
        // Those that no longer have one looked after.
        for (vserver, entry) in snapshot.model.vservers.iter().zip(&snapshot.vservers) {
            if !vserver.address.is_some_and(|at| self.plan.wants(at.ip())) {
                *entry.live.vip.lock() = AddressState::Unmanaged;
            }
        }
        self.told = told;
        *snapshot.network.dns.lock() = dns;
        let links = super::listen::needed(self.plan.machine(), |name| interfaces.contains(name));
        self.ears.listen_on(&links);
    }
}

fn tell_source(snapshot: &Snapshot, ip: IpAddr, state: &AddressState) {
    let network = snapshot.model.network.iter().flat_map(|network| &network.sources);
    for (_, live) in network.zip(&snapshot.sources).filter(|(source, _)| source.ip == ip) {
        live.set(state.clone());
    }
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "it needs CAP_NET_ADMIN and CAP_NET_RAW".to_owned(),
        _ => error.to_string(),
    }
}
