//! `show` of policies, of their actions and of what they name; `stat` of policies.

use super::views::repeated;
use super::{Arguments, Command, Request};

macro_rules! shown {
    ($name:ident, $group:literal, $object:literal, $nitro:literal) => {
        pub(super) const $name: Command = Command {
            words: &["show", $group, $object],
            least: 0,
            most: 1,
            options: &[],
            usage: concat!("show ", $group, " ", $object, " [<name>]"),
            names: None,
            build: |arguments: &Arguments| {
                Ok(Request::Policies { nitro: $nitro, name: arguments.positional(0).map(str::to_owned) })
            },
        };
    };
}

shown!(CS_ACTION, "cs", "action", "csaction");
shown!(CS_POLICY, "cs", "policy", "cspolicy");
shown!(RESPONDER_ACTION, "responder", "action", "responderaction");
shown!(RESPONDER_POLICY, "responder", "policy", "responderpolicy");
shown!(REWRITE_ACTION, "rewrite", "action", "rewriteaction");
shown!(REWRITE_POLICY, "rewrite", "policy", "rewritepolicy");
shown!(PATTERN_SET, "policy", "patset", "policypatset");
shown!(EXPRESSION, "policy", "expression", "policyexpression");

macro_rules! counted {
    ($name:ident, $group:literal, $nitro:literal) => {
        pub(super) const $name: Command = Command {
            words: &["stat", $group, "policy"],
            least: 0,
            most: 1,
            options: &["detail", "fullValues", "ntimes", "interval"],
            usage: concat!("stat ", $group, " policy [<name>] [-detail] [-ntimes <n>]"),
            names: None,
            build: |arguments: &Arguments| {
                // Values are never shortened.
                let _ = arguments.with_or_without_value("fullValues");
                let detail = arguments.with_or_without_value("detail").is_some();
                let name = arguments.positional(0).map(str::to_owned);
                repeated(Request::PolicyStatistics { nitro: $nitro, name, detail }, arguments)
            },
        };
    };
}

counted!(CS_STATISTICS, "cs", "cspolicy");
counted!(RESPONDER_STATISTICS, "responder", "responderpolicy");
counted!(REWRITE_STATISTICS, "rewrite", "rewritepolicy");
