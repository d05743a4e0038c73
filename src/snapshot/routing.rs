//! Traffic rules prepared once for each model: the rules of each vserver in the order in which they are asked, and
//! compiled regular expressions, so that a request compiles nothing.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};

use crate::model::Model;
use crate::model::id::{CriterionId, RuleId, VserverId};
use crate::model::rule::{Action, CriterionTest, Edit, Phase, Route, TextTest};
use crate::model::vserver::Role;

/// Bytes that one compiled expression may take.
const REGEX_SIZE_MAX_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct Routing {
    /// By `VserverId`: its rules by priority, then name.
    rules: Vec<Vec<RuleId>>,
    /// The same for those of the response phase.
    answer_rules: Vec<Vec<RuleId>>,
    /// By `RuleId`: how many behind it in its list are left out once it acted.
    left_out: Vec<usize>,
    /// By `RuleId`.
    of_entry: Vec<bool>,
    /// Patterns of edits of the path, by rule and place among its edits.
    paths: HashMap<(RuleId, usize), Regex>,
    /// By `CriterionId`.
    regexes: Vec<Option<Regex>>,
    /// By `VserverId`.
    reach: Vec<Reach>,
}

/// What a request may meet that is addressed to a vserver, there or at one that it is handed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// A service that is spoken to in HTTP/2.
    pub http2: bool,
    /// A rule, content switching, or a field that every answer gets.
    pub rules: bool,
    /// A rule that mirrors.
    pub mirrors: bool,
}

// === impl Routing ===

impl Routing {
    pub fn build(model: &Model) -> Routing {
        let mut rules = vec![Vec::new(); model.vservers.len()];
        let mut answer_rules = rules.clone();
        let mut paths = HashMap::new();
        for (i, rule) in model.rules.iter().enumerate() {
            let id = RuleId::from_index(i);
            match rule.phase {
                Phase::Request => rules[rule.vserver.index()].push(id),
                Phase::Response => answer_rules[rule.vserver.index()].push(id),
            }
            let Action::Edit(edits) = &rule.action else { continue };
            for (nth, edit) in edits.iter().enumerate() {
                if let Edit::Path { pattern, .. } = edit
                    && let Some(regex) = build_regex(pattern)
                {
                    paths.insert((id, nth), regex);
                }
            }
        }
        for of_vserver in rules.iter_mut().chain(&mut answer_rules) {
            of_vserver.sort_by_key(|id: &RuleId| (model.rules[id.index()].priority, id.index()));
        }
        let left_out = left_out(model, rules.iter().chain(&answer_rules));
        let regexes = model.criteria.iter().map(|c| text_test(&c.test).and_then(compile)).collect();
        let of_entry = model.rules.iter().map(|rule| model.policies.global_rules.contains(&rule.name)).collect();
        Routing { rules, answer_rules, left_out, of_entry, paths, regexes, reach: reach(model) }
    }

    /// Of the request phase.
    pub fn rules_of(&self, vserver: VserverId) -> &[RuleId] {
        self.rules.get(vserver.index()).map_or(&[], Vec::as_slice)
    }

    /// Of the response phase.
    pub fn answer_rules_of(&self, vserver: VserverId) -> &[RuleId] {
        self.answer_rules.get(vserver.index()).map_or(&[], Vec::as_slice)
    }

    /// How many rules behind this one are not asked once it acted, as it stops the rest of its bank.
    pub fn left_out(&self, rule: RuleId) -> usize {
        self.left_out.get(rule.index()).copied().unwrap_or(0)
    }

    /// Whether only the vserver that was addressed asks it, and none that a request is handed to.
    pub fn is_of_entry(&self, rule: RuleId) -> bool {
        self.of_entry.get(rule.index()).copied().unwrap_or(false)
    }

    /// The pattern of the `nth` edit of a rule, where that is one of the path.
    pub fn path_of(&self, rule: RuleId, nth: usize) -> Option<&Regex> {
        self.paths.get(&(rule, nth))
    }

    /// What a request of this vserver may meet.
    pub fn reach(&self, vserver: VserverId) -> Reach {
        self.reach.get(vserver.index()).copied().unwrap_or_default()
    }

    /// `None` where the criterion has no regular expression (or one that does not compile, which the configuration
    /// refuses).
    pub fn regex_of(&self, criterion: CriterionId) -> Option<&Regex> {
        self.regexes.get(criterion.index())?.as_ref()
    }
}

/// Rules of a bank stand side by side: those of policies are numbered so.
fn left_out<'l>(model: &Model, lists: impl Iterator<Item = &'l Vec<RuleId>>) -> Vec<usize> {
    let banks: Vec<_> = model.rules.iter().map(|rule| model.policies.bank_of(&rule.name)).collect();
    let mut all = vec![0; model.rules.len()];
    for list in lists {
        let mut behind = 0;
        for (place, id) in list.iter().enumerate().rev() {
            let goes_on = list.get(place + 1).is_some_and(|next| banks[next.index()] == banks[id.index()]);
            behind = if goes_on { behind + 1 } else { 0 };
            if model.rules[id.index()].stop {
                all[id.index()] = behind;
            }
        }
    }
    all
}

/// Of its own members and those of its chain, then of whatever it hands to, step by step.
fn reach(model: &Model) -> Vec<Reach> {
    let mut all: Vec<Reach> = (0..model.vservers.len()).map(|i| own(model, VserverId::from_index(i))).collect();
    let mut next: Vec<(usize, usize)> = Vec::new();
    for (i, vserver) in model.vservers.iter().enumerate() {
        if let Role::Cs { targets, .. } = &vserver.role {
            next.extend(targets.iter().map(|target| (i, target.index())));
        }
    }
    for rule in &model.rules {
        let at = rule.vserver.index();
        all[at].rules = true;
        match rule.action {
            Action::Mirror { .. } => all[at].mirrors = true,
            Action::Route(Route::Vserver(to)) => next.push((at, to.index())),
            _ => {}
        }
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &(from, to) in &next {
            let (before, there) = (all[from], all[to]);
            all[from].http2 |= there.http2;
            all[from].mirrors |= there.mirrors;
            changed |= all[from] != before;
        }
    }
    all
}

fn own(model: &Model, id: VserverId) -> Reach {
    let mut chain = std::iter::once(id).chain(model.backup_chain(id));
    let http2 = chain.any(|id| model.vserver(id).members.iter().any(|m| model.service(m.service).settings.http2));
    let vserver = model.vserver(id);
    let says_hsts = vserver.tls.as_ref().is_some_and(|tls| tls.hsts.is_some());
    let rules = says_hsts || matches!(vserver.role, Role::Cs { .. });
    Reach { http2, rules, mirrors: false }
}

fn text_test(test: &CriterionTest) -> Option<&TextTest> {
    match test {
        CriterionTest::Path(test)
        | CriterionTest::Url(test)
        | CriterionTest::QueryString(test)
        | CriterionTest::Host(test)
        | CriterionTest::Sni(test) => Some(test),
        CriterionTest::Header { test, .. }
        | CriterionTest::Cookie { test, .. }
        | CriterionTest::Query { test, .. }
        | CriterionTest::ResponseHeader { test, .. } => test.as_ref(),
        CriterionTest::Method(_)
        | CriterionTest::Client(_)
        | CriterionTest::Port(_)
        | CriterionTest::Tls
        | CriterionTest::Status(_) => None,
    }
}

fn compile(test: &TextTest) -> Option<Regex> {
    match test {
        TextTest::Regex(text) => build_regex(text),
        TextTest::Equals(_)
        | TextTest::StartsWith(_)
        | TextTest::EndsWith(_)
        | TextTest::Contains(_)
        | TextTest::OneOf(_) => None,
    }
}

fn build_regex(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).size_limit(REGEX_SIZE_MAX_BYTES).dfa_size_limit(REGEX_SIZE_MAX_BYTES).build().ok()
}
