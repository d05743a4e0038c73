//! One look as text: what is wrong first, then vservers and services as tables.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::seen::{Problem, Seen, Service, Statistics, Vserver};
use super::state::{Row, Sort};

/// Lines of each table where nobody can scroll: the rest is counted.
const ROWS: usize = 20;
/// Problems above the tables on a screen.
const PROBLEMS: usize = 4;

const OF_VSERVERS: [&str; 10] =
    ["vserver", "state", "health", "clients go to", "req/s", "clients", "servers", "waiting", "p50 ms", "p99 ms"];
const OF_SERVICES: [&str; 8] = ["service", "state", "active", "req/s", "clients", "servers", "p50 ms", "p99 ms"];

/// Where nobody scrolls: those not at rest before those that are, then the busiest.
pub(super) fn frame(seen: &Seen) -> String {
    let mut out = title(seen) + "\n";
    for problem in seen.status.problems.iter().take(ROWS) {
        let _ = writeln!(out, "{}", wrong(problem));
    }
    out += &more(seen.status.problems.len(), "problems");
    let vservers = vservers(seen, Sort::State, "");
    out += &table(&OF_VSERVERS, vservers.iter().take(ROWS).map(|v| vserver_cells(seen, v)).collect());
    out += &more(vservers.len(), "vservers");
    let services = services(seen, Sort::State, "");
    out += &table(&OF_SERVICES, services.iter().take(ROWS).map(|s| service_cells(seen, s)).collect());
    out + &more(services.len(), "services")
}

/// The first line: which appliance, when.
pub(super) fn title(seen: &Seen) -> String {
    let status = &seen.status;
    let unsaved = if status.config.unsaved { "   unsaved changes" } else { "" };
    format!("{}   {}{unsaved}", status.name, status.now)
}

/// What is wrong, in a few lines.
pub(super) fn problems(seen: &Seen) -> Vec<String> {
    let all = &seen.status.problems;
    let mut lines: Vec<String> = all.iter().take(PROBLEMS).map(wrong).collect();
    if all.len() > PROBLEMS {
        lines.push(format!("and {} more problems", all.len() - PROBLEMS));
    }
    lines
}

/// All lines of both tables, with what each is about.
pub(super) fn rows(seen: &Seen, sort: Sort, filter: &str) -> Vec<(String, Option<Row>)> {
    let vservers = vservers(seen, sort, filter);
    let services = services(seen, sort, filter);
    let of_vservers = table(&OF_VSERVERS, vservers.iter().map(|v| vserver_cells(seen, v)).collect());
    let of_services = table(&OF_SERVICES, services.iter().map(|s| service_cells(seen, s)).collect());
    let about = [None, None].into_iter().chain(vservers.iter().map(|v| Some(Row::Vserver(v.name.clone()))));
    let mut rows: Vec<_> = of_vservers.lines().map(str::to_owned).zip(about).collect();
    let about = [None, None].into_iter().chain(services.iter().map(|s| Some(Row::Service(s.name.clone()))));
    rows.extend(of_services.lines().map(str::to_owned).zip(about));
    rows
}

fn wrong(problem: &Problem) -> String {
    format!("{}: {} {}: {}", problem.severity, problem.kind, problem.object, problem.text)
}

fn vservers<'a>(seen: &'a Seen, sort: Sort, filter: &str) -> Vec<&'a Vserver> {
    let mut list: Vec<&Vserver> = seen.vservers.iter().filter(|v| v.name.contains(filter)).collect();
    let rate = |v: &Vserver| Reverse(seen.rate_of_vserver(&v.name));
    match sort {
        Sort::State => list.sort_by_key(|v| (v.effective_state == "UP" && v.state == "UP", rate(v))),
        Sort::Rate => list.sort_by_key(|v| rate(v)),
        Sort::Name => list.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    list
}

fn services<'a>(seen: &'a Seen, sort: Sort, filter: &str) -> Vec<&'a Service> {
    let mut list: Vec<&Service> = seen.services.iter().filter(|s| s.name.contains(filter)).collect();
    let rate = |s: &Service| Reverse(seen.rate_of_service(&s.name));
    match sort {
        Sort::State => list.sort_by_key(|s| (s.state == "UP" && s.forced.is_none(), rate(s))),
        Sort::Rate => list.sort_by_key(|s| rate(s)),
        Sort::Name => list.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    list
}

fn vserver_cells(seen: &Seen, vserver: &Vserver) -> Vec<String> {
    let state = match vserver.state == vserver.effective_state {
        true => vserver.state.clone(),
        false => format!("{} ({} effective)", vserver.state, vserver.effective_state),
    };
    let to = vserver.active_backup.clone().unwrap_or_else(|| vserver.new_clients.clone());
    let of = seen.of_vservers.iter().find(|of| of.name == vserver.name);
    [vec![vserver.name.clone(), state, format!("{}%", vserver.health), to], counted(of, true)].concat()
}

fn service_cells(seen: &Seen, service: &Service) -> Vec<String> {
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

/// An empty line, the header, the rows; nothing where there are none.
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
