//! The record in the state directory.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::files;
use crate::model::first_boot::{FirstBoot, SeedOutcome, SeedSource};
use crate::model::time::Wall;

const NAME: &str = "first-boot.json";

/// `None`: this is no appliance, or it never booted.
pub fn read(state: &Path) -> Option<FirstBoot> {
    let text = files::read_text(&state.join(NAME)).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let lines = |key: &str| {
        let all = value[key].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
    };
    Some(FirstBoot {
        instance: text("instance")?,
        source: SeedSource::from_word(value["source"].as_str()?)?,
        outcome: SeedOutcome::from_word(value["outcome"].as_str()?)?,
        at: Wall(value["at_us"].as_i64()?),
        problems: lines("problems"),
        left_out: lines("left_out"),
        seed_hash: text("seed_hash").unwrap_or_default(),
        recovered_at: value["recovered_at_us"].as_i64().map(Wall),
    })
}

/// Whether there is a record, readable or not.
pub fn is_there(state: &Path) -> bool {
    std::fs::symlink_metadata(state.join(NAME)).is_ok()
}

/// With what the journal was not yet told.
pub fn read_untold(state: &Path) -> Option<(FirstBoot, Vec<Value>)> {
    let report = read(state)?;
    let text = files::read_text(&state.join(NAME)).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let mut untold = Vec::new();
    if value["seed_told"] != report.at.0 {
        untold.push(json!({
            "what": "first_boot",
            "instance": report.instance,
            "source": report.source.word(),
            "outcome": report.outcome.word(),
            "left_out": report.left_out.len(),
        }));
    }
    if let Some(at) = report.recovered_at.filter(|at| value["recovery_told"] != at.0) {
        untold.push(json!({ "what": "password_recovered", "user": super::account::USER, "at": at.to_string() }));
    }
    Some((report, untold))
}

/// Whole or not at all; `told`: the journal knows of all that it says. The service, another user, reads it.
pub fn write(state: &Path, report: &FirstBoot, told: bool) -> io::Result<()> {
    let before = files::read_text(&state.join(NAME)).ok().and_then(|text| serde_json::from_str(&text).ok());
    let before: Value = before.unwrap_or_default();
    let mut value = json!({
        "instance": report.instance,
        "source": report.source.word(),
        "outcome": report.outcome.word(),
        "at_us": report.at.0,
        "problems": report.problems,
        "left_out": report.left_out,
        "seed_hash": report.seed_hash,
        "recovered_at_us": report.recovered_at.map(|at| at.0),
    });
    for (key, now) in [("seed_told", Some(report.at)), ("recovery_told", report.recovered_at)] {
        value[key] = if told { now.map(|at| at.0).into() } else { before[key].clone() };
    }
    let (path, new) = (state.join(NAME), state.join("first-boot.json.new"));
    std::fs::write(&new, format!("{value:#}\n"))?;
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o644))?;
    std::fs::File::open(&new)?.sync_all()?;
    std::fs::rename(&new, &path)
}
