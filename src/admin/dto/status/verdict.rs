//! The sentence that the dashboard, `bascule top` and a pager begin with: where traffic goes, why, and who has the next
//! move. What is seen ([`Sight`]) is gathered from the world; what is said of it is decided here, pure.

mod gather;
#[cfg(test)]
mod tests;

use super::ProblemDto;
use crate::control::World;
use crate::model::time::Wall;

/// Names that a sentence lists; of more it gives the number.
const LISTED: usize = 3;

dto! {
    /// Where traffic goes and who has the next move, in words.
    pub struct VerdictDto {
        /// One sentence or two.
        pub text: String,
        /// Why, and what is odd; may be empty.
        pub because: String,
        /// `error` (somebody is not served), `warning`, `info` or `ok`.
        pub severity: String,
        /// Null where nothing is waited for.
        pub next: Option<NextMoveDto>,
    }

    /// Who moves next.
    pub struct NextMoveDto {
        /// When, at the earliest; null: nobody can tell.
        pub at: Option<String>,
        /// `person` or `appliance`.
        pub who: String,
    }
}

/// What the verdict is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    /// Before the first round of probes is over: checks that are known, and all.
    pub starting: Option<(usize, usize)>,
    /// Names that answer nothing.
    pub nobody: Vec<String>,
    /// Vservers that refuse new clients although nobody took them out of service.
    pub refusing: Vec<String>,
    /// No site of a pair should answer, and one does.
    pub both_out: bool,
    /// Names whose records are all left out and are answered as they are.
    pub as_they_are: Vec<String>,
    pub moved: Vec<Moved>,
    pub waiting: Vec<Waiting>,
    /// Scenarios whose modes a person has set.
    pub held: Vec<String>,
    /// What is wrong, worst first: `service web1: down: connection refused`.
    pub wrong: Vec<String>,
    /// Forces that hide what a probe says, in sentences.
    pub hidden: Vec<String>,
    /// Steered names, and vservers.
    pub names: usize,
    pub vservers: usize,
}

/// Names that another site, or another set of records, answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// `dc-b answers for dc-a`
    pub what: String,
    /// Why it moved, in sentences.
    pub why: String,
    pub back: Back,
}

/// How it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Back {
    /// A person returns it; it can be ready at this time at the earliest.
    Person { ready: bool, at: Option<Wall> },
    /// By itself; `None`: nobody can tell when.
    Itself { at: Option<Wall> },
    /// With the end of a drill.
    Drill { at: Wall },
}

/// A commit that is wanted and not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// It is a return.
    pub returns: bool,
    /// `guard log-shipping refuses`
    pub what: String,
    pub why: String,
    /// A person has to approve it, at the latest then.
    pub approval: Option<Wall>,
}

// === impl VerdictDto ===

impl VerdictDto {
    pub(super) fn of(world: &World<'_>, problems: &[ProblemDto]) -> VerdictDto {
        Sight::of(world, problems).verdict()
    }
}

// === impl Sight ===

impl Sight {
    /// The first pattern that fits.
    pub fn verdict(&self) -> VerdictDto {
        if let Some((known, all)) = self.starting {
            let text = format!("Waiting for the first probe round, {known} of {all} checks known.");
            return said(text, String::new(), "info", Some((None, "appliance")));
        }
        if !self.nobody.is_empty() {
            let verb = if self.nobody.len() == 1 { "answers" } else { "answer" };
            let text = format!("{} {verb} nobody.", listed(&self.nobody, "and"));
            return said(text, self.odd("No record is left.".into()), "error", self.next());
        }
        if self.both_out {
            let text = "Both sites are out; answers are given as they are.".into();
            return said(text, self.odd("Nothing else is left to answer.".into()), "error", self.next());
        }
        if !self.as_they_are.is_empty() {
            let names = listed(&self.as_they_are, "and");
            let of = if self.as_they_are.len() == 1 { "its" } else { "their" };
            let text = format!("{names}: no record is left; {of} answers are given as they are.");
            return said(text, self.odd(String::new()), "error", self.next());
        }
        if !self.refusing.is_empty() {
            let verb = if self.refusing.len() == 1 { "takes" } else { "take" };
            let text = format!("{} {verb} no new clients.", listed(&self.refusing, "and"));
            return said(text, self.odd(String::new()), "error", self.next());
        }
        if let Some(first) = self.moved.first() {
            let others: Vec<String> = self.moved[1..].iter().map(|moved| format!("{}.", moved.what)).collect();
            let text = format!("{}. {}", first.what, first.back.sentence());
            let why = std::iter::once(first.why.clone()).chain(others.into_iter().take(LISTED));
            let why: Vec<String> = why.filter(|sentence| !sentence.is_empty()).collect();
            return said(text, self.odd(why.join(" ")), "warning", self.next());
        }
        if let Some(first) = self.waiting.first() {
            let what = if first.returns { "A return" } else { "A failover" };
            let text = format!("{what} is waiting: {}.", first.what);
            return said(text, self.odd(first.why.clone()), "warning", self.next());
        }
        if !self.held.is_empty() {
            let verb = if self.held.len() == 1 { "is" } else { "are" };
            let text = format!("{} {verb} held by people.", listed(&self.held, "and"));
            return said(text, self.odd(self.wrongs()), "info", Some((None, "person")));
        }
        let served = match (self.names, self.vservers) {
            (0, 0) => "nothing is configured to be served",
            (0, _) => "every vserver takes new clients",
            _ => "every name goes where it should",
        };
        match self.wrong.len() {
            0 => said(format!("{}.", capital(served)), self.odd(String::new()), "ok", None),
            1 => said(format!("1 thing is wrong; {served}."), self.odd(self.wrongs()), "warning", None),
            count => said(format!("{count} things are wrong; {served}."), self.odd(self.wrongs()), "warning", None),
        }
    }

    /// Who moves next, of what has moved and what waits.
    fn next(&self) -> Option<(Option<Wall>, &'static str)> {
        if let Some(first) = self.moved.first() {
            return Some(match first.back {
                Back::Person { at, .. } => (at, "person"),
                Back::Itself { at } => (at, "appliance"),
                Back::Drill { at } => (Some(at), "appliance"),
            });
        }
        let first = self.waiting.first()?;
        Some(first.approval.map_or((None, "appliance"), |deadline| (Some(deadline), "person")))
    }

    fn wrongs(&self) -> String {
        let shown: Vec<String> = self.wrong.iter().take(LISTED).map(|what| format!("{}.", capital(what))).collect();
        shown.join(" ")
    }

    /// What is odd stands behind the reason: a force that hides a failing probe is always named.
    fn odd(&self, because: String) -> String {
        let mut sentences: Vec<String> = Some(because).filter(|because| !because.is_empty()).into_iter().collect();
        sentences.extend(self.hidden.iter().take(LISTED).cloned());
        match self.hidden.len().saturating_sub(LISTED) {
            0 => {}
            more => sentences.push(format!("{more} more forces hide what probes say.")),
        }
        sentences.join(" ")
    }
}

// === impl Back ===

impl Back {
    fn sentence(self) -> String {
        match self {
            Back::Person { ready: true, .. } => "It is ready to return; a person returns it.".into(),
            Back::Person { .. } => "The way back is up to you.".into(),
            Back::Itself { at: Some(at) } => format!("It returns by itself at {} if checks hold.", clock(at)),
            Back::Itself { at: None } => "It returns by itself once its checks pass.".into(),
            Back::Drill { at } => format!("A drill: it returns at {}.", clock(at)),
        }
    }
}

fn said(text: String, because: String, severity: &str, next: Option<(Option<Wall>, &str)>) -> VerdictDto {
    let next = next.map(|(at, who)| NextMoveDto { at: at.map(|at| at.to_string()), who: who.into() });
    VerdictDto { text, because, severity: severity.into(), next }
}

/// The time of day, UTC: `03:34:50`.
pub(in crate::admin::dto) fn clock(at: Wall) -> String {
    at.to_string().get(11..19).unwrap_or_default().to_owned()
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(in crate::admin::dto) fn listed(names: &[String], word: &str) -> String {
    let shown = names.len().min(LISTED);
    let more = names.len() - shown;
    let (last, first) = match (names[..shown].split_last(), more) {
        (None, _) => return String::new(),
        (Some((last, first)), 0) => (last.clone(), first),
        (Some(_), more) => (format!("{more} more"), &names[..shown]),
    };
    if first.is_empty() { last } else { format!("{} {word} {last}", first.join(", ")) }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
