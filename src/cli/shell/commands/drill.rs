//! Drills.

use serde_json::Value;

use super::build::{first, note, shown};
use super::{Arguments, Command, Request, View};

pub(super) const SHOW_DRILL: Command = Command {
    words: &["show", "drill"],
    least: 0,
    most: 1,
    options: &[],
    usage: "show drill [<id>]",
    names: None,
    build: |arguments| Ok(shown(View::Drill, arguments, false)),
};

pub(super) const START: Command = Command {
    words: &["start", "drill"],
    least: 1,
    most: 1,
    options: &["for", "reason", "notify", "stopOn", "override", "dryRun"],
    usage: "start drill <scenario> -for <time> -reason <text> [-notify <trigger>,...] [-stopOn <condition>,...] \
            [-override (YES|NO)] [-dryRun YES]",
    names: Some(View::Scenario),
    build: start,
};

pub(super) const STOP: Command = Command {
    words: &["stop", "drill"],
    least: 0,
    most: 1,
    options: &["reason", "override"],
    usage: "stop drill [<id> | <scenario>] [-reason <text>] [-override (YES|NO)]",
    names: Some(View::Scenario),
    build: stop,
};

fn start(arguments: &Arguments) -> Result<Request, String> {
    let mut body = note(arguments)?;
    body["scenario"] = first(arguments).into();
    for (option, member) in [("for", "for"), ("notify", "notify"), ("stopOn", "stop_on")] {
        let Some(text) = arguments.value(option)? else { continue };
        let list = || text.split(',').map(|name| Value::from(name.trim())).collect();
        body[member] = if option == "for" { text.into() } else { list() };
    }
    if let Some(override_guard) = arguments.yes_no("override")? {
        body["override"] = override_guard.into();
    }
    Ok(Request::StartDrill { dry_run: arguments.yes_no("dryRun")?.unwrap_or(false), body })
}

fn stop(arguments: &Arguments) -> Result<Request, String> {
    let mut body = note(arguments)?;
    if let Some(override_guard) = arguments.yes_no("override")? {
        body["override"] = override_guard.into();
    }
    Ok(Request::StopDrill { drill: arguments.positional(0).map(Into::into), body })
}

#[cfg(test)]
mod tests {
    use super::super::super::request as parse;
    use super::*;
    use serde_json::json;

    #[test]
    fn drills_are_begun_and_ended() {
        let line = "start drill dr -for 60m -reason CHG1 -notify a,b -stopOn \"customers are hurt\" -override";
        let body = json!({
            "scenario": "dr", "for": "60m", "reason": "CHG1", "notify": ["a", "b"], "stop_on": ["customers are hurt"],
            "override": true,
        });
        assert_eq!(parse(line), Ok(Some(Request::StartDrill { dry_run: false, body })));
        let body = json!({ "reason": "enough" });
        let stops =
            |drill: Option<&str>| Ok(Some(Request::StopDrill { drill: drill.map(Into::into), body: body.clone() }));
        assert_eq!(parse("stop drill -reason enough"), stops(None));
        assert_eq!(parse("stop drill 3 -reason enough"), stops(Some("3")));
    }
}
