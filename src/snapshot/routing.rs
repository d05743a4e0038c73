//! Traffic rules prepared once for each model: the rules of each vserver in the order in which they are asked, and
//! compiled regular expressions, so that a request compiles nothing.

use regex::{Regex, RegexBuilder};

use crate::model::Model;
use crate::model::id::{CriterionId, RuleId, VserverId};
use crate::model::rule::{CriterionTest, TextTest};

/// Bytes that one compiled expression may take.
const REGEX_SIZE_MAX_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct Routing {
    /// By `VserverId`: its rules by priority, then name.
    rules: Vec<Vec<RuleId>>,
    /// By `CriterionId`.
    regexes: Vec<Option<Regex>>,
}

// === impl Routing ===

impl Routing {
    pub fn build(model: &Model) -> Routing {
        let mut rules = vec![Vec::new(); model.vservers.len()];
        for (i, rule) in model.rules.iter().enumerate() {
            rules[rule.vserver.index()].push(RuleId::from_index(i));
        }
        for of_vserver in &mut rules {
            of_vserver.sort_by_key(|id: &RuleId| (model.rules[id.index()].priority, id.index()));
        }
        let regexes = model.criteria.iter().map(|c| text_test(&c.test).and_then(compile)).collect();
        Routing { rules, regexes }
    }

    pub fn rules_of(&self, vserver: VserverId) -> &[RuleId] {
        self.rules.get(vserver.index()).map_or(&[], Vec::as_slice)
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
        TextTest::Regex(text) => {
            RegexBuilder::new(text).size_limit(REGEX_SIZE_MAX_BYTES).dfa_size_limit(REGEX_SIZE_MAX_BYTES).build().ok()
        }
        TextTest::Equals(_)
        | TextTest::StartsWith(_)
        | TextTest::EndsWith(_)
        | TextTest::Contains(_)
        | TextTest::OneOf(_) => None,
    }
}
