//! A screen: as many lines as the terminal has, none wider than it is.

use std::time::Duration;

use super::frame::{problems, rows, title};
use super::seen::Seen;
use super::state::{Row, State};
use crate::model::visible::on_one_line;

/// Goes to the first line without a flicker; each line clears what is left of it, the last all below.
const HOME: &str = "\x1b[H";
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";
const MARKED: &str = "\x1b[7m";
const PLAIN: &str = "\x1b[0m";

/// An answer may take so long before anything is said of it.
const USUAL_AT_MOST: Duration = Duration::from_secs(2);

/// Columns and lines of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub columns: usize,
    pub lines: usize,
}

/// What the lines of the tables are about, and how many are shown at once.
pub(super) fn about(seen: &Seen, state: &State, size: Size) -> (Vec<Option<Row>>, usize) {
    let about = rows(seen, state.sort, &state.filter).into_iter().map(|(_, row)| row).collect();
    // Title and keys have lines of their own.
    (about, size.lines.saturating_sub(2 + problems(seen).len()).max(1))
}

/// The text of a screen, with what moves the cursor.
pub(super) fn screen(seen: &Seen, state: &mut State, size: Size) -> String {
    let (about, page) = about(seen, state, size);
    state.settle(&about, page);
    let mut out = head(state, &title(seen), size);
    let mut line = |text: &str, marked: bool| {
        let text = fitting(text, size.columns);
        let text = if marked { format!("{MARKED}{text}{PLAIN}") } else { text };
        out += &format!("{text}{REST_OF_LINE}\r\n");
    };
    problems(seen).iter().for_each(|problem| line(problem, false));
    let all = rows(seen, state.sort, &state.filter);
    for (text, row) in all.iter().skip(state.first).take(page) {
        line(text, row.is_some() && *row == state.selected);
    }
    out + &fitting(&state.line(), size.columns) + REST_OF_SCREEN
}

/// The same before there is anything to show. `place`: who is asked.
pub(super) fn first_screen(place: &str, state: &State, size: Size) -> String {
    head(state, &format!("asking {place}"), size) + &fitting("q quit", size.columns) + REST_OF_SCREEN
}

/// The first line; before all else, that what stands below is not what is.
fn head(state: &State, title: &str, size: Size) -> String {
    let silent = state.silent.filter(|silent| *silent >= USUAL_AT_MOST);
    let said = silent.map(|silent| fitting(&format!("no answer since {} s", silent.as_secs()), size.columns));
    let marked = said.as_ref().map(|said| format!("{MARKED}{said}{PLAIN}")).unwrap_or_default();
    let rest = match &said {
        Some(said) => fitting(&format!("   {title}"), size.columns - said.chars().count()),
        None => fitting(title, size.columns),
    };
    format!("{HOME}{marked}{rest}{REST_OF_LINE}\r\n")
}

/// As much of a line as there is room for, as text.
fn fitting(text: &str, columns: usize) -> String {
    on_one_line(text).chars().take(columns).collect()
}
