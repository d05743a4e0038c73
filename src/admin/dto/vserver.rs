//! Virtual servers.

mod now;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::{FlowDto, NoteDto, TimesDto, admin_word, text};
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::{Kind, VserverId};
use crate::model::limit::{BackupAction, SpilloverMethod};
use crate::model::network::AddressState;
use crate::model::persistence::PersistenceKind;
use crate::model::rule::{Action, Route, Rule};
use crate::model::state::{NewClients, ServiceState, Slot};
use crate::model::vserver::Role;
use crate::snapshot::live::Listening;

pub use now::{LatencyDto, SpilloverDto};

dto! {
    /// A virtual server.
    pub struct VserverDto {
        pub name: String,
        /// `lb`: it balances over its members; `cs`: it switches content, over its targets.
        pub role: String,
        /// `HTTP` or `TCP`.
        pub r#type: String,
        /// Where it listens, with the real port where 0 was asked; null: reachable as a backup only.
        pub address: Option<String>,
        /// Whether the address is on this machine; null without an address or while it is not bound.
        pub address_local: Option<bool>,
        /// Why it does not listen.
        pub listen_error: Option<String>,
        /// How its address stands on the interfaces of this machine, where `[network]` puts it there: `present`, `probing`
        /// (whether it is free), `waiting` (no interface can take it), `conflict` (somebody else has it), `contested`
        /// (somebody else claims it, too) or `refused` (by the system); null where nobody looks after it.
        pub address_state: Option<String>,
        /// What is wrong with it.
        pub address_error: Option<String>,
        /// The interface that has its address, or is to have it.
        pub interface: Option<String>,
        /// `UP`, `DOWN` or `OFS`.
        pub state: String,
        /// UP as soon as it or one of its backup chain is UP.
        pub effective_state: String,
        /// `ENABLED` or `DISABLED`.
        pub admin: String,
        /// When the state was entered.
        pub since: String,
        /// Share of weights UP in percent; what is out of service does not count.
        pub health: u8,
        /// Where a new client goes: `own`, `backup`, `redirected` (to `redirect_url`) or `refused`.
        pub new_clients: String,
        /// The backup that takes new clients now.
        pub active_backup: Option<String>,
        /// Out by `disable_primary_on_down` until someone enables it.
        pub held_down: bool,
        /// `LEASTCONNECTION`, `ROUNDROBIN`.
        pub lb_method: String,
        /// `COOKIEINSERT`, `SOURCEIP`, `DESTIP`, `SRCIPDESTIP`, `SSLSESSION`, `RULE`, `URLPASSIVE`, `CUSTOMSERVERID` or
        /// `NONE`.
        pub persistence: String,
        /// How long persistence lasts; `0s`: as long as the browser keeps its cookie.
        pub persistence_timeout: Option<String>,
        /// The configured backup.
        pub backup: Option<String>,
        /// All backups, in the order in which they are tried.
        pub chain: Vec<String>,
        /// `HEALTH`, `CONNECTION`, `DYNAMICCONNECTION`, `BANDWIDTH` or `CONDITION`.
        pub spillover_method: Option<String>,
        /// HEALTH: percent of weights UP; CONNECTION, DYNAMICCONNECTION: connections, or requests in flight (HTTP);
        /// BANDWIDTH: bit/s.
        pub spillover_threshold: Option<u64>,
        /// What spillover compares now; null without one.
        pub spillover: Option<SpilloverDto>,
        /// `ACCEPT`, `DROP` or `REDIRECT`: where no backup can take what spills.
        pub backup_action: Option<String>,
        /// Where clients are sent that nobody can serve.
        pub redirect_url: Option<String>,
        /// The lb group whose persistence this is.
        pub lb_group: Option<String>,
        /// Entries in its persistence table, or its group's.
        pub persistence_sessions: u64,
        /// Who waits in the surge queue.
        pub surge_count: u32,
        /// The most that ever waited at once.
        pub surge_max: u32,
        /// Those that were served after they had waited, since start.
        pub surge_waited_total: u64,
        /// Those that found the queue full, or whose time was over, since start.
        pub surge_refused_total: u64,
        /// Requests or connections over a limit of their client, since start.
        pub limited_total: u64,
        /// Shares of new clients by group, in percent; empty without a split.
        pub split: Vec<ShareDto>,
        /// Who moved the split.
        pub split_by: Option<NoteDto>,
        /// Services, then members of groups, in the order of the configuration.
        pub members: Vec<VserverMemberDto>,
        /// What content switching hands requests to.
        pub targets: Vec<VserverTargetDto>,
        /// Where content switching hands what no rule takes.
        pub default: Option<String>,
        /// Who disabled it.
        pub disabled_by: Option<NoteDto>,
        /// What somebody wrote beside it in the configuration.
        pub comment: Option<String>,
        /// Open client connections.
        pub connections: u32,
        /// Requests (HTTP) or connections (L4) per second, over the last 14 s.
        pub rate: u64,
        /// How long they took; null before the first.
        pub latency: Option<LatencyDto>,
        /// Answers 5xx and clients refused because nothing was usable.
        pub errors: FlowDto,
        /// Who waits in the surge queue.
        pub surge: u32,
        /// Entries in its persistence table, or its group's.
        pub persistence_entries: u64,
        /// Since start.
        pub requests_total: u64,
        /// New clients that went to the backup although it is UP, since start.
        pub spilled_total: u64,
        /// New clients that went to the backup while it was DOWN, since start.
        pub backup_hits_total: u64,
        /// Refused because nothing was usable, since start.
        pub refused_total: u64,
        /// Times of its requests (HTTP) or connections (L4), by part.
        pub times: Vec<TimesDto>,
    }

    /// The share of one group of a split.
    pub struct ShareDto {
        pub group: String,
        /// Percent of new clients, in force.
        pub share: u8,
        /// As the configuration has it.
        pub configured: u8,
    }

    /// A vserver that another hands requests to.
    pub struct VserverTargetDto {
        pub vserver: String,
        /// Rules of the content switch that lead there, in the order in which they are asked.
        pub rules: Vec<String>,
        /// As of the vserver.
        pub effective_state: String,
    }

    /// A service as a member of a virtual server.
    pub struct VserverMemberDto {
        pub service: String,
        pub weight: u32,
        /// As of a service.
        pub state: String,
        /// As of a service.
        pub active: u32,
        /// Whether it gets new clients.
        pub eligible: bool,
        /// Why it gets none.
        pub why_not: Option<String>,
        /// Requests (HTTP) or connections (L4) of this vserver given to it, since start.
        pub requests_total: u64,
        /// The same per second, over the last 14 s.
        pub new_clients: u64,
        /// Percent of what the vserver gave its members in that time; null while it gave nothing.
        pub share: Option<u8>,
        /// Times of what this vserver gave it, by part.
        pub times: Vec<TimesDto>,
    }
}

// === impl VserverDto ===

impl VserverDto {
    pub fn of(world: &World<'_>, id: VserverId) -> VserverDto {
        let vserver = world.model.vserver(id);
        let view = &world.view.vservers[id.index()];
        let live = world.snapshot.vservers.get(id.index()).map(|e| &e.live);
        let listening = live.map(|l| l.listen.lock().clone()).unwrap_or_default();
        let vip = live.map(|l| l.vip.lock().clone()).unwrap_or_default();
        let name_of = |v: VserverId| text(&world.model.vserver(v).name);
        let times = live.map(|l| TimesDto::all(&l.measured)).unwrap_or_default();
        let disabled_by = NoteDto::find(world, Kind::Vserver, &vserver.name, Slot::Admin);
        let (new_clients, active_backup) = match view.new_clients {
            NewClients::Own => ("own", None),
            NewClients::Backup(backup) => ("backup", Some(name_of(backup))),
            NewClients::Refused if vserver.redirect_url.is_some() => ("redirected", None),
            NewClients::Refused => ("refused", None),
        };
        let (role, default, targets) = match &vserver.role {
            Role::Lb => ("lb", None, &[][..]),
            Role::Cs { default, targets } => ("cs", default.map(name_of), &targets[..]),
        };
        let target = |&to: &VserverId| VserverTargetDto {
            vserver: name_of(to),
            rules: leading(world, id, to),
            effective_state: text(world.view.vservers[to.index()].effective.word()),
        };
        VserverDto {
            name: text(&vserver.name),
            role: role.into(),
            targets: targets.iter().map(target).collect(),
            default,
            r#type: text(vserver.protocol.word()),
            address: match &listening {
                Listening::Bound { address, .. } => Some(address.to_string()),
                _ => vserver.address.map(|a| a.to_string()),
            },
            address_local: match &listening {
                Listening::Bound { local, .. } => Some(*local || vip.is_here()),
                _ => None,
            },
            address_state: Some(text(vip.word())).filter(|_| vip != AddressState::Unmanaged),
            address_error: vip.trouble(),
            interface: vip.interface().map(text),
            listen_error: match &listening {
                Listening::Failed { error } => Some(error.clone()),
                _ => None,
            },
            state: text(view.state.word()),
            effective_state: text(view.effective.word()),
            admin: admin_word(disabled_by.is_none()),
            since: view.since.wall.to_string(),
            health: view.health_percent,
            new_clients: new_clients.into(),
            active_backup,
            held_down: view.held_down,
            lb_method: text(vserver.balancing.method.word()),
            persistence: persistence_word(vserver.persistence.as_ref().map(|p| &p.kind)).into(),
            persistence_timeout: vserver.persistence.as_ref().map(|p| format_duration(p.timeout)),
            backup: vserver.backup.map(name_of),
            chain: world.model.backup_chain(id).map(name_of).collect(),
            spillover_method: vserver.spillover.as_ref().map(|s| text(spillover_word(&s.method))),
            spillover_threshold: vserver.spillover.as_ref().and_then(|s| threshold(world, id, &s.method)),
            spillover: SpilloverDto::of(world, id),
            backup_action: vserver.spillover.as_ref().map(|s| text(action_word(s.backup_action))),
            redirect_url: vserver.redirect_url.as_deref().map(text),
            lb_group: vserver.lb_group.map(|group| text(&world.model.lb_groups[group.index()].name)),
            persistence_sessions: world.snapshot.vservers.get(id.index()).map_or(0, |e| e.sessions.len() as u64),
            surge_count: live.map_or(0, |l| l.surge.depth()),
            surge_max: live.map_or(0, |l| l.surge.depth_max.load(Relaxed)),
            surge_waited_total: live.map_or(0, |l| l.surge.waited_total.load(Relaxed)),
            surge_refused_total: live
                .map_or(0, |l| l.surge.full_total.load(Relaxed) + l.surge.timeout_total.load(Relaxed)),
            limited_total: live.map_or(0, |l| l.limited_total.load(Relaxed)),
            split: shares(world, id),
            split_by: NoteDto::find(world, Kind::Vserver, &vserver.name, Slot::Split),
            members: VserverMemberDto::all(world, id),
            disabled_by,
            comment: vserver.comment.as_deref().map(text),
            connections: live.map_or(0, |l| l.connections.load(Relaxed)),
            rate: live.map_or(0, |l| l.rates.requests_per_second(world.now.tick, l.requests_total.load(Relaxed))),
            latency: LatencyDto::of(&times),
            errors: live.map_or(FlowDto { total: 0, rate: 0 }, |l| now::errors(l, world.now.tick)),
            surge: live.map_or(0, |l| l.surge.depth()),
            persistence_entries: world.snapshot.vservers.get(id.index()).map_or(0, |e| e.sessions.len() as u64),
            requests_total: live.map_or(0, |l| l.requests_total.load(Relaxed)),
            spilled_total: live.map_or(0, |l| l.spilled_total.load(Relaxed)),
            backup_hits_total: live.map_or(0, |l| l.backup_hits_total.load(Relaxed)),
            refused_total: live.map_or(0, |l| l.refused_total.load(Relaxed)),
            times,
        }
    }
}

fn shares(world: &World<'_>, id: VserverId) -> Vec<ShareDto> {
    let configured = &world.model.vserver(id).balancing.split;
    let in_force = world.view.vservers[id.index()].split.as_deref().unwrap_or(configured);
    let shares = world.model.shares(id, in_force);
    let share =
        |((group, share), &configured): (&(_, u8), &u8)| ShareDto { group: text(group), share: *share, configured };
    shares.iter().zip(configured).map(share).collect()
}

fn spillover_word(method: &SpilloverMethod) -> &'static str {
    match method {
        SpilloverMethod::Health { .. } => "HEALTH",
        SpilloverMethod::Connection { .. } => "CONNECTION",
        SpilloverMethod::DynamicConnection => "DYNAMICCONNECTION",
        SpilloverMethod::Bandwidth { .. } => "BANDWIDTH",
        SpilloverMethod::Condition { .. } => "CONDITION",
    }
}

fn action_word(action: BackupAction) -> &'static str {
    match action {
        BackupAction::Accept => "ACCEPT",
        BackupAction::Drop => "DROP",
        BackupAction::Redirect => "REDIRECT",
    }
}

/// What the method compares with at this moment.
fn threshold(world: &World<'_>, id: VserverId, method: &SpilloverMethod) -> Option<u64> {
    match method {
        SpilloverMethod::Health { threshold } => Some((*threshold).into()),
        SpilloverMethod::Connection { threshold } => Some((*threshold).into()),
        SpilloverMethod::Bandwidth { threshold } => Some(*threshold),
        SpilloverMethod::DynamicConnection => {
            let members = world.model.vserver(id).members.iter().map(|m| m.service);
            let up = members.filter(|s| world.view.services[s.index()].state == ServiceState::Up);
            Some(up.map(|s| u64::from(world.model.service(s).settings.max_client)).sum())
        }
        SpilloverMethod::Condition { .. } => None,
    }
}

fn persistence_word(kind: Option<&PersistenceKind>) -> &'static str {
    match kind {
        Some(kind) => kind.word(),
        None => "NONE",
    }
}

// === impl VserverMemberDto ===

impl VserverMemberDto {
    /// Those of a vserver, in its order. What holds for all of them is looked up once.
    fn all(world: &World<'_>, vserver: VserverId) -> Vec<VserverMemberDto> {
        // A snapshot of another model says nothing of these positions.
        let same = Arc::ptr_eq(&world.snapshot.model, world.model);
        let left_out = if same { world.snapshot.left_out(vserver, world.now.tick) } else { Vec::new() };
        let given = match world.snapshot.vservers.get(vserver.index()) {
            Some(entry) if same => now::given(&entry.members, world.now.tick),
            _ => Vec::new(),
        };
        let all = given.iter().sum();
        let of = |at: usize| {
            let own = given.get(at).copied().unwrap_or(0);
            VserverMemberDto::of(world, vserver, at, same.then_some(&left_out[..]), (own, all))
        };
        (0..world.model.vserver(vserver).members.len()).map(of).collect()
    }

    fn of(
        world: &World<'_>,
        vserver: VserverId,
        at: usize,
        left_out: Option<&[u32]>,
        (given, all): (u64, u64),
    ) -> VserverMemberDto {
        let member = &world.model.vserver(vserver).members[at];
        let counted = world.snapshot.vservers.get(vserver.index()).and_then(|entry| entry.members.get(at));
        let view = &world.view.services[member.service.index()];
        let live = world.snapshot.services.get(member.service.index()).map(|e| &e.live);
        let why_not = match view.state {
            ServiceState::Up => None,
            ServiceState::Down => Some("its monitors say down"),
            ServiceState::Unknown => Some("no probe result yet"),
            ServiceState::OutOfService => Some("out of service"),
            ServiceState::Trofs => Some("draining: persistent clients only"),
            ServiceState::TrofsDown => Some("draining, and its monitors say down"),
        };
        let up = left_out.filter(|_| view.state == ServiceState::Up);
        let held_back = up.and_then(|out| world.snapshot.standing(vserver, at as u32, out, world.now.tick));
        let held_back = held_back.map(|why| why.to_string());
        VserverMemberDto {
            service: text(&world.model.service(member.service).name),
            weight: member.weight,
            state: text(view.state.word()),
            active: live.map_or(view.active, |l| l.active.load(Relaxed)),
            eligible: view.state == ServiceState::Up && held_back.is_none(),
            why_not: why_not.map(text).or(held_back),
            requests_total: counted.map_or(0, |c| c.requests_total.load(Relaxed)),
            new_clients: given,
            share: now::share(given, all),
            times: counted.map(|c| TimesDto::all(&c.measured)).unwrap_or_default(),
        }
    }
}

/// Rules of `switch` that hand requests to `target`.
fn leading(world: &World<'_>, switch: VserverId, target: VserverId) -> Vec<String> {
    let leads = |rule: &&Rule| rule.vserver == switch && rule.action == Action::Route(Route::Vserver(target));
    let mut rules: Vec<&Rule> = world.model.rules.iter().filter(leads).collect();
    rules.sort_by_key(|rule| (rule.priority, Arc::clone(&rule.name)));
    rules.iter().map(|rule| text(&rule.name)).collect()
}
