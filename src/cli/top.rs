//! `bascule top`: what goes on, every few seconds, until it is interrupted.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::args::TopArgs;
use super::client::{Client, Failure, runtime};
use super::{fail, say};
use crate::admin::dto::Items;

/// Clears the screen and goes to its first line.
const CLEAR: &str = "\x1b[2J\x1b[H";
/// Lines of each table: the rest is counted.
const ROWS: usize = 20;

#[derive(Deserialize)]
struct Status {
    name: String,
    now: String,
    config: Config,
    problems: Vec<Problem>,
}

#[derive(Deserialize)]
struct Config {
    unsaved: bool,
}

#[derive(Deserialize)]
struct Problem {
    severity: String,
    kind: String,
    object: String,
    text: String,
}

#[derive(Deserialize)]
struct Vserver {
    name: String,
    state: String,
    effective_state: String,
    health: u8,
    new_clients: String,
    active_backup: Option<String>,
}

#[derive(Deserialize)]
struct Service {
    name: String,
    state: String,
    active: u32,
    drain: Option<Drain>,
    forced: Option<String>,
}

#[derive(Deserialize)]
struct Drain {
    kind: String,
    remaining: Option<String>,
}

#[derive(Deserialize)]
struct Statistics {
    name: String,
    requests: Flow,
    client_connections: u32,
    server_connections: u32,
    surge_count: u32,
    times: Vec<Times>,
}

#[derive(Deserialize)]
struct Flow {
    rate: u64,
}

#[derive(Deserialize)]
struct Times {
    part: String,
    p50_ms: f64,
    p99_ms: f64,
}

/// One look.
struct Seen {
    status: Status,
    vservers: Vec<Vserver>,
    services: Vec<Service>,
    of_vservers: Vec<Statistics>,
    of_services: Vec<Statistics>,
}

pub(super) fn run(args: &TopArgs) -> ExitCode {
    let client = match Client::find(&args.target).and_then(|client| Ok((client, runtime()?))) {
        Ok(found) => found,
        Err(error) => return fail(&format!("top: {error}")),
    };
    let (client, runtime) = client;
    let screen = std::io::stdout().is_terminal() && !args.once;
    loop {
        match runtime.block_on(look(&client)) {
            Ok(seen) => say(&format!("{}{}", if screen { CLEAR } else { "" }, frame(&seen).trim_end())),
            // A box that restarts is looked at again; the first look must succeed.
            Err(error) if !screen => return fail(&format!("top: {error}")),
            Err(error) => say(&format!("{CLEAR}{error}")),
        }
        if !screen {
            return ExitCode::SUCCESS;
        }
        runtime.block_on(async { tokio::time::sleep(args.every).await });
    }
}

async fn look(client: &Client) -> Result<Seen, Failure> {
    async fn list<T: DeserializeOwned>(client: &Client, path: &str) -> Result<Vec<T>, Failure> {
        client.get::<Items<T>>(&format!("/api/v1/{path}")).await.map(|list| list.items)
    }
    Ok(Seen {
        status: client.get("/api/v1/status").await?,
        vservers: list(client, "vservers").await?,
        services: list(client, "services").await?,
        of_vservers: list(client, "stats/vservers").await?,
        of_services: list(client, "stats/services").await?,
    })
}

/// What is wrong first, then vservers and services: those not at rest before those that are, then the busiest.
fn frame(seen: &Seen) -> String {
    let status = &seen.status;
    let unsaved = if status.config.unsaved { "   unsaved changes" } else { "" };
    let mut out = format!("{}   {}{unsaved}\n", status.name, status.now);
    for problem in status.problems.iter().take(ROWS) {
        let _ = writeln!(out, "{}: {} {}: {}", problem.severity, problem.kind, problem.object, problem.text);
    }
    out += &more(status.problems.len(), "problems");
    let rate = |of: &[Statistics], name: &str| of.iter().find(|s| s.name == name).map_or(0, |s| s.requests.rate);

    let mut vservers: Vec<&Vserver> = seen.vservers.iter().collect();
    vservers
        .sort_by_key(|v| (v.effective_state == "UP" && v.state == "UP", u64::MAX - rate(&seen.of_vservers, &v.name)));
    let header =
        ["vserver", "state", "health", "clients go to", "req/s", "clients", "servers", "waiting", "p50 ms", "p99 ms"];
    let rows = vservers.iter().take(ROWS).map(|vserver| {
        let state = match vserver.state == vserver.effective_state {
            true => vserver.state.clone(),
            false => format!("{} ({} effective)", vserver.state, vserver.effective_state),
        };
        let to = vserver.active_backup.clone().unwrap_or_else(|| vserver.new_clients.clone());
        let of = seen.of_vservers.iter().find(|of| of.name == vserver.name);
        [vec![vserver.name.clone(), state, format!("{}%", vserver.health), to], counted(of, true)].concat()
    });
    out += &table(&header, rows.collect());
    out += &more(vservers.len(), "vservers");

    let mut services: Vec<&Service> = seen.services.iter().collect();
    services.sort_by_key(|s| (s.state == "UP" && s.forced.is_none(), u64::MAX - rate(&seen.of_services, &s.name)));
    let header = ["service", "state", "active", "req/s", "clients", "servers", "p50 ms", "p99 ms"];
    let rows = services.iter().take(ROWS).map(|service| {
        let mut state = service.state.clone();
        if let Some(drain) = &service.drain {
            let left = drain.remaining.as_ref().map_or_else(|| drain.kind.clone(), |left| format!("{left} left"));
            let _ = write!(state, " ({left})");
        }
        if service.forced.is_some() {
            state += " (forced)";
        }
        let of = seen.of_services.iter().find(|of| of.name == service.name);
        [vec![service.name.clone(), state, service.active.to_string()], counted(of, false)].concat()
    });
    out += &table(&header, rows.collect());
    out + &more(services.len(), "services")
}

/// Rate, connections on both sides, who waits, and times of the whole.
fn counted(of: Option<&Statistics>, waiting: bool) -> Vec<String> {
    let Some(of) = of else { return Vec::new() };
    let mut cells =
        vec![of.requests.rate.to_string(), of.client_connections.to_string(), of.server_connections.to_string()];
    if waiting {
        cells.push(of.surge_count.to_string());
    }
    if let Some(total) = of.times.iter().find(|times| times.part == "total") {
        cells.extend([format!("{:.1}", total.p50_ms), format!("{:.1}", total.p99_ms)]);
    }
    cells
}

fn more(count: usize, what: &str) -> String {
    if count > ROWS { format!("and {} more {what}\n", count - ROWS) } else { String::new() }
}

fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = |at: usize, title: &str| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(title.len())
    };
    let widths: Vec<usize> = header.iter().enumerate().map(|(at, title)| width(at, title)).collect();
    let mut out = String::from("\n");
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells.zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(out, "{}", padded.join("  ").trim_end());
    };
    line(&mut header.iter().copied());
    rows.iter().for_each(|row| line(&mut row.iter().map(String::as_str)));
    out
}

/// At least half a second, at most an hour.
pub(super) fn every(text: &str) -> Result<Duration, String> {
    let every = crate::config::units::parse_duration(text)?;
    let range = Duration::from_millis(500)..=Duration::from_secs(3600);
    if range.contains(&every) { Ok(every) } else { Err("from 500ms to 1h".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_at_rest_comes_first() {
        let statistics = |name: &str, rate: u64| {
            json!({"name": name, "requests": {"rate": rate}, "client_connections": 3, "server_connections": 2,
                   "surge_count": 1, "times": [{"part": "total", "p50_ms": 1.25, "p99_ms": 20.0}]})
        };
        let read = |json| serde_json::from_value(json).unwrap();
        let seen = Seen {
            status: serde_json::from_value(json!({
                "name": "box-b", "now": "2026-11-29T22:50:19Z", "config": {"unsaved": true},
                "problems": [{"severity": "error", "kind": "vserver", "object": "db", "text": "is DOWN"}],
            }))
            .unwrap(),
            vservers: serde_json::from_value(json!([
                {"name": "web", "state": "UP", "effective_state": "UP", "health": 100, "new_clients": "own", "active_backup": null},
                {"name": "db", "state": "DOWN", "effective_state": "UP", "health": 0, "new_clients": "backup", "active_backup": "spare"},
            ]))
            .unwrap(),
            services: serde_json::from_value(json!([
                {"name": "a", "state": "UP", "active": 1, "drain": null, "forced": null},
                {"name": "b", "state": "TROFS", "active": 2, "drain": {"kind": "timed", "remaining": "28s"}, "forced": null},
            ]))
            .unwrap(),
            of_vservers: vec![read(statistics("web", 120)), read(statistics("db", 0))],
            of_services: vec![read(statistics("a", 60))],
        };
        assert_eq!(
            frame(&seen),
            "box-b   2026-11-29T22:50:19Z   unsaved changes\n\
             error: vserver db: is DOWN\n\n\
             vserver  state                health  clients go to  req/s  clients  servers  waiting  p50 ms  p99 ms\n\
             db       DOWN (UP effective)  0%      spare          0      3        2        1        1.2     20.0\n\
             web      UP                   100%    own            120    3        2        1        1.2     20.0\n\n\
             service  state             active  req/s  clients  servers  p50 ms  p99 ms\n\
             b        TROFS (28s left)  2\n\
             a        UP                1       60     3        2        1.2     20.0\n"
        );
    }

    #[test]
    fn the_pace_has_bounds() {
        assert_eq!(every("2s"), Ok(Duration::from_secs(2)));
        assert!(every("10ms").is_err() && every("2h").is_err());
    }
}
