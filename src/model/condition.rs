//! The condition language of the GTM and of the ADC's traffic rules: its tree, and its three-valued evaluation over a
//! lookup of term values. The text form is parsed in `config::condition`; holds and measures live in `machine`.
//!
//! A condition is a list of groups. Inside a group every term must be true (AND); one true group is enough (OR). No
//! groups: never true. Logic is Kleene's, and only [`Truth::True`] fires anything.

use std::ops::Not;
use std::sync::Arc;
use std::time::Duration;

use super::id::{CheckId, CriterionId, DatacenterId, Name, ScenarioId, ServiceId, SwitchId, TimeWindowId, VserverId};

/// Kleene's three values. Unknown: a check before its first result, a peer that cannot be heard, too few samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Truth {
    False,
    #[default]
    Unknown,
    True,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Condition {
    pub groups: Vec<Group>,
}

/// Terms that must all be true. The name is the reason shown in journal, payload and alert; a group written as a plain
/// list is named by its terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    pub name: Name,
    /// True where the operator gave the name, false where it was made from the terms.
    pub named: bool,
    pub terms: Vec<Term>,
}

/// One predicate with its qualifiers: `api-a!{fails:1}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// The canonical text, as `config::render` prints it.
    pub text: Arc<str>,
    pub subject: Subject,
    /// The suffix `!`. Qualifiers apply to the predicate after it.
    pub negated: bool,
    pub measure: Option<Measure>,
    /// The qualifier `for`: how long the predicate (or the measure's result) must have held. Zero is a load error.
    pub hold: Option<Duration>,
}

/// What a term speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A health check is up.
    Check(CheckId),
    Vserver(VserverId, VserverFacet),
    Service(ServiceId, ServiceFacet),
    /// Another scenario is active. No cycles.
    Scenario(ScenarioId),
    /// A data-centre signal. `observer` names another site (`@SITE`), which tells over the peer link what it sees;
    /// unknown while it is not heard. `None` is this box.
    Datacenter {
        datacenter: DatacenterId,
        signal: Signal,
        observer: Option<Name>,
    },
    TimeWindow(TimeWindowId),
    Switch(SwitchId),
    /// A request criterion; in traffic rules only.
    Criterion(CriterionId),
}

/// `vs:NAME`, `vs:NAME.primary`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VserverFacet {
    /// A new client without persistence would be served, by its own UP services or by the chain where it would be used.
    Serves,
    /// Served by its own services.
    Primary,
    /// Administratively out or draining.
    Admin,
    /// Down by fault and not by an administrator.
    Fault,
    /// Share of weights UP, in percent, is at least this. 0..=100.
    HealthAtLeast(u8),
}

/// `svc:NAME`, `svc:NAME.serving`, `svc:NAME.fault`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceFacet {
    /// UP.
    Up,
    /// UP or TROFS.
    Serving,
    /// DOWN or TROFS_DOWN.
    Fault,
}

/// The generated checks of a data centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    Wan,
    Lan,
    /// `wan` or `lan`.
    Access,
    Internet,
    /// The switch `NAME.maintenance`.
    Maintenance,
}

/// A measure over the samples of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// At least this many failed samples in a row (after `!` only). 1..=1000.
    Fails(u32),
    /// At least this many passed samples in a row (without `!` only). 1..=1000.
    Passes(u32),
    /// The predicate, and fewer than `fewer_than` state changes of the check within `within`.
    Flaps { fewer_than: u32, within: Duration },
    /// The statistic over the window is below `below`; once true it stays true until it reaches `leave_at`.
    Latency { statistic: Statistic, below: Duration, over: Window, leave_at: Option<Duration> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statistic {
    Average,
    Last,
    P50,
    P95,
    P99,
}

/// Default 20 samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// 1..=1000; fewer samples than this are unknown.
    Samples(u32),
    /// The samples of the last duration; none is unknown. At most 1 h.
    Span(Duration),
}

// === impl Truth ===

impl Truth {
    pub fn and(self, other: Truth) -> Truth {
        self.min(other)
    }

    pub fn or(self, other: Truth) -> Truth {
        self.max(other)
    }

    pub fn is_true(self) -> bool {
        self == Truth::True
    }

    pub fn is_false(self) -> bool {
        self == Truth::False
    }

    /// `true`, `false` or `unknown`, as REST and the journal print it.
    pub fn word(self) -> &'static str {
        match self {
            Truth::False => "false",
            Truth::Unknown => "unknown",
            Truth::True => "true",
        }
    }

    pub fn parse(word: &str) -> Option<Truth> {
        [Truth::False, Truth::Unknown, Truth::True].into_iter().find(|t| t.word() == word)
    }
}

impl Not for Truth {
    type Output = Truth;
    fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }
}

impl From<bool> for Truth {
    fn from(b: bool) -> Truth {
        if b { Truth::True } else { Truth::False }
    }
}

// === impl Condition ===

impl Condition {
    /// The value of the whole, given the value of each term by `(group, term)` position.
    pub fn evaluate(&self, mut term: impl FnMut(usize, usize) -> Truth) -> Truth {
        (0..self.groups.len()).map(|g| self.groups[g].evaluate(|t| term(g, t))).fold(Truth::False, Truth::or)
    }

    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.groups.iter().flat_map(|g| g.terms.iter())
    }
}

// === impl Group ===

impl Group {
    /// AND over the terms. A group is never empty (a load error).
    pub fn evaluate(&self, term: impl FnMut(usize) -> Truth) -> Truth {
        (0..self.terms.len()).map(term).fold(Truth::True, Truth::and)
    }
}

// === impl Signal ===

impl Signal {
    pub const ALL: [Signal; 5] = [Signal::Wan, Signal::Lan, Signal::Access, Signal::Internet, Signal::Maintenance];

    pub fn word(self) -> &'static str {
        match self {
            Signal::Wan => "wan",
            Signal::Lan => "lan",
            Signal::Access => "access",
            Signal::Internet => "internet",
            Signal::Maintenance => "maintenance",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_true_in_every_term_makes_a_group_true_and_unknown_is_not_false() {
        use Truth::{False, True, Unknown};
        let all = [False, Unknown, True];
        for a in all {
            for b in all {
                assert_eq!(a.and(b), !((!a).or(!b)), "De Morgan holds for {a:?} and {b:?}");
            }
        }
        assert_eq!(True.and(Unknown), Unknown);
        assert_eq!(False.and(Unknown), False);
        assert_eq!(True.or(Unknown), True);
        assert_eq!(False.or(Unknown), Unknown);
    }

    #[test]
    fn a_condition_without_groups_is_never_true() {
        assert_eq!(Condition::default().evaluate(|_, _| Truth::True), Truth::False);
    }
}
