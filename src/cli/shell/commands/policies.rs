//! `show` of policies, of their actions and of what they name.

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
