//! A screen: as many lines as the terminal has, none wider than it is.

use super::frame::{problems, rows, title};
use super::seen::Seen;
use super::state::{Row, State};

/// Goes to the first line without a flicker; each line clears what is left of it, the last all below.
const HOME: &str = "\x1b[H";
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";
const MARKED: &str = "\x1b[7m";
const PLAIN: &str = "\x1b[0m";

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
    let mut out = String::from(HOME);
    let mut line = |text: &str, marked: bool| {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(size.columns).collect();
        let text = if marked { format!("{MARKED}{text}{PLAIN}") } else { text };
        out += &format!("{text}{REST_OF_LINE}\r\n");
    };
    line(&title(seen), false);
    problems(seen).iter().for_each(|problem| line(problem, false));
    let all = rows(seen, state.sort, &state.filter);
    for (text, row) in all.iter().skip(state.first).take(page) {
        line(text, row.is_some() && *row == state.selected);
    }
    let last: String = state.line().chars().take(size.columns).collect();
    out + &last + REST_OF_SCREEN
}
