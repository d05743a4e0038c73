//! Traffic rules prepared once for each model: the rules of each vserver in the order in which they are asked, and
//! compiled regular expressions, so that a request compiles nothing.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};

use crate::model::Model;
use crate::model::id::{CriterionId, RuleId, VserverId};
use crate::model::rule::{Action, CriterionTest, Edit, Phase, TextTest};

/// Bytes that one compiled expression may take.
const REGEX_SIZE_MAX_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct Routing {
    /// By `VserverId`: its rules by priority, then name.
    rules: Vec<Vec<RuleId>>,
    /// The same for those of the response phase.
    answer_rules: Vec<Vec<RuleId>>,
    /// Patterns of edits of the path, by rule and place among its edits.
    paths: HashMap<(RuleId, usize), Regex>,
    /// By `CriterionId`.
    regexes: Vec<Option<Regex>>,
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
        let regexes = model.criteria.iter().map(|c| text_test(&c.test).and_then(compile)).collect();
        Routing { rules, answer_rules, paths, regexes }
    }

    /// Of the request phase.
    pub fn rules_of(&self, vserver: VserverId) -> &[RuleId] {
        self.rules.get(vserver.index()).map_or(&[], Vec::as_slice)
    }

    /// Of the response phase.
    pub fn answer_rules_of(&self, vserver: VserverId) -> &[RuleId] {
        self.answer_rules.get(vserver.index()).map_or(&[], Vec::as_slice)
    }

    /// The pattern of the `nth` edit of a rule, where that is one of the path.
    pub fn path_of(&self, rule: RuleId, nth: usize) -> Option<&Regex> {
        self.paths.get(&(rule, nth))
    }

    /// `None` where the criterion has no regular expression (or one that does not compile, which the configuration
    /// refuses).
    pub fn regex_of(&self, criterion: CriterionId) -> Option<&Regex> {
        self.regexes.get(criterion.index())?.as_ref()
    }
}

fn text_test(test: &CriterionTest) -> Option<&TextTest> {
    match test {
        CriterionTest::Path(test) | CriterionTest::Host(test) | CriterionTest::Sni(test) => Some(test),
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
