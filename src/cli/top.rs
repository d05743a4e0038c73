//! `bascule top`: what goes on, every few seconds. On a terminal with keys: to scroll, to drain and to enable.

mod frame;
mod keys;
mod screen;
mod seen;
mod state;

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;
use std::time::Duration;

use nix::sys::signal::Signal;
use reqwest::Method;
use rustyline::history::DefaultHistory;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::args::TopArgs;
use super::client::{Client, Failure, runtime};
use super::terminal::Held;
use super::{fail, say};
use crate::admin::dto::path_segment;
use frame::frame;
use screen::{Size, about, screen};
use seen::{Seen, look};
use state::{Act, State};

/// Another screen than the shell's, without a cursor; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// Of a terminal that does not tell.
const USUAL: Size = Size { columns: 80, lines: 24 };
/// Reads of keys that may wait.
const READS_MOST: usize = 64;

pub(super) fn run(args: &TopArgs) -> ExitCode {
    let client = match Client::find(&args.target).and_then(|client| Ok((client, runtime()?))) {
        Ok(found) => found,
        Err(error) => return fail(&format!("top: {error}")),
    };
    let (client, runtime) = client;
    let again = std::io::stdout().is_terminal() && !args.once;
    if again && !is_dumb() {
        let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
        // The first look must succeed; after it a box that restarts is looked at again.
        match runtime.block_on(look(&client)) {
            Err(error) => return fail(&format!("top: {error}")),
            Ok(seen) => {
                if let Some(held) = Held::take(&signals, ENTER, LEAVE) {
                    return with_keys(&client, &runtime, args.every, seen, &held);
                }
            }
        }
    }
    loop {
        match runtime.block_on(look(&client)) {
            Ok(seen) => say(frame(&seen).trim_end()),
            Err(error) if !again => return fail(&format!("top: {error}")),
            Err(error) => say(&error.to_string()),
        }
        if !again {
            return ExitCode::SUCCESS;
        }
        runtime.block_on(async { tokio::time::sleep(args.every).await });
        say("");
    }
}

/// Whether the terminal has no screen: then one look stands below the other, and there are no keys.
fn is_dumb() -> bool {
    std::env::var("TERM").map_or(true, |term| term.is_empty() || term == "dumb")
}

fn with_keys(client: &Client, runtime: &Runtime, every: Duration, seen: Seen, held: &Held) -> ExitCode {
    runtime.block_on(async {
        let mut pressed = reads();
        let mut due = tokio::time::interval(every);
        let (mut seen, mut state) = (seen, State::default());
        // The first look is there already.
        due.tick().await;
        loop {
            held.again();
            draw(&screen(&seen, &mut state, size()));
            let bytes = tokio::select! {
                _ = due.tick() => None,
                bytes = pressed.recv() => match bytes {
                    Some(bytes) => Some(bytes),
                    // Nobody is there any more.
                    None => return ExitCode::SUCCESS,
                },
            };
            let mut stale = bytes.is_none();
            for key in keys::keys(&bytes.unwrap_or_default()) {
                let (about, page) = about(&seen, &state, size());
                let act = match state.press(key, &about, page) {
                    Some(Act::Quit) => return ExitCode::SUCCESS,
                    Some(act) => act,
                    None => continue,
                };
                state.message = carry_out(client, act).await;
                stale = true;
            }
            if stale {
                match look(client).await {
                    Ok(now) => seen = now,
                    Err(error) => state.message = error.to_string(),
                }
            }
        }
    })
}

/// What became of it, as the last line tells it.
async fn carry_out(client: &Client, act: Act) -> String {
    let (row, word, body) = match act {
        Act::Quit => return String::new(),
        Act::Enable(row) => (row, "enable", json!({})),
        Act::Disable { row, delay, graceful } => {
            let mut body = json!({});
            if let Some(delay) = delay {
                body["delay"] = delay.into();
            }
            if graceful {
                body["graceful"] = true.into();
            }
            (row, "disable", body)
        }
    };
    let path = format!("/api/v1/{}/{}/{word}", row.collection(), path_segment(row.name()));
    let answer: Result<Value, Failure> = client.call(Method::POST, &path, Some(&body)).await;
    match answer {
        Ok(answer) => {
            let warnings = answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let told: Vec<&str> = warnings.collect();
            let colon = if told.is_empty() { "" } else { ": " };
            format!("{word} {}: done{colon}{}", row.name(), told.join("; "))
        }
        Err(error) => format!("{word} {}: {error}", row.name()),
    }
}

/// What is typed, as it comes; ends with the input.
fn reads() -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel(READS_MOST);
    std::thread::spawn(move || {
        let mut buffer = [0; 256];
        while let Ok(read @ 1..) = std::io::stdin().lock().read(&mut buffer) {
            if send.blocking_send(buffer[..read].to_vec()).is_err() {
                break;
            }
        }
    });
    receive
}

fn size() -> Size {
    let editor = rustyline::Editor::<(), DefaultHistory>::new().ok();
    match editor.and_then(|mut editor| editor.dimensions()) {
        Some((columns @ 1.., lines @ 1..)) => Size { columns: columns.into(), lines: lines.into() },
        _ => USUAL,
    }
}

fn draw(text: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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

    fn seen() -> Seen {
        let statistics = |name: &str, rate: u64| {
            json!({"name": name, "requests": {"rate": rate}, "client_connections": 3, "server_connections": 2,
                   "surge_count": 1, "times": [{"part": "total", "p50_ms": 1.25, "p99_ms": 20.0}]})
        };
        let read = |json| serde_json::from_value(json).unwrap();
        Seen {
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
        }
    }

    #[test]
    fn what_is_not_at_rest_comes_first() {
        assert_eq!(
            frame(&seen()),
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
    fn a_screen_has_the_lines_that_fit_the_selection_marked_and_the_keys_below() {
        let (seen, mut state) = (seen(), State::default());
        let size = Size { columns: 30, lines: 6 };
        let shown = screen(&seen, &mut state, size);
        let lines: Vec<&str> = shown.trim_start_matches("\x1b[H").split("\x1b[K\r\n").collect();
        assert_eq!(lines.len(), 6, "{shown:?}");
        assert_eq!(lines[..3], ["box-b   2026-11-29T22:50:19Z  ", "error: vserver db: is DOWN", ""]);
        assert!(lines[4].starts_with("\x1b[7mdb       DOWN (UP effective)"), "{shown:?}");
        assert_eq!(lines[5], "q quit  up/down  d drain  g gr\x1b[J");
        // The last row is scrolled to.
        let (about, page) = about(&seen, &state, size);
        state.press(keys::Key::End, &about, page);
        let shown = screen(&seen, &mut state, size);
        assert!(shown.contains("\x1b[7ma        UP ") && shown.contains("TROFS (28s left)"), "{shown:?}");
        assert!(!shown.contains("effective"), "{shown:?}");
    }

    #[test]
    fn the_pace_has_bounds() {
        assert_eq!(every("2s"), Ok(Duration::from_secs(2)));
        assert!(every("10ms").is_err() && every("2h").is_err());
    }
}
