//! The task that carries out the plan: waits for whatever comes first, tells the plan, does what it asks for, and tells
//! how every address stands. Nothing is decided here.

mod interfaces;
mod put;
mod tell;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::carry::Netlink;
use super::listen::Ears;
use super::machine::Machine;
use super::plan::{Act, Plan};
use super::timesyncd;
use super::wish::wishes;
use crate::model::Model;
use crate::model::event::Observation;
use crate::model::network::{self, AddressState};
use crate::model::time::Tick;
use crate::snapshot::Cell;
use put::Put;

/// Everything is looked at again at least so often: a word of the kernel may be lost where there are too many.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// What the kernel says comes in bursts.
const BURST: Duration = Duration::from_millis(10);
/// What did not work is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// Looks after the machine's network, as soon as a configuration has a `[network]`, or an earlier process has left
/// addresses on it.
pub struct Networking {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    time: JoinHandle<()>,
}

/// What runs while it looks after it.
struct Keeper {
    cell: Arc<Cell>,
    observations: mpsc::Sender<Observation>,
    began: Instant,
    plan: Plan,
    ears: Ears,
    put: Put,
    /// The configuration that is followed.
    model: Option<Arc<Model>>,
    /// What was told last of each address.
    told: HashMap<IpAddr, AddressState>,
    /// What was carried out last of `[network]`, and whether Bascule sets the interfaces' own addresses.
    applied: Option<network::Networking>,
    by_netlink: bool,
    /// What of the interfaces' own settings is not carried out: a sentence each.
    failed: Vec<String>,
    /// Something did not work: when it is tried again.
    retry_at: Option<Tick>,
    /// When everything is looked at again at the latest.
    look_at: Tick,
}

// === impl Networking ===

impl Networking {
    /// To be called within a tokio runtime. `state`: the state directory, where it is written which addresses were put
    /// on interfaces; without one nobody knows them after a kill.
    pub fn start(cell: Arc<Cell>, observations: mpsc::Sender<Observation>, state: Option<PathBuf>) -> Networking {
        let (stop, stopping) = watch::channel(false);
        let time = tokio::spawn(timesyncd::keep(Arc::clone(&cell)));
        let task = tokio::spawn(run(cell, observations, state, stopping));
        Networking { stop, task, time }
    }

    /// Takes the VIPs and source addresses off the machine that it had put there, so that another box can have them.
    pub async fn leave(self) {
        self.time.abort();
        self.stop.send_replace(true);
        let _ = self.task.await;
    }

    /// Ends, and leaves everything where it is: another process of this program goes on with it.
    pub fn stay(self) {
        self.time.abort();
        self.task.abort();
    }
}

async fn run(
    cell: Arc<Cell>,
    observations: mpsc::Sender<Observation>,
    state: Option<PathBuf>,
    mut stopping: watch::Receiver<bool>,
) {
    let put = Put::read(state.as_deref());
    let mut published = cell.subscribe();
    loop {
        published.borrow_and_update();
        if cell.load().model.network.is_some() || !put.is_empty() {
            break;
        }
        tokio::select! {
            changed = published.changed() => if changed.is_err() { return },
            () = told(&mut stopping) => return,
        }
    }
    let Some((mut netlink, mut changes)) = open(&cell, &mut stopping).await else { return };
    let (ears, mut heard) = Ears::new();
    let mut keeper = Keeper {
        cell,
        observations,
        began: Instant::now(),
        plan: Plan::default(),
        ears,
        put,
        model: None,
        told: HashMap::new(),
        applied: None,
        failed: Vec::new(),
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
            changed = changes.recv() => {
                if changed.is_none() {
                    tracing::warn!("the connection to the kernel's netlink has ended; it is opened again");
                    let Some(again) = open(&keeper.cell, &mut stopping).await else { break };
                    (netlink, changes) = again;
                }
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
    keeper.look(&netlink).await;
    keeper.put.write(keeper.plan.put(&[])).await;
}

/// Tries until it works; `None`: it is to stop.
async fn open(cell: &Cell, stopping: &mut watch::Receiver<bool>) -> Option<(Netlink, mpsc::Receiver<()>)> {
    loop {
        match Netlink::open() {
            Ok(open) => return Some(open),
            Err(error) => {
                let why = format!("the kernel's netlink cannot be opened: {error}");
                tracing::error!("{why}; addresses are left alone");
                *cell.load().network.trouble.lock() = vec![why];
            }
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = told(stopping) => return None,
        }
    }
}

/// Which source addresses this machine has. For a process that takes over: its probes are to leave from where those of the
/// one before it leave from, and nothing is to change before that one has ended.
pub async fn notice(cell: &Cell) {
    let snapshot = cell.load_full();
    let Some(network) = snapshot.model.network.as_ref().filter(|network| !network.sources.is_empty()) else { return };
    let machine = match Netlink::open() {
        Ok((netlink, _)) => netlink.look().await,
        Err(error) => Err(error),
    };
    match machine {
        Ok(machine) => tell::sources_there(&snapshot, &network.sources, &machine),
        Err(error) => tracing::warn!(%error, "cannot read the addresses of this machine"),
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
            self.failed = failed;
            self.applied = network;
        }
        if self.put.follow(snapshot.model.network.is_some(), self.plan.machine()) {
            self.look_at = self.now();
        }
        self.plan.want(wishes(&snapshot.model, self.by_netlink));
        true
    }

    async fn look(&mut self, netlink: &Netlink) {
        self.look_at = self.now() + LOOK_EVERY;
        match netlink.look().await {
            Ok(mut machine) => {
                self.put.tell_apart(self.now(), &mut machine);
                self.plan.observe(machine);
            }
            Err(error) => tracing::warn!(%error, "cannot read the addresses of this machine"),
        }
    }

    /// Does what is to be done now, and tells how it stands.
    async fn settle(&mut self, netlink: &Netlink) {
        // What is added shows at once, and may have something following; a few rounds are enough, and never endless.
        for _ in 0..4 {
            let acts = self.plan.settle(self.now());
            self.put.write(self.plan.put(&acts)).await;
            let mut changed = false;
            for act in &acts {
                changed |= self.carry_out(netlink, act).await;
            }
            if !changed {
                break;
            }
            self.look(netlink).await;
        }
        self.put.write(self.plan.put(&[])).await;
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
                    Err(error) => self.plan.refused(self.now(), address.ip, &in_words(act, error)),
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
                self.plan.refused(self.now(), ip, &format!("it cannot be asked for: {}", in_words(act, &error)));
            }
            // Told as the state of the address.
            Act::Add { .. } => {}
            Act::Remove { link, address } => {
                let why = in_words(act, &error);
                if self.plan.not_removed(self.now(), link, address.ip, &why) {
                    tracing::warn!("{} is not removed from {}: {why}", address.ip, name(self.plan.machine(), link));
                }
            }
            _ => tracing::warn!(?act, %error, "an act on the network failed"),
        }
        false
    }
}

/// Why an act was refused, and what helps.
fn in_words(act: &Act, error: &io::Error) -> String {
    match (error.raw_os_error(), act) {
        (Some(libc::EPERM), Act::Probe { .. } | Act::Announce { .. }) => {
            "this process lacks the capability CAP_NET_RAW".to_owned()
        }
        (Some(libc::EPERM), _) => "this process lacks the capability CAP_NET_ADMIN".to_owned(),
        (Some(libc::EACCES), Act::Add { address, .. }) if address.ip.is_ipv6() => {
            "IPv6 is switched off there (net.ipv6.conf, disable_ipv6)".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_is_missing() {
        let (link, ip) = (2, IpAddr::from([192, 0, 2, 10]));
        let add = |address: &str| Act::Add { link, address: address.parse().unwrap() };
        let said = |act: &Act, code: i32| in_words(act, &io::Error::from_raw_os_error(code));
        assert_eq!(said(&add("192.0.2.10/32"), libc::EPERM), "this process lacks the capability CAP_NET_ADMIN");
        assert_eq!(said(&Act::Probe { link, ip }, libc::EPERM), "this process lacks the capability CAP_NET_RAW");
        let off = "IPv6 is switched off there (net.ipv6.conf, disable_ipv6)";
        assert_eq!(said(&add("2001:db8::10/128"), libc::EACCES), off);
        assert_eq!(said(&add("192.0.2.10/32"), libc::ENODEV), "No such device (os error 19)");
    }
}
