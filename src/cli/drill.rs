//! `bascule drill`: begins and ends drills of the running appliance, and prints their reports.

use std::process::ExitCode;

use reqwest::Method;
use serde_json::{Value, json};

use super::args::{DrillListArgs, DrillShowArgs, DrillStartArgs, DrillStopArgs, Target};
use super::client::{Client, Failure, runtime};
use super::{fail, say, say_json};
use crate::admin::dto::{DrillDto, Items, path_segment};

pub(super) fn start(args: &DrillStartArgs) -> ExitCode {
    let mut body = json!({
        "scenario": args.scenario, "for": args.lasts, "reason": args.reason, "notify": args.notify,
        "stop_on": args.stop_on,
    });
    if args.override_guard {
        body["override"] = true.into();
    }
    let path = if args.dry_run { "/api/v1/drills?dry_run=true" } else { "/api/v1/drills" };
    act("drill start", &args.target, args.json, async |client: &Client| {
        client.call(Method::POST, path, Some(&body)).await
    })
}

pub(super) fn stop(args: &DrillStopArgs) -> ExitCode {
    let mut body = json!({});
    if let Some(reason) = &args.reason {
        body["reason"] = reason.as_str().into();
    }
    if args.override_guard {
        body["override"] = true.into();
    }
    act("drill stop", &args.target, args.json, async |client: &Client| {
        let path = stop_path(client, args.drill.as_deref()).await?;
        client.call(Method::POST, &path, Some(&body)).await
    })
}

pub(super) fn list(args: &DrillListArgs) -> ExitCode {
    let path = match &args.scenario {
        Some(scenario) => format!("/api/v1/drills?scenario={}", path_segment(scenario)),
        None => "/api/v1/drills".to_owned(),
    };
    let answer = ask(&args.target, async |client: &Client| client.call(Method::GET, &path, None).await);
    match answer {
        Ok(answer) if args.json => say_json(&answer),
        Ok(answer) => match serde_json::from_value::<Items<DrillDto>>(answer) {
            Ok(list) if list.items.is_empty() => say("no drill yet"),
            Ok(list) => say(table(&list.items).trim_end()),
            Err(error) => return fail(&format!("drill list: an answer of another version: {error}")),
        },
        Err(error) => return fail(&format!("drill list: {error}")),
    }
    ExitCode::SUCCESS
}

pub(super) fn show(args: &DrillShowArgs) -> ExitCode {
    act("drill show", &args.target, args.json, async |client: &Client| match &args.id {
        Some(id) => client.call(Method::GET, &format!("/api/v1/drills/{id}"), None).await,
        None => last(client).await,
    })
}

/// Where the drill that is meant is stopped: by its number, by its scenario, or the one that runs.
pub(super) async fn stop_path(client: &Client, wanted: Option<&str>) -> Result<String, Failure> {
    let id = match wanted.map(str::parse::<u64>) {
        Some(Ok(id)) => id,
        _ => {
            let last = last(client).await?;
            let other = wanted.filter(|scenario| last["scenario"] != **scenario);
            if let Some(scenario) = other {
                return Err(client.unreachable(format!("no drill of scenario {scenario} is running")));
            }
            last["id"].as_u64().unwrap_or_default()
        }
    };
    Ok(format!("/api/v1/drills/{id}/stop"))
}

/// The last drill, whether it runs or is over.
async fn last(client: &Client) -> Result<Value, Failure> {
    let list = client.call(Method::GET, "/api/v1/drills?limit=1", None).await?;
    let last = list["items"].as_array().and_then(|items| items.last()).cloned();
    last.ok_or_else(|| client.unreachable("there was no drill yet".to_owned()))
}

fn ask(target: &Target, call: impl AsyncFnOnce(&Client) -> Result<Value, Failure>) -> Result<Value, String> {
    let client = Client::find(target)?;
    runtime()?.block_on(call(&client)).map_err(|failure| failure.to_string())
}

fn act(
    command: &str,
    target: &Target,
    json: bool,
    call: impl AsyncFnOnce(&Client) -> Result<Value, Failure>,
) -> ExitCode {
    match ask(target, call) {
        Ok(answer) if json => say_json(&answer),
        Ok(answer) => {
            for warning in answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                say(&format!("warning: {warning}"));
            }
            say(told(&answer).trim_end());
        }
        Err(error) => return fail(&format!("{command}: {error}")),
    }
    ExitCode::SUCCESS
}

/// A drill as JSON, for people; of a dry run what would change.
pub(super) fn told(answer: &Value) -> String {
    if let Some(changes) = answer["changes"].as_array() {
        return changes.iter().filter_map(Value::as_str).map(|change| format!("{change}\n")).collect();
    }
    serde_json::from_value(answer.clone()).map_or_else(|_| format!("{answer:#}\n"), |drill| report(&drill))
}

/// A line each, oldest first.
pub(super) fn table(drills: &[DrillDto]) -> String {
    let row = |id: &str, rest: [&str; 6]| {
        let [scenario, started, planned, lasted, outcome, why] = rest;
        format!("{id:>5}  {scenario:<20}  {started:<24}  {planned:>8}  {lasted:>10}  {outcome:<14}  {why}\n")
    };
    let mut out = row("ID", ["SCENARIO", "STARTED", "PLANNED", "LASTED", "OUTCOME", "BY: REASON"]);
    for drill in drills {
        let outcome = if drill.state == "over" { drill.outcome.as_deref().unwrap_or("over") } else { &drill.state };
        let why = format!("{}: {}", drill.actor, drill.reason.as_deref().unwrap_or_default());
        let lasted = drill.lasted.as_deref().unwrap_or("-");
        out += &row(&drill.id.to_string(), [&drill.scenario, &drill.started_at, &drill.planned, lasted, outcome, &why]);
    }
    out
}

/// The report: what was planned, what happened, and who was told.
pub(super) fn report(drill: &DrillDto) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let mut out = format!("Drill {} of scenario {}: {}\n", drill.id, drill.scenario, drill.state.to_uppercase());
    out += &format!("\tBegun by {}: {}\n", drill.actor, drill.reason.as_deref().unwrap_or_default());
    out += &format!("\tPlanned: {} to {} ({})\n", drill.started_at, drill.ends_at, drill.planned);
    if let Some(left) = &drill.remaining {
        out += &format!("\tLeft: {left}\n");
    }
    out += &format!("\tActive: {} to {}", or_dash(&drill.activated_at), or_dash(&drill.returned_at));
    out += &drill.lasted.as_ref().map_or_else(String::new, |lasted| format!(" ({lasted})"));
    out += &drill.activated_after.as_ref().map_or_else(String::new, |after| format!(", {after} after the call"));
    out += &drill.overrun.as_ref().map_or_else(String::new, |late| format!(", {late} later than planned"));
    out.push('\n');
    if let Some(outcome) = &drill.outcome {
        let detail = drill.outcome_detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
        out += &format!("\tOutcome: {outcome}{detail}");
        if let Some(who) = &drill.ended_by {
            out += &format!(", by {who}");
        }
        out += &drill.ended_reason.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        out.push('\n');
    }
    if drill.r#override {
        out += "\tThe guard of the activation was not asked\n";
    }
    for (what, names) in [("Told", &drill.notify), ("Stops On", &drill.stop_on)] {
        let names = if names.is_empty() { "-".to_owned() } else { names.join(", ") };
        out += &format!("\t{what}: {names}\n");
    }
    let before = &drill.modes_before;
    let mode = |mode: &Option<String>| mode.clone().unwrap_or_else(|| "base mode".to_owned());
    out += &format!("\tModes before: activate {}, deactivate {}\n", mode(&before.activate), mode(&before.deactivate));
    for commit in &drill.commits {
        let real = if commit.drill { "" } else { ", no drill" };
        let guard = commit.guard.as_ref().map_or_else(String::new, |guard| format!(", guard: {guard}"));
        out += &format!("\t{} {} {} #{}{guard}{real}\n", commit.at, commit.scenario, commit.direction, commit.seq);
        for trigger in &commit.triggers {
            let status = trigger.status.as_deref().unwrap_or("no longer kept");
            let error = trigger.last_error.as_deref().map(|error| format!(", {error}")).unwrap_or_default();
            out += &format!("\t\tTrigger {}: {status} (attempts: {}{error})\n", trigger.name, trigger.attempts);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drill() -> Value {
        json!({
            "id": 3, "scenario": "dr", "state": "over", "outcome": "stop_on", "outcome_detail": "customers are hurt",
            "actor": "admin:nsroot", "reason": "CHG1234", "ended_by": null, "ended_reason": null,
            "ends_at": "2026-11-29T23:00:00.000Z", "planned": "1h", "remaining": null,
            "started_at": "2026-11-29T22:00:00.000Z", "activated_at": "2026-11-29T22:00:02.000Z",
            "returning_at": "2026-11-29T22:10:00.000Z", "returned_at": "2026-11-29T22:10:00.000Z",
            "ended_at": "2026-11-29T22:10:00.000Z", "activated_after": "2s", "lasted": "9m58s", "overrun": null,
            "notify": ["drill-channel"], "stop_on": ["customers are hurt"], "override": false,
            "modes_before": { "activate": null, "deactivate": "off" },
            "commits": [{
                "scenario": "dr", "seq": 7, "direction": "activate", "at": "2026-11-29T22:00:02.000Z", "guard": "pass",
                "drill": true, "triggers": [{
                    "name": "drill-channel", "status": "delivered", "attempts": 1, "last_error": null,
                }],
            }],
        })
    }

    #[test]
    fn a_report_says_what_was_planned_and_what_came_of_it() {
        assert_eq!(
            told(&drill()),
            "Drill 3 of scenario dr: OVER\n\
             \tBegun by admin:nsroot: CHG1234\n\
             \tPlanned: 2026-11-29T22:00:00.000Z to 2026-11-29T23:00:00.000Z (1h)\n\
             \tActive: 2026-11-29T22:00:02.000Z to 2026-11-29T22:10:00.000Z (9m58s), 2s after the call\n\
             \tOutcome: stop_on (customers are hurt)\n\
             \tTold: drill-channel\n\
             \tStops On: customers are hurt\n\
             \tModes before: activate base mode, deactivate off\n\
             \t2026-11-29T22:00:02.000Z dr activate #7, guard: pass\n\
             \t\tTrigger drill-channel: delivered (attempts: 1)\n"
        );
    }

    #[test]
    fn the_list_has_a_line_for_each() {
        let list = table(&[serde_json::from_value(drill()).unwrap()]);
        let lines: Vec<&str> = list.lines().map(str::trim).collect();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[1].starts_with("3  dr ") && lines[1].ends_with("stop_on         admin:nsroot: CHG1234"),
            "{list}"
        );
    }
}
