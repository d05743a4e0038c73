//! `bascule top`: what goes on, every few seconds. On a terminal with keys: to scroll, to drain and to enable.

mod frame;
mod keys;
mod screen;
mod seen;
mod state;

use std::io::{IsTerminal as _, Read as _};
use std::pin::Pin;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use reqwest::Method;
use rustyline::history::DefaultHistory;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::args::TopArgs;
use super::client::{Client, Failure, runtime};
use super::terminal::Held;
use super::{fail, say};
use crate::admin::dto::path_segment;
use frame::frame;
use screen::{Size, about, first_screen, screen};
use seen::{Seen, look};
use state::{Act, State};

/// Another screen than the shell's, without a cursor; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// Of a terminal that does not tell.
const USUAL: Size = Size { columns: 80, lines: 24 };
/// Of one read of the appliance: figures that are older are no figures.
const PATIENCE: Duration = Duration::from_secs(8);
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
        if let Some(held) = Held::take(&signals, ENTER, LEAVE) {
            let ended = runtime.block_on(watch(&client, args.every, &held));
            // What is said is said on the screen that was there before.
            drop(held);
            return match ended {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => fail(&format!("top: {error}")),
            };
        }
    }
    let reader = client.within(PATIENCE);
    loop {
        match runtime.block_on(look(&reader)) {
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

/// What happens while somebody looks on.
enum Event {
    /// A look is due, or a second has gone by.
    Time,
    Pressed(Vec<u8>),
    Looked(Result<Seen, Failure>),
    /// What became of an act.
    Done(String),
}

/// Work that goes on while keys are read.
type Work<'a, T> = Option<Pin<Box<dyn Future<Output = T> + 'a>>>;

/// Until a key ends it, or nobody is there any more. The first look must succeed; after it a box that restarts, or hangs,
/// is looked at again and again. Errors: the first look did not.
async fn watch(client: &Client, every: Duration, held: &Held) -> Result<(), Failure> {
    let reader = &client.within(PATIENCE);
    let mut pressed = reads();
    let mut due = tokio::time::interval(every);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen: Option<Seen> = None;
    let mut state = State::default();
    let mut looking: Work<'_, Result<Seen, Failure>> = None;
    let mut acting: Work<'_, String> = None;
    // When the first look began that has no answer yet.
    let mut unanswered: Option<Instant> = None;
    loop {
        state.silent = unanswered.map(|since| since.elapsed());
        held.again();
        match &seen {
            Some(seen) => draw(&screen(seen, &mut state, size())),
            None => draw(&first_screen(client.place(), &state, size())),
        }
        let event = tokio::select! {
            _ = due.tick(), if looking.is_none() => {
                unanswered.get_or_insert_with(Instant::now);
                looking = Some(Box::pin(look(reader)));
                continue;
            }
            _ = second.tick(), if unanswered.is_some() => Event::Time,
            bytes = pressed.recv() => match bytes {
                Some(bytes) => Event::Pressed(bytes),
                None => return Ok(()),
            },
            looked = under_way(&mut looking) => Event::Looked(looked),
            done = under_way(&mut acting) => Event::Done(done),
        };
        match event {
            Event::Time => {}
            Event::Looked(Ok(now)) => (seen, looking, unanswered) = (Some(now), None, None),
            Event::Looked(Err(error)) if seen.is_none() => return Err(error),
            Event::Looked(Err(error)) => (state.message, looking) = (error.to_string(), None),
            Event::Done(message) => {
                (state.message, acting) = (message, None);
                // What is shown is from before it.
                unanswered.get_or_insert_with(Instant::now);
                looking = Some(Box::pin(look(reader)));
            }
            Event::Pressed(bytes) => {
                for key in keys::keys(&bytes) {
                    let (about, page) = seen.as_ref().map_or((Vec::new(), 1), |seen| about(seen, &state, size()));
                    match state.press(key, &about, page) {
                        None => {}
                        Some(Act::Quit) => return Ok(()),
                        Some(_) if acting.is_some() => state.message = "one act at a time: no answer yet".to_owned(),
                        Some(act) => acting = Some(Box::pin(carry_out(client, act))),
                    }
                }
            }
        }
    }
}

/// The end of the work, if there is any.
async fn under_way<T>(work: &mut Work<'_, T>) -> T {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
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
    fn figures_of_a_box_that_says_nothing_more_are_marked_as_old() {
        let size = Size { columns: 60, lines: 6 };
        let head = |silent: Option<u64>| {
            let mut state = State { silent: silent.map(Duration::from_millis), ..State::default() };
            let shown = screen(&seen(), &mut state, size);
            shown.trim_start_matches("\x1b[H").split("\x1b[K").next().unwrap().to_owned()
        };
        let usual = "box-b   2026-11-29T22:50:19Z   unsaved changes";
        assert_eq!((head(None), head(Some(1_999))), (usual.to_owned(), usual.to_owned()), "a look may take its time");
        assert_eq!(head(Some(5_400)), format!("\x1b[7mno answer since 5 s\x1b[0m   {}", &usual[..38]));
        let state = State { silent: Some(Duration::from_secs(3)), ..State::default() };
        let first = first_screen("https://box\x1b[2J", &state, size);
        assert!(first.contains("no answer since 3 s") && first.contains(r"https://box\u{1b}[2J"), "{first:?}");
        assert!(first.ends_with("q quit\x1b[J"), "{first:?}");
    }

    #[test]
    fn what_a_box_says_moves_no_cursor() {
        let (mut seen, mut state) = (seen(), State::default());
        seen.status.problems[0].text = "is\x1b[2J\u{202e}\u{9b}DOWN".into();
        state.message = "no\x1b]0;x\x07".into();
        let shown = screen(&seen, &mut state, Size { columns: 80, lines: 6 });
        assert!(shown.contains(r"is\u{1b}[2J\u{202e}\u{9b}DOWN") && shown.contains(r"no\u{1b}]0;x\u{7}"), "{shown:?}");
    }

    #[test]
    fn the_pace_has_bounds() {
        assert_eq!(every("2s"), Ok(Duration::from_secs(2)));
        assert!(every("10ms").is_err() && every("2h").is_err());
    }
}
