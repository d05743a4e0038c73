//! Policies in NetScaler's words: what they say is kept to be told and printed, and what follows from them are rules.

use std::collections::{BTreeMap, BTreeSet};

use super::id::Name;

/// Everything that policies say, and what is made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// Sorted by kind and name.
    pub objects: Vec<PolicyObject>,
    /// Names of the criteria that are made of expressions; no configuration prints them.
    pub criteria: BTreeSet<Name>,
    /// Names of the rules that are made of bindings, with the policy of each; no configuration prints them.
    pub rules: BTreeMap<Name, (PolicyBank, Name)>,
    /// Those that hold for every vserver of type HTTP and SSL with an address.
    pub global: Vec<BoundPolicy>,
    /// Rules that are made of them: asked of a request by the vserver that was addressed, and by none that it is handed to.
    pub global_rules: BTreeSet<Name>,
}

/// A kind of object that policies need, in the order in which they name each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    PatternSet,
    Expression,
    CsAction,
    CsPolicy,
    ResponderAction,
    ResponderPolicy,
    RewriteAction,
    RewritePolicy,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyObject {
    pub kind: PolicyKind,
    pub name: Name,
    /// Key of the configuration and its value, in the order of the schema.
    pub says: Vec<(&'static str, Said)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Text(Name),
    Number(i64),
    List(Vec<Name>),
    /// Names with numbers, in order.
    Numbered(Vec<(Name, i64)>),
}

/// Which policies can be bound to a vserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyBank {
    Responder,
    Rewrite,
    Cs,
}

/// A policy at a vserver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundPolicy {
    pub bank: PolicyBank,
    pub policy: Name,
    /// Lower first. 1..=2147483647; `None`: behind all that have one.
    pub priority: Option<u32>,
    /// Those behind it are asked although it acted.
    pub goes_on: bool,
    /// Of rewriting: it looks at the answer.
    pub of_answer: bool,
    /// Of content switching: in place of what the policy's action says.
    pub target: Option<Name>,
    /// Of those that hold for every vserver: asked before the vserver's own, not behind them.
    pub overrides: bool,
}

// === impl Policies ===

impl Policies {
    /// The bank of a rule; `None`: it comes from no policy.
    pub fn bank_of(&self, rule: &str) -> Option<PolicyBank> {
        self.rules.get(rule).map(|(bank, _)| *bank)
    }
}

// === impl PolicyKind ===

impl PolicyKind {
    pub const ALL: [PolicyKind; 8] = [
        PolicyKind::PatternSet,
        PolicyKind::Expression,
        PolicyKind::CsAction,
        PolicyKind::CsPolicy,
        PolicyKind::ResponderAction,
        PolicyKind::ResponderPolicy,
        PolicyKind::RewriteAction,
        PolicyKind::RewritePolicy,
    ];

    /// The table of the configuration: `cs_policy`.
    pub fn section(self) -> &'static str {
        match self {
            PolicyKind::PatternSet => "policy_patset",
            PolicyKind::Expression => "policy_expression",
            PolicyKind::CsAction => "cs_action",
            PolicyKind::CsPolicy => "cs_policy",
            PolicyKind::ResponderAction => "responder_action",
            PolicyKind::ResponderPolicy => "responder_policy",
            PolicyKind::RewriteAction => "rewrite_action",
            PolicyKind::RewritePolicy => "rewrite_policy",
        }
    }
}

// === impl PolicyBank ===

impl PolicyBank {
    /// In the order in which they are asked of a request.
    pub const ALL: [PolicyBank; 3] = [PolicyBank::Responder, PolicyBank::Rewrite, PolicyBank::Cs];

    /// The key of a vserver under which they are bound: `responder_policies`.
    pub fn key(self) -> &'static str {
        match self {
            PolicyBank::Responder => "responder_policies",
            PolicyBank::Rewrite => "rewrite_policies",
            PolicyBank::Cs => "cs_policies",
        }
    }

    /// The table of the policies.
    pub fn section(self) -> &'static str {
        match self {
            PolicyBank::Responder => PolicyKind::ResponderPolicy.section(),
            PolicyBank::Rewrite => PolicyKind::RewritePolicy.section(),
            PolicyBank::Cs => PolicyKind::CsPolicy.section(),
        }
    }

    /// The table of their actions.
    pub fn actions(self) -> &'static str {
        match self {
            PolicyBank::Responder => PolicyKind::ResponderAction.section(),
            PolicyBank::Rewrite => PolicyKind::RewriteAction.section(),
            PolicyBank::Cs => PolicyKind::CsAction.section(),
        }
    }
}
