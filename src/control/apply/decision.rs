//! A person's decision about a guard that runs.

use super::{Act, AdminIntent, Against, Kind, Name, Prepared, Refusal, unknown};

/// Only the attempt that runs can be decided: a late click must not approve a later one.
pub fn decide(
    world: Against<'_>,
    scenario: &Name,
    approve: bool,
    attempt: Option<u64>,
    act: Act,
) -> Result<Prepared, Refusal> {
    let id = world.model.scenario_id(scenario).ok_or_else(|| unknown(Kind::Scenario, scenario))?;
    let Some(running) = &world.view.scenarios[id.index()].attempt else {
        return Err(Refusal::Conflict(format!("no guard of scenario {scenario} is running")));
    };
    if let Some(asked) = attempt.filter(|asked| *asked != running.id) {
        return Err(Refusal::Conflict(format!(
            "attempt {asked} of scenario {scenario} is over: attempt {} runs now; look again before deciding",
            running.id
        )));
    }
    let guard = world.model.scenario(id).directions[running.direction.index()].guard.as_ref();
    if approve && !guard.is_some_and(|guard| guard.approve) {
        return Err(Refusal::Conflict(format!("the guard of scenario {scenario} asks for no approval")));
    }
    let intent = AdminIntent::DecideGuard { scenario: id, attempt: running.id, approve };
    Ok(Prepared { act, intent, services: Vec::new(), warnings: Vec::new() })
}
