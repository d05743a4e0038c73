//! What is wrong now.

use super::{ProblemDto, ids};
use crate::admin::dto::transfer::zone_problems;
use crate::admin::dto::{out, path_segment, text, up_down};
use crate::control::World;
use crate::model::alert::{AlertKind, CERTIFICATE_SOON};
use crate::model::id::{ServiceId, VserverId};
use crate::model::network::AddressState;
use crate::model::state::{CorrelatedKind, NewClients, ServiceState, VserverState};
use crate::snapshot::live::Listening;

// === impl ProblemDto ===

impl ProblemDto {
    /// Errors first, then warnings, then what is only worth knowing.
    pub(super) fn all(world: &World<'_>) -> Vec<ProblemDto> {
        let mut problems = Vec::new();
        if let Some(why) = &world.status.not_durable {
            problems.push(problem("error", "appliance", "", None, format!("not saved: {why}"), "status"));
        }
        if let Some((at, why)) = &world.config.reload_failed {
            let text = format!("the file was refused when it was read again, what ran before runs on: {why}");
            problems.push(problem("error", "appliance", "", Some(at.to_string()), text, "config"));
        }
        vserver_problems(world, &mut problems);
        service_problems(world, &mut problems);
        scenario_problems(world, &mut problems);
        check_problems(world, &mut problems);
        correlated_problems(world, &mut problems);
        name_problems(world, &mut problems);
        breaker_problems(world, &mut problems);
        other_problems(world, &mut problems);
        super::network::network_problems(world, &mut problems);
        if let Some(Err(why)) = &world.peers.listening {
            let text = format!("peers cannot ask this box what it sees: {why}");
            problems.push(problem("error", "appliance", "", None, text, "peers"));
        }
        zone_problems(world, &mut problems);
        let rank = |p: &ProblemDto| ["error", "warning", "info"].iter().position(|s| *s == p.severity);
        // Of the same weight the oldest first; what nobody knows the beginning of comes last.
        problems.sort_by_cached_key(|p| (rank(p), p.since.is_none(), p.since.clone()));
        problems
    }
}

pub(in crate::admin::dto) fn problem(
    severity: &str,
    kind: &str,
    object: &str,
    since: Option<String>,
    text: String,
    collection: &str,
) -> ProblemDto {
    let href = if object.is_empty() {
        format!("/api/v1/{collection}")
    } else {
        format!("/api/v1/{collection}/{}", path_segment(object))
    };
    ProblemDto {
        severity: severity.into(),
        kind: kind.into(),
        object: object.into(),
        since,
        text,
        href,
        hidden_by_force: false,
    }
}

fn vserver_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for id in ids(world.model.vservers.len(), VserverId::from_index) {
        let vserver = world.model.vserver(id);
        let view = &world.view.vservers[id.index()];
        let since = Some(view.since.wall.to_string());
        let mut report = |severity, text: String| {
            problems.push(problem(severity, "vserver", &vserver.name, since.clone(), text, "vservers"));
        };
        let redirected = vserver.redirect_url.as_ref().filter(|_| view.new_clients == NewClients::Refused);
        match (view.state, view.effective, redirected) {
            (VserverState::Up, _, Some(url)) => {
                report(
                    "warning",
                    format!("up, and new clients are redirected to {url}: the last of its members drain"),
                );
            }
            (VserverState::Down, _, Some(url)) => {
                report("warning", format!("down; clients are redirected to {url}"));
            }
            (VserverState::Up, _, None) if view.new_clients == NewClients::Refused => {
                report("error", "up, and new clients are refused: the last of its members drain".into());
            }
            (VserverState::Up, _, None) => {
                if let NewClients::Backup(backup) = view.new_clients {
                    let backup = &world.model.vserver(backup).name;
                    report("info", format!("spills by health: new clients go to {backup}"));
                }
            }
            (VserverState::OutOfService, ..) => report("info", "out of service".into()),
            (VserverState::Down, VserverState::Up, None) if view.new_clients == NewClients::Refused => {
                report("error", "down, and its backups take no new clients".into());
            }
            (VserverState::Down, VserverState::Up, None) => report("warning", "down; its backup serves".into()),
            (VserverState::Down, _, None) if vserver.backup.is_none() => {
                report("error", "down, and it has no backup".into());
            }
            (VserverState::Down, _, None) => report("error", "down, and so is every backup".into()),
        }
        if view.held_down {
            report("warning", "held down since it failed; `enable` lets it return".into());
        }
        let listening = world.snapshot.vservers.get(id.index()).map(|e| e.live.listen.lock().clone());
        let vip = world.snapshot.vservers.get(id.index()).map(|e| e.live.vip.lock().clone()).unwrap_or_default();
        match listening {
            Some(Listening::Failed { error }) => report("error", format!("does not listen: {error}")),
            Some(Listening::Bound { address, local: false }) if vip == AddressState::Unmanaged => {
                report("warning", format!("{} is not an address of this machine", address.ip()));
            }
            _ => {}
        }
        if let Some((address, what)) = vserver.address.zip(vip.trouble()) {
            let severity = if vip.is_here() { "warning" } else { "error" };
            report(severity, format!("{}: {what}", address.ip()));
        }
    }
}

/// The name of the object leads to where the mistake may be: the monitor, not its checks.
fn correlated_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for told in &world.view.correlated {
        let object = match told.kind {
            CorrelatedKind::AccessList => told.name.rsplit_once('.').map_or(&*told.name, |(name, _)| name),
            CorrelatedKind::Monitor | CorrelatedKind::Check | CorrelatedKind::Vserver => &told.name,
        };
        let (kind, since) = (told.kind.word(), Some(told.since.to_string()));
        let collection = format!("{kind}s");
        problems.push(problem("warning", kind, object, since, told.text.to_string(), &collection));
    }
}

/// An endpoint that nothing is sent to for a while holds up every trigger that goes there.
fn breaker_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for trigger in &world.model.triggers {
        let Some(breaker) = world.deliveries.breakers.get(&trigger.endpoint()).filter(|b| b.word != "closed") else {
            continue;
        };
        let until = breaker.until.map(|until| format!("; the next attempt goes out at {until}")).unwrap_or_default();
        let what = format!("circuit breaker {}: {} attempts in a row failed{until}", breaker.word, breaker.failures);
        problems.push(problem("warning", "trigger", &trigger.name, None, what, "triggers"));
    }
}

fn name_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for (question, known) in world.names {
        let Some(error) = &known.error else { continue };
        let since = known.failing_since.map(|at| at.to_string());
        let (severity, kept) = match &known.answered_at {
            Some(at) => ("warning", format!("what was answered at {at} stays in force")),
            None => ("error", "it has never been answered".to_owned()),
        };
        let what = format!("{question} is not answered: {error}; {kept}");
        problems.push(problem(severity, "name", "", since, what, "servers"));
    }
}

fn service_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for id in ids(world.model.services.len(), ServiceId::from_index) {
        let service = world.model.service(id);
        let view = &world.view.services[id.index()];
        let hidden = view.forced == Some(true) && view.real == ServiceState::Down;
        let (severity, what) = match view.state {
            _ if hidden => ("warning", "forced up, and its probe says down".to_owned()),
            ServiceState::Down if view.forced == Some(false) => ("info", "forced down".to_owned()),
            ServiceState::Down => ("warning", format!("down: {}", world.failing_monitor(id))),
            ServiceState::TrofsDown => ("warning", "draining, and its probe says down".to_owned()),
            ServiceState::Unknown => ("info", "not known yet".to_owned()),
            ServiceState::Up if out::ejection(world, id).is_some() => {
                ("warning", out::ejection(world, id).unwrap_or_default())
            }
            _ => continue,
        };
        let since = Some(view.since.wall.to_string());
        let mut found = problem(severity, "service", &service.name, since, what, "services");
        found.hidden_by_force = hidden;
        problems.push(found);
    }
}

/// What an alert can be about and no object above shows.
fn other_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    let facts = world.facts(&|kind| {
        matches!(
            kind,
            AlertKind::GuardRefused
                | AlertKind::Disputed
                | AlertKind::ServeAll
                | AlertKind::DeadLetter
                | AlertKind::Certificate
                | AlertKind::PeerUnknown
                | AlertKind::PeerConfigDiffers
                | AlertKind::PeerClock
                | AlertKind::ClockUnsynced
                | AlertKind::JournalUnshipped
        )
    });
    for (subject, fact) in facts.held {
        let ends_late = |end| world.now.wall + CERTIFICATE_SOON < end;
        let is_certificate = subject.kind == AlertKind::Certificate;
        if is_certificate && fact.since.is_some_and(ends_late) {
            continue;
        }
        // A problem names an object by the path that it has in the API.
        let (object, collection) = match subject.kind {
            AlertKind::GuardRefused => (&*subject.object, "scenarios"),
            AlertKind::Certificate if world.model.certificate_id(&subject.object).is_none() => ("", "peers"),
            AlertKind::Certificate => (&*subject.object, "certificates"),
            AlertKind::DeadLetter => ("", "outbox?status=dead"),
            AlertKind::ServeAll => ("", "zones"),
            AlertKind::Disputed => (&*subject.object, "datacenter-pairs"),
            AlertKind::PeerUnknown | AlertKind::PeerConfigDiffers | AlertKind::PeerClock => (&*subject.object, "peers"),
            AlertKind::JournalUnshipped => ("", "journal/shipping"),
            _ => ("", "status"),
        };
        let since = fact.since.filter(|_| !is_certificate).map(|since| since.to_string());
        let kind = &subject.object_kind;
        let mut found = problem(fact.severity.word(), kind, object, since, fact.text.to_string(), collection);
        found.object = text(&subject.object);
        problems.push(found);
    }
}

fn scenario_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for (scenario, view) in world.model.scenarios.iter().zip(&world.view.scenarios) {
        let since = Some(view.since.to_string());
        let mut report = |severity, text: &str| {
            problems.push(problem(severity, "scenario", &scenario.name, since.clone(), text.into(), "scenarios"));
        };
        if view.stuck {
            report("warning", "both directions are on: nothing moves until one of them is changed");
        }
        if view.oscillating {
            report("warning", "too many automatic commits in a short time: held in its state");
        }
        if view.ready_to_return {
            report("info", "ready to return; a person brings it back");
        }
    }
}

fn check_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for (check, view) in world.model.checks.iter().zip(&world.view.checks) {
        let user = check.origin == crate::model::check::Origin::User;
        if view.forced == Some(true) && view.real.is_false() {
            let since = Some(view.since.wall.to_string());
            let what = "forced up, and its probe says down".into();
            let mut found = problem("warning", "check", &check.name, since, what, "checks");
            found.hidden_by_force = true;
            problems.push(found);
        } else if user && view.state.is_false() {
            let detail = view.last.as_ref().map_or_else(String::new, |s| format!(": {}", s.detail));
            let since = Some(view.since.wall.to_string());
            let what = format!("{}{detail}", up_down(view.state));
            problems.push(problem("warning", "check", &check.name, since, what, "checks"));
        }
    }
}
