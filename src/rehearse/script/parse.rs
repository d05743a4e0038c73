//! Text → [`Script`], with every error at once.

use super::lex::{Words, unknown};
use super::{Action, DEFAULT_START, Script, Span, Step, When, Wrong, act, expect};
use crate::model::time::Wall;

/// Steps a script may have.
const STEPS_MOST: usize = 100_000;

/// Reads a script. `path` is how it is reported. Errors: all of them, in the order of their lines.
pub fn parse(path: &str, text: &str) -> Result<Script, Vec<Wrong>> {
    let mut script =
        Script { path: path.into(), config: None, start: DEFAULT_START, unknown: false, steps: Vec::new() };
    let mut wrong = Vec::new();
    for (line, text) in (1u32..).zip(text.lines()) {
        if script.steps.len() == STEPS_MOST {
            wrong.push(Wrong { line, what: format!("a script has at most {STEPS_MOST} steps") });
            break;
        }
        if let Err(what) = Words::split(text).and_then(|words| take_line(&mut script, line, words)) {
            wrong.push(Wrong { line, what });
        }
    }
    if wrong.is_empty() { Ok(script) } else { Err(wrong) }
}

fn take_line(script: &mut Script, line: u32, mut words: Words) -> Result<(), String> {
    if words.is_done() {
        return Ok(());
    }
    match words.peek() {
        Some("config" | "start") if !script.steps.is_empty() => {
            return Err("`config` and `start` stand before the first step".into());
        }
        Some("config") => {
            words.next();
            script.config = Some(words.expect("a file")?);
        }
        Some("start") => {
            words.next();
            let word = words.expect("`unknown` or a time")?;
            match word.as_str() {
                "unknown" => script.unknown = true,
                time => script.start = wall(time)?,
            }
        }
        _ => {
            let step = step(line, &mut words)?;
            script.steps.push(step);
        }
    }
    words.end()
}

fn step(line: u32, words: &mut Words) -> Result<Step, String> {
    let when = if words.take("at") {
        When::At(words.duration("a time since the start")?)
    } else if words.take("after") {
        When::After(words.duration("a time since the step before")?)
    } else {
        When::Same
    };
    let text = words.rest().into();
    Ok(Step { line, when, action: action(words)?, text })
}

fn action(words: &mut Words) -> Result<Action, String> {
    if words.take("within") {
        let span = Span::Within(words.duration("how long to wait")?);
        return expectation(words, span);
    }
    if words.take("for") {
        let span = Span::For(words.duration("how long it must hold")?);
        return expectation(words, span);
    }
    if words.peek().is_some_and(|word| word.eq_ignore_ascii_case("expect")) {
        return expectation(words, Span::Now);
    }
    let Some(word) = words.next() else { return Err("a step is missing after its moment".into()) };
    match act::parse(&word, words) {
        Some(action) => action,
        None => Err(unknown("unknown step", &word, act::WORDS.iter().copied())),
    }
}

fn expectation(words: &mut Words, span: Span) -> Result<Action, String> {
    if !words.take("expect") {
        let found = words.peek().unwrap_or("the end of the line");
        return Err(format!("`within` and `for` stand before `expect`, not before {found}"));
    }
    Ok(Action::Expect { expectation: expect::parse(words)?, span })
}

fn wall(text: &str) -> Result<Wall, String> {
    let time: jiff::Timestamp = text
        .parse()
        .map_err(|_| format!("`{text}` is neither `unknown` nor a time; write it like 2026-01-05T10:00:00Z"))?;
    Ok(Wall(time.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_error_has_its_line_and_the_nearest_word() {
        let wrong =
            parse("x.events", "# nothing\nat 10s fial api-a\nexpect sc:dr activ\nexpekt sc:dr active\nwait 5 x\n")
                .unwrap_err();
        let lines: Vec<(u32, &str)> = wrong.iter().map(|w| (w.line, w.what.as_str())).collect();
        assert_eq!(lines.iter().map(|l| l.0).collect::<Vec<_>>(), [2, 3, 4, 5]);
        assert!(lines[0].1.contains("did you mean `fail`?"), "{}", lines[0].1);
        assert!(lines[1].1.contains("did you mean `active`?"), "{}", lines[1].1);
        assert!(lines[2].1.contains("did you mean `expect`?"), "{}", lines[2].1);
    }

    #[test]
    fn moments_stand_before_a_step() {
        let script = parse(
            "x.events",
            "config box.toml\nstart unknown\nstart 2026-03-01T00:00:00Z\nat 10s fail p\nafter 1m30s pass p\nwithin 2s expect sc:s active",
        )
        .unwrap();
        assert_eq!(script.config.as_deref(), Some("box.toml"));
        assert!(script.unknown);
        assert_eq!(script.start.to_string(), "2026-03-01T00:00:00.000Z");
        let whens: Vec<When> = script.steps.iter().map(|s| s.when).collect();
        assert_eq!(whens, [When::At(Duration::from_secs(10)), When::After(Duration::from_secs(90)), When::Same]);
        assert_eq!(&*script.steps[2].text, "within 2s expect sc:s active");
    }

    proptest::proptest! {
        #[test]
        fn whatever_stands_in_a_script_is_read_or_refused(text in "\\PC*|([a-z:\" .#=0-9-]{0,40}\n){0,6}") {
            let _ = parse("x.events", &text);
        }

        #[test]
        fn words_in_any_order_are_read_or_refused(
            words in proptest::collection::vec(proptest::sample::select(vec![
                "at", "after", "within", "for", "expect", "fail", "pass", "keep", "failing", "once", "2", "times", "10s",
                "sc:a", "svc:b", "vs:c", "check", "www", "A", "=", "is", "NODATA", "trigger", "set", "scenario", "x",
                "activate", "on", "disable", "service", "delay", "graceful", "latency", "reason", "expires", "\"q r\"",
                "new", "clients", "own", "effective", "UP", "not", "stuck", "seq", "from", "10.0.0.1", "restart",
            ]), 0..12),
        ) {
            let _ = parse("x.events", &words.join(" "));
        }
    }
}
