//! Keys of criteria and traffic rules.

use super::{HEADERS, Kind, NAMES, Schema, Words, key, required, schema, words};

macro_rules! text_test_keys {
    ($($own:expr),* $(,)?) => {
        schema(&[
            $($own,)*
            key("equals", Kind::Text),
            key("starts_with", Kind::Name),
            key("ends_with", Kind::Name),
            key("contains", Kind::Name),
            key("one_of", NAMES),
            key("regex", Kind::Pattern),
        ])
    };
}
static TEXT_TEST: Schema = text_test_keys!();
static NAMED_TEST: Schema = text_test_keys!(required("name", Kind::Name));

const PORT: Kind = super::adc::PORT;

pub(super) static CRITERION: Schema = Schema {
    keys: &[
        key("path", Kind::OneOf(&[Kind::Table(&TEXT_TEST), Kind::Name])),
        key("url", Kind::OneOf(&[Kind::Table(&TEXT_TEST), Kind::Name])),
        key("query_string", Kind::OneOf(&[Kind::Table(&TEXT_TEST), Kind::Name])),
        key("host", Kind::OneOf(&[Kind::Table(&TEXT_TEST), Kind::Name])),
        key("method", Kind::OneOf(&[NAMES, Kind::Name])),
        key("header", Kind::Table(&NAMED_TEST)),
        key("cookie", Kind::Table(&NAMED_TEST)),
        key("query", Kind::Table(&NAMED_TEST)),
        key("client", Kind::OneOf(&[Kind::List(&Kind::Network), Kind::Network])),
        key("port", Kind::OneOf(&[Kind::List(&PORT), PORT])),
        key("sni", Kind::OneOf(&[Kind::Table(&TEXT_TEST), Kind::Name])),
        key("tls", Kind::Bool),
        key("status", Kind::OneOf(&[super::STATUSES, Kind::Status])),
        key("response_header", Kind::Table(&NAMED_TEST)),
    ],
    later: &["body", "tls_sni"],
};

pub(super) static RULE: Schema = schema(&[
    required("vserver", Kind::Name),
    required("priority", Kind::Int(1, 2_147_483_647)),
    key("phase", Kind::Word(&PHASES)),
    key("when", super::gtm::CONDITION),
    required("action", Kind::Table(&ACTION)),
    key("stop", Kind::Bool),
]);
static PHASES: Words = words(&["request", "response"]);

static ACTION: Schema = Schema {
    keys: &[
        key("respond", Kind::Table(&RESPOND)),
        key("reject", Kind::Bool),
        key("redirect", Kind::Table(&REDIRECT)),
        key("route", Kind::Table(&ROUTE)),
        key("edit", Kind::List(&Kind::Table(&EDIT))),
        key("mirror", Kind::Table(&MIRROR)),
        key("count", Kind::Bool),
    ],
    later: &["forward", "use_vserver", "rewrite", "set_header", "drop", "log"],
};
static RESPOND: Schema =
    schema(&[required("status", Kind::Int(200, 599)), key("headers", HEADERS), key("body", Kind::Text)]);
static REDIRECT: Schema = schema(&[key("status", Kind::Int(301, 308)), required("location", Kind::Name)]);
static ROUTE: Schema = schema(&[key("vserver", Kind::Name), key("service", Kind::Name), key("group", Kind::Name)]);
static EDIT: Schema = schema(&[
    key("set", Kind::Name),
    key("add", Kind::Name),
    key("value", Kind::Text),
    key("remove", Kind::Name),
    key("path", Kind::Pattern),
    key("to", Kind::Text),
    key("url", Kind::Text),
    key("url_path", Kind::Text),
    key("remove_cookie", Kind::Name),
    key("set_cookie", Kind::Name),
    key("status", Kind::Int(200, 599)),
]);
static MIRROR: Schema = schema(&[
    required("vserver", Kind::Name),
    key("percent", Kind::Int(1, 100)),
    key("body_limit", Kind::Size(0, 1 << 20)),
]);
