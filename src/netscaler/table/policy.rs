//! Policies, their actions, what they name, and their bindings.

use super::{Form, Kind, NO, Place, double, name, only, other, refused, row, text, word};
use crate::netscaler::resource::{Attribute, Resource, Shape};

const LABELS: &str = "there are no policy labels; bind the policies themselves";
const LOGGED: &str = "the access log names what acted";
const HEAD: &str = "the answer that is given says it";
const ONE_PLACE: &str = "a rule changes one field, or the path";

const NAME: Attribute = name("name", "name");
const COMMENT: Attribute = text("comment", "comment", &["comment"]);
const LOG_ACTION: Attribute = refused("logaction", "logAction", LOGGED);
const FLOW_ACTION: Attribute = refused("appflowaction", "appflowAction", LOGGED);
/// What cannot be told of a request is not met.
const UNDEFINED: Attribute = only("undefaction", "undefAction", Kind::Text, &["Use Global", "NOOP", "NOREWRITE"]);
/// Nothing is checked that could be left out.
const SAFETY: Attribute = only("bypasssafetycheck", "bypassSafetyCheck", Kind::Text, &["NO", "YES"]);

pub static PATTERN_SET: Resource = Resource {
    nitro: "policypatset",
    words: &["policy", "patset"],
    shape: Shape::Object { section: "policy_patset" },
    key: "name",
    lists: &[&[
        NAME,
        COMMENT,
        only("indextype", "indexType", Kind::Text, &["Auto-generated", "User-defined"]),
        only("dynamic", "dynamic", Kind::Text, NO),
        refused("patsetfile", "patsetFile", "bind the patterns one by one"),
    ]],
    positional: &["name"],
    required: &[],
};

pub static PATTERN: Resource = Resource {
    nitro: "policypatset_pattern_binding",
    words: &["policy", "patset"],
    shape: Shape::Binding { owner: "policypatset", to: "" },
    key: "name",
    lists: &[&[
        NAME,
        other("string", "String"),
        double("index", "index", &["patterns"], Form::Number, ""),
        only("charset", "charset", Kind::Text, &["ASCII", "UTF_8"]),
        refused("comment", "comment", "the set has one"),
        refused("feature", "feature", "every policy may name every set"),
    ]],
    positional: &["name", "string"],
    required: &["string"],
};

pub static EXPRESSION: Resource = Resource {
    nitro: "policyexpression",
    words: &["policy", "expression"],
    shape: Shape::Object { section: "policy_expression" },
    key: "name",
    lists: &[&[
        NAME,
        text("value", "value", &["value"]),
        COMMENT,
        refused("clientsecuritymessage", "clientSecurityMessage", "clients are not looked into"),
    ]],
    positional: &["name", "value"],
    required: &["value"],
};

pub static CS_ACTION: Resource = Resource {
    nitro: "csaction",
    words: &["cs", "action"],
    shape: Shape::Object { section: "cs_action" },
    key: "name",
    lists: &[&[
        NAME,
        text("targetlbvserver", "targetLBVserver", &["target"]),
        refused("targetvserver", "targetVserver", "requests go to vservers that balance"),
        refused("targetvserverexpr", "targetVserverExpr", "a target is named, not computed"),
        COMMENT,
    ]],
    positional: &["name"],
    required: &["targetlbvserver"],
};

pub static CS_POLICY: Resource = Resource {
    nitro: "cspolicy",
    words: &["cs", "policy"],
    shape: Shape::Object { section: "cs_policy" },
    key: "policyname",
    lists: &[&[
        name("policyname", "policyName"),
        text("rule", "rule", &["rule"]),
        text("url", "url", &["url"]),
        text("domain", "domain", &["domain"]),
        text("action", "action", &["action"]),
        LOG_ACTION,
    ]],
    positional: &["policyname"],
    required: &["rule|url|domain"],
};

pub static RESPONDER_ACTION: Resource = Resource {
    nitro: "responderaction",
    words: &["responder", "action"],
    shape: Shape::Object { section: "responder_action" },
    key: "name",
    lists: &[&[
        NAME,
        word("type", "type", &["type"], ""),
        text("target", "target", &["target"]),
        double("responsestatuscode", "responseStatusCode", &["status"], Form::Number, ""),
        refused("htmlpage", "htmlpage", "write the body into the answer"),
        refused("reasonphrase", "reasonPhrase", HEAD),
        refused("headers", "headers", HEAD),
        SAFETY,
        COMMENT,
    ]],
    positional: &["name", "type", "target"],
    required: &["type"],
};

pub static RESPONDER_POLICY: Resource = Resource {
    nitro: "responderpolicy",
    words: &["responder", "policy"],
    shape: Shape::Object { section: "responder_policy" },
    key: "name",
    lists: &[POLICY, &[FLOW_ACTION]],
    positional: &["name", "rule", "action", "undefaction"],
    required: &["rule", "action"],
};

/// Of the responder and of rewriting.
static POLICY: &[Attribute] =
    &[NAME, text("rule", "rule", &["rule"]), text("action", "action", &["action"]), UNDEFINED, LOG_ACTION, COMMENT];

pub static REWRITE_ACTION: Resource = Resource {
    nitro: "rewriteaction",
    words: &["rewrite", "action"],
    shape: Shape::Object { section: "rewrite_action" },
    key: "name",
    lists: &[&[
        NAME,
        word("type", "type", &["type"], ""),
        text("target", "target", &["target"]),
        text("stringbuilderexpr", "stringBuilderExpr", &["value"]),
        refused("pattern", "pattern", ONE_PLACE),
        refused("search", "search", ONE_PLACE),
        refused("refinesearch", "refineSearch", ONE_PLACE),
        SAFETY,
        COMMENT,
    ]],
    positional: &["name", "type", "target", "stringbuilderexpr"],
    required: &["type"],
};

pub static REWRITE_POLICY: Resource = Resource {
    nitro: "rewritepolicy",
    words: &["rewrite", "policy"],
    shape: Shape::Object { section: "rewrite_policy" },
    key: "name",
    lists: &[POLICY],
    positional: &["name", "rule", "action", "undefaction"],
    required: &["rule", "action"],
};

/// Of every binding of a policy to a vserver.
static BOUND: &[Attribute] = &[
    NAME,
    other("policyname", "policyName"),
    double("priority", "priority", &["priority"], Form::Number, ""),
    word("gotopriorityexpression", "gotoPriorityExpression", &["goto"], "END"),
    row("invoke", "invoke", Kind::Boolean, Place::Refused(LABELS), ""),
    refused("labeltype", "labelType", LABELS),
    refused("labelname", "labelName", LABELS),
];
static OF_REQUEST: &[Attribute] = &[only("bindpoint", "type", Kind::Text, &["REQUEST"])];
static OF_SWITCHING: &[Attribute] = &[
    row("bindpoint", "type", Kind::Text, Place::Only(&["REQUEST"]), "REQUEST"),
    text("targetlbvserver", "targetLBVserver", &["target"]),
];
static OF_EITHER: &[Attribute] = &[word("bindpoint", "type", &["type"], "")];

const fn bound(
    nitro: &'static str,
    words: &'static [&'static str],
    (owner, to): (&'static str, &'static str),
    lists: &'static [&'static [Attribute]],
) -> Resource {
    let shape = Shape::Binding { owner, to };
    Resource { nitro, words, shape, key: "name", lists, positional: &["name"], required: &["policyname"] }
}

pub static CS_VSERVER_CS_POLICY: Resource =
    bound("csvserver_cspolicy_binding", &["cs", "vserver"], ("csvserver", "cspolicy"), &[BOUND, OF_SWITCHING]);
pub static CS_VSERVER_RESPONDER: Resource = bound(
    "csvserver_responderpolicy_binding",
    &["cs", "vserver"],
    ("csvserver", "responderpolicy"),
    &[BOUND, OF_REQUEST],
);
pub static CS_VSERVER_REWRITE: Resource =
    bound("csvserver_rewritepolicy_binding", &["cs", "vserver"], ("csvserver", "rewritepolicy"), &[BOUND, OF_EITHER]);
pub static LB_VSERVER_RESPONDER: Resource = bound(
    "lbvserver_responderpolicy_binding",
    &["lb", "vserver"],
    ("lbvserver", "responderpolicy"),
    &[BOUND, OF_REQUEST],
);
pub static LB_VSERVER_REWRITE: Resource =
    bound("lbvserver_rewritepolicy_binding", &["lb", "vserver"], ("lbvserver", "rewritepolicy"), &[BOUND, OF_EITHER]);
