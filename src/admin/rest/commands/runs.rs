//! Lines in order, as few changes as they take: those that come one after the other and only add, set or bind are tried
//! as one. Where that does not load, halves are tried, so that the line that is to blame is told, and no other fails
//! with it.

use super::{App, Caller, Problem, Told, edit, statements};
use crate::netscaler::document::Document;
use crate::netscaler::error::NsError;
use crate::netscaler::statement::{Statement, Verb};

/// Lines of one change.
const MOST: usize = 1_000;
/// After so many lines that alone do not load, the rest are tried one by one: halves would find too many more.
const HALVES_WHILE: usize = 8;

/// A line with something to do.
#[derive(Clone)]
pub(super) struct Line {
    /// Its place among all.
    at: usize,
    statements: Vec<Statement>,
}

/// What became of each line of a change.
type Outcomes = Vec<Result<(), NsError>>;

/// Each line as if it stood alone. Errors: nothing was carried out, and nothing can be at the moment.
pub(super) async fn carry_out(
    app: &App,
    caller: &Caller,
    lines: &[String],
    told: &mut Told,
) -> Result<Outcomes, Problem> {
    let (mut outcomes, todo) = read(lines);
    // The next one last.
    let mut waiting: Vec<Vec<Line>> = runs(todo);
    waiting.reverse();
    let (mut done, mut alone) = (false, 0);
    while let Some(run) = waiting.pop() {
        match edit(app, caller, run.clone(), false, told).await {
            Ok(Ok(results)) => {
                done = true;
                run.iter().zip(results).for_each(|(line, result)| outcomes[line.at] = result);
            }
            Ok(Err(error)) => match split(run, alone >= HALVES_WHILE) {
                Ok(parts) => waiting.extend(parts.into_iter().rev()),
                Err(line) => {
                    alone += 1;
                    outcomes[line.at] = Err(error);
                }
            },
            Err(problem) if !done => return Err(problem),
            Err(problem) => {
                // What was carried out is told, and what was not.
                let error = NsError::new(257).because(&format!("not carried out: {}", problem.detail));
                for line in run.iter().chain(waiting.iter().flatten()) {
                    outcomes[line.at] = Err(error.clone());
                }
                break;
            }
        }
    }
    Ok(outcomes)
}

/// What each line would do behind those before it that go well. Nothing is carried out: `told` is told of all of them
/// together, as one change.
pub(super) async fn try_out(
    app: &App,
    caller: &Caller,
    lines: &[String],
    told: &mut Told,
) -> Result<Outcomes, Problem> {
    let (mut outcomes, todo) = read(lines);
    let mut good: Vec<Line> = Vec::new();
    let mut waiting = if todo.is_empty() { Vec::new() } else { vec![todo] };
    let mut alone = 0;
    while let Some(run) = waiting.pop() {
        let mut together = Told { generation: told.generation, ..Told::default() };
        let all = good.iter().chain(&run).cloned().collect();
        match edit(app, caller, all, true, &mut together).await? {
            Ok(results) => {
                *told = together;
                for (line, result) in run.into_iter().zip(results.into_iter().skip(good.len())) {
                    outcomes[line.at] = result;
                    good.extend(outcomes[line.at].is_ok().then_some(line));
                }
            }
            Err(error) => match split(run, alone >= HALVES_WHILE) {
                Ok(parts) => waiting.extend(parts.into_iter().rev()),
                Err(line) => {
                    alone += 1;
                    outcomes[line.at] = Err(error);
                }
            },
        }
    }
    Ok(outcomes)
}

/// The lines that have something to do; of the others it is known what becomes of them.
fn read(lines: &[String]) -> (Outcomes, Vec<Line>) {
    let mut outcomes: Outcomes = lines.iter().map(|_| Ok(())).collect();
    let mut todo = Vec::new();
    for (at, text) in lines.iter().enumerate() {
        match statements(text) {
            Ok(statements) if statements.is_empty() => {}
            Ok(statements) => todo.push(Line { at, statements }),
            Err(error) => outcomes[at] = Err(error),
        }
    }
    (outcomes, todo)
}

/// The one line of a run, or parts of it.
fn split(mut run: Vec<Line>, into_lines: bool) -> Result<Vec<Vec<Line>>, Line> {
    if run.len() == 1
        && let Some(line) = run.pop()
    {
        return Err(line);
    }
    if into_lines {
        return Ok(run.into_iter().map(|line| vec![line]).collect());
    }
    let rest = run.split_off(run.len() / 2);
    Ok(vec![run, rest])
}

/// Lines that may be one change. What is taken away ends with its state and its counters: it must be gone before
/// something of the same name comes, so such a line is a change of its own.
fn runs(lines: Vec<Line>) -> Vec<Vec<Line>> {
    let mut runs: Vec<Vec<Line>> = Vec::new();
    let mut joins = false;
    for line in lines {
        let grows = line.statements.iter().all(|one| matches!(one.verb, Verb::Add | Verb::Set | Verb::Bind));
        match runs.last_mut().filter(|run| joins && grows && run.len() < MOST) {
            Some(run) => run.push(line),
            None => runs.push(vec![line]),
        }
        joins = grows;
    }
    runs
}

/// Carries out each line on `document`; one that is refused changes nothing of it. What is warned of, beside.
pub(super) fn on(document: &mut Document, lines: &[Line]) -> (Outcomes, Vec<String>) {
    let mut warnings = Vec::new();
    let mut one = |line: &Line| {
        let before = (line.statements.len() > 1).then(|| document.clone());
        let mut said = Vec::new();
        for statement in &line.statements {
            match document.execute(statement) {
                Ok(told) => said.extend(told.into_iter().map(|warning| warning.message)),
                Err(error) => {
                    if let Some(before) = before {
                        *document = before;
                    }
                    return Err(error);
                }
            }
        }
        warnings.extend(said);
        Ok(())
    };
    let outcomes = lines.iter().map(&mut one).collect();
    (outcomes, warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line> {
        let line = |(at, text): (usize, &&str)| Line { at, statements: statements(text).unwrap() };
        texts.iter().enumerate().map(line).collect()
    }

    #[test]
    fn what_takes_something_away_is_a_change_of_its_own() {
        let all = lines(&[
            "add server a 192.0.2.1",
            "add lb vserver v HTTP",
            "rm server a",
            "add server a 192.0.2.2",
            "set lb vserver v -timeout 5",
            "rename server a b",
            "unbind lb vserver v s",
            "bind lb vserver v s",
        ]);
        let lengths: Vec<usize> = runs(all).iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 1, 2, 1, 1, 1]);
        let many: Vec<String> = (0..=MOST).map(|at| format!("add server s{at} 192.0.2.1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(runs(lines(&many)).len(), 2);
    }

    #[test]
    fn a_run_that_does_not_load_is_halved_down_to_the_line() {
        let run = lines(&["add server a 192.0.2.1", "add server b 192.0.2.1", "add server c 192.0.2.1"]);
        let lengths = |parts: Result<Vec<Vec<Line>>, Line>| match parts {
            Ok(parts) => parts.iter().map(Vec::len).collect(),
            Err(_) => Vec::new(),
        };
        assert_eq!(lengths(split(run.clone(), false)), [1, 2]);
        assert_eq!(lengths(split(run.clone(), true)), [1, 1, 1]);
        assert_eq!(split(run[..1].to_vec(), false).map(drop).map_err(|line| line.at), Err(0));
    }

    #[test]
    fn a_line_of_several_statements_is_carried_out_whole_or_not_at_all() {
        let mut document = Document::from_toml("[server.a2]\naddress = \"192.0.2.9\"\n").unwrap();
        let lines = lines(&["add server a[1-2] 192.0.2.[1-2]", "add server b 192.0.2.3", "add server b 192.0.2.3"]);
        let (outcomes, _) = on(&mut document, &lines);
        assert_eq!(
            outcomes.iter().map(|one| one.as_ref().map_err(|e| e.code)).collect::<Vec<_>>(),
            [Err(1335), Ok(&()), Err(1335)]
        );
        let text = document.to_toml().unwrap();
        assert!(!text.contains("a1") && text.contains("[server.b]"), "{text}");
    }
}
