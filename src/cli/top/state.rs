//! What a person looks at and presses: where the selection is, what is asked, and the act that follows. No clock, no
//! terminal: a key and the lines on the screen in, an act out.

use std::time::Duration;

use super::keys::Key;

/// What a line is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Vserver(String),
    Service(String),
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// What is not at rest, then the busiest.
    #[default]
    State,
    Name,
    Rate,
}

/// What is asked of the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Asked {
    #[default]
    Nothing,
    /// Seconds of a drain; empty: at once, or without a limit where it is graceful.
    Delay {
        row: Row,
        graceful: bool,
        text: String,
    },
    Filter(String),
    /// Whether a vserver is disabled: it has no delay.
    Sure(Row),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Quit,
    Disable { row: Row, delay: Option<String>, graceful: bool },
    Enable(Row),
}

/// All that a screen needs beside what was seen.
#[derive(Default)]
pub(super) struct State {
    pub selected: Option<Row>,
    /// The first line of the tables that is shown.
    pub first: usize,
    pub asked: Asked,
    pub filter: String,
    pub sort: Sort,
    /// What became of the last act.
    pub message: String,
    /// For how long the appliance has said nothing, where it is asked.
    pub silent: Option<Duration>,
}

/// Digits of a delay.
const DELAY_MOST: usize = 7;
const FILTER_MOST: usize = 64;

// === impl Row ===

impl Row {
    pub fn name(&self) -> &str {
        match self {
            Row::Vserver(name) | Row::Service(name) => name,
        }
    }

    /// Its collection below `/api/v1`.
    pub fn collection(&self) -> &'static str {
        match self {
            Row::Vserver(_) => "vservers",
            Row::Service(_) => "services",
        }
    }
}

// === impl State ===

impl State {
    /// `rows`: what the lines are about, `page`: how many are shown at once.
    pub fn press(&mut self, key: Key, rows: &[Option<Row>], page: usize) -> Option<Act> {
        self.message.clear();
        match std::mem::take(&mut self.asked) {
            Asked::Nothing => return self.look(key, rows, page),
            Asked::Delay { row, graceful, mut text } => match key {
                Key::Escape => {}
                Key::Enter => {
                    let delay = (!text.is_empty()).then_some(text);
                    return Some(Act::Disable { row, delay, graceful });
                }
                key => {
                    typed(&mut text, key, DELAY_MOST, |c| c.is_ascii_digit());
                    self.asked = Asked::Delay { row, graceful, text };
                }
            },
            Asked::Filter(mut text) => match key {
                Key::Escape => self.filter.clear(),
                Key::Enter => {}
                key => {
                    typed(&mut text, key, FILTER_MOST, |_| true);
                    self.filter.clone_from(&text);
                    self.asked = Asked::Filter(text);
                }
            },
            Asked::Sure(row) => {
                if matches!(key, Key::Char('y' | 'Y')) {
                    return Some(Act::Disable { row, delay: None, graceful: false });
                }
            }
        }
        None
    }

    fn look(&mut self, key: Key, rows: &[Option<Row>], page: usize) -> Option<Act> {
        match key {
            Key::Char('q' | 'Q') => return Some(Act::Quit),
            Key::Up | Key::Char('k') => self.step(rows, -1),
            Key::Down | Key::Char('j') => self.step(rows, 1),
            Key::PageUp => self.step(rows, -page.cast_signed()),
            Key::PageDown | Key::Char(' ') => self.step(rows, page.cast_signed()),
            Key::Home => self.step(rows, isize::MIN),
            Key::End => self.step(rows, isize::MAX),
            Key::Char('d' | 'g') => match self.row(rows) {
                Some(row @ Row::Vserver(_)) => self.asked = Asked::Sure(row),
                Some(row) => {
                    self.asked = Asked::Delay { row, graceful: key == Key::Char('g'), text: String::new() };
                }
                None => {}
            },
            Key::Char('e') => return self.row(rows).map(Act::Enable),
            Key::Char('/') => self.asked = Asked::Filter(self.filter.clone()),
            Key::Char('s') => {
                self.sort = match self.sort {
                    Sort::State => Sort::Name,
                    Sort::Name => Sort::Rate,
                    Sort::Rate => Sort::State,
                };
            }
            Key::Escape => self.filter.clear(),
            _ => {}
        }
        None
    }

    /// The selected row, while it is there.
    fn row(&self, rows: &[Option<Row>]) -> Option<Row> {
        self.selected.clone().filter(|row| rows.iter().flatten().any(|one| one == row))
    }

    /// Goes on by so many rows that something can be done with.
    fn step(&mut self, rows: &[Option<Row>], by: isize) {
        let rows: Vec<&Row> = rows.iter().flatten().collect();
        let Some(last) = rows.len().checked_sub(1) else { return };
        let at = rows.iter().position(|row| Some(*row) == self.selected.as_ref());
        let next = match at {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if by > 1 => last,
            None => 0,
        };
        self.selected = Some(rows[next].clone());
    }

    /// Selects the first row where nothing is, and scrolls so that what is selected is among `page` lines.
    pub fn settle(&mut self, rows: &[Option<Row>], page: usize) {
        if self.row(rows).is_none() {
            self.selected = rows.iter().flatten().next().cloned();
        }
        let at = rows.iter().position(|row| row.is_some() && *row == self.selected).unwrap_or(0);
        // The first row is shown with what stands above it.
        let top = if rows.iter().take(at).all(Option::is_none) { 0 } else { at };
        if top < self.first {
            self.first = top;
        }
        if at >= self.first + page {
            self.first = at + 1 - page;
        }
        self.first = self.first.min(rows.len().saturating_sub(page));
    }

    /// The last line: what is asked, what came of it, or which keys there are.
    pub fn line(&self) -> String {
        match &self.asked {
            Asked::Delay { row, graceful: false, text } => {
                format!("drain {}: seconds (none: at once), Enter or Esc: {text}", row.name())
            }
            Asked::Delay { row, graceful: true, text } => {
                format!("drain {} gracefully: at most seconds (none: no limit), Enter or Esc: {text}", row.name())
            }
            Asked::Filter(text) => format!("names with: {text}"),
            Asked::Sure(row) => format!("disable vserver {} at once? y or n", row.name()),
            Asked::Nothing if !self.message.is_empty() => self.message.clone(),
            Asked::Nothing => {
                let sort = match self.sort {
                    Sort::State => "state",
                    Sort::Name => "name",
                    Sort::Rate => "rate",
                };
                let filter = if self.filter.is_empty() { String::new() } else { format!(" ({})", self.filter) };
                format!("q quit  up/down  d drain  g graceful  e enable  / filter{filter}  s sort ({sort})")
            }
        }
    }
}

fn typed(text: &mut String, key: Key, most: usize, fits: impl Fn(char) -> bool) {
    match key {
        Key::Backspace => drop(text.pop()),
        Key::Char(c) if fits(c) && text.len() + c.len_utf8() <= most => text.push(c),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::keys;
    use super::*;

    fn rows(count: usize) -> Vec<Option<Row>> {
        let services = (0..count).map(|at| Some(Row::Service(format!("s{at}"))));
        [None, None, Some(Row::Vserver("web".into())), None, None].into_iter().chain(services).collect()
    }

    /// What the last of the keys led to.
    fn press(state: &mut State, rows: &[Option<Row>], text: &str) -> Option<Act> {
        keys(text.as_bytes()).into_iter().map(|key| state.press(key, rows, 5)).last().flatten()
    }

    #[test]
    fn a_service_is_drained_with_the_seconds_that_were_asked_for() {
        let (rows, mut state) = (rows(3), State::default());
        state.settle(&rows, 5);
        assert_eq!(state.selected, Some(Row::Vserver("web".into())));
        press(&mut state, &rows, "jjd");
        assert!(state.line().starts_with("drain s1: seconds"), "{}", state.line());
        let row = Row::Service("s1".into());
        let act = press(&mut state, &rows, "3x0q5\x7f\r");
        assert_eq!(act, Some(Act::Disable { row: row.clone(), delay: Some("30".into()), graceful: false }));
        assert_eq!(state.asked, Asked::Nothing);
        let act = press(&mut state, &rows, "g\r");
        assert_eq!(act, Some(Act::Disable { row: row.clone(), delay: None, graceful: true }));
        assert_eq!(press(&mut state, &rows, "e"), Some(Act::Enable(row)));
        press(&mut state, &rows, "d5");
        assert_eq!(press(&mut state, &rows, "\x1b"), None, "an escape takes it back");
        assert_eq!(press(&mut state, &rows, "q"), Some(Act::Quit));
    }

    #[test]
    fn a_vserver_has_no_delay_and_is_asked_about() {
        let (rows, mut state) = (rows(1), State::default());
        state.settle(&rows, 5);
        press(&mut state, &rows, "d");
        assert_eq!(state.line(), "disable vserver web at once? y or n");
        assert_eq!(press(&mut state, &rows, "n"), None);
        let act = press(&mut state, &rows, "dy");
        assert_eq!(act, Some(Act::Disable { row: Row::Vserver("web".into()), delay: None, graceful: false }));
    }

    #[test]
    fn every_row_can_be_reached_and_is_scrolled_to() {
        let (rows, mut state) = (rows(40), State::default());
        state.settle(&rows, 10);
        assert_eq!(state.first, 0);
        for _ in 0..40 {
            state.press(Key::Down, &rows, 10);
            state.settle(&rows, 10);
        }
        assert_eq!((state.selected.clone(), state.first), (Some(Row::Service("s39".into())), 35));
        state.press(Key::PageUp, &rows, 10);
        state.settle(&rows, 10);
        assert_eq!((state.selected.clone(), state.first), (Some(Row::Service("s29".into())), 34));
        state.press(Key::Home, &rows, 10);
        state.settle(&rows, 10);
        assert_eq!((state.selected.clone(), state.first), (Some(Row::Vserver("web".into())), 0));
        state.press(Key::End, &rows, 10);
        state.settle(&rows, 10);
        assert_eq!(state.selected, Some(Row::Service("s39".into())));
    }

    #[test]
    fn what_is_gone_is_no_longer_selected_and_nothing_can_be_done_to_it() {
        let (all, mut state) = (rows(3), State::default());
        state.settle(&all, 5);
        press(&mut state, &all, "jjj");
        let fewer = rows(1);
        assert_eq!(press(&mut state, &fewer, "e"), None);
        state.settle(&fewer, 5);
        assert_eq!(state.selected, Some(Row::Vserver("web".into())));
        state.settle(&[], 5);
        assert_eq!((press(&mut state, &[], "dje"), state.first), (None, 0));
    }

    #[test]
    fn names_are_filtered_and_sorted_by_key() {
        let (rows, mut state) = (rows(1), State::default());
        press(&mut state, &rows, "/wq\x7f");
        assert_eq!((&state.filter[..], &state.line()[..]), ("w", "names with: w"));
        press(&mut state, &rows, "\rs");
        assert_eq!((&state.filter[..], state.sort), ("w", Sort::Name));
        press(&mut state, &rows, "\x1b");
        assert_eq!(state.filter, "");
    }
}
