use super::*;

#[test]
fn credentials_within_addresses_are_hidden() {
    let text = "[trigger.t]\ndsn = \"postgresql://u:p@db/x\"\n[query.q]\ndsn = \"gtm/pw@db:1521/X\"\n\
                [zone.z]\nmail = \"ops@example.test\"\n\
                [trigger.h]\nuri = \"https://a.test/b?key=x\"\nbody = \"token x\"\n";
    let table: toml::Table = redact(text).unwrap().parse().unwrap();
    assert_eq!(table["trigger"]["t"]["dsn"].as_str(), Some("postgresql://…@db/x"));
    assert_eq!(table["query"]["q"]["dsn"].as_str(), Some("…@db:1521/X"));
    assert_eq!(table["trigger"]["h"]["uri"].as_str(), Some("https://a.test/b?…"));
    assert_eq!(table["trigger"]["h"]["body"].as_str(), Some(HIDDEN));
    assert_eq!(table["zone"]["z"]["mail"].as_str(), Some("ops@example.test"));
}

#[test]
fn hashes_and_header_values_are_hidden_wherever_they_stand() {
    let text = "[admin.user.ops]\npassword_hash = \"$argon2id$x\"\nrole = \"operator\"\n\
                [trigger.t]\nheaders = { Authorization = \"Bearer x\" }\n\
                [trigger.u.headers]\nX-Token = \"x\"\n[monitor.m]\ncustom_headers = \"X-Key: x\"\n";
    let shown = redact(text).unwrap();
    let table: toml::Table = shown.parse().unwrap();
    assert_eq!(table["admin"]["user"]["ops"]["password_hash"].as_str(), Some(HIDDEN));
    assert_eq!(table["admin"]["user"]["ops"]["role"].as_str(), Some("operator"));
    assert_eq!(table["trigger"]["t"]["headers"]["Authorization"].as_str(), Some(HIDDEN));
    assert_eq!(table["trigger"]["u"]["headers"]["X-Token"].as_str(), Some(HIDDEN));
    assert_eq!(table["monitor"]["m"]["custom_headers"].as_str(), Some(HIDDEN));
}

#[test]
fn what_a_probe_says_and_waits_for_is_hidden_and_so_is_the_query_of_its_request() {
    let text = "[monitor.m]\ntype = \"HTTP-ECV\"\nsend = \"GET / HTTP/1.0\\r\\nAuthorization: Basic SECRET\"\n\
                receive = 'SECRET'\n[monitor.n]\ntype = \"HTTP\"\nrequest = \"HEAD /x?token=SECRET\" # why\n\
                [monitor.o]\ntype = \"USER\"\nscriptargs = \"SECRET\"\nrecv = \"SECRET\"\n\
                [limit.l]\nrequest = \"HTTP.REQ.URL.EQ('/a?b')\"\n";
    for shown in [redact(text).unwrap(), for_journal(text)] {
        assert!(!shown.contains("SECRET") && shown.contains("HEAD /x?"), "{shown}");
        assert!(shown.contains("# why") && shown.contains("EQ('/a?b')"), "{shown}");
    }
    assert_eq!(value_for_journal("monitor.n.request", "HEAD /x?token=SECRET"), "HEAD /x?hidden");
    assert_eq!(value_for_journal("monitor.n.request", "\"HEAD /x?token=SECRET\""), "\"HEAD /x?hidden\"");
    assert!(is_redacted(&for_journal(text)));
}

/// One of every place where a secret can stand, with `SECRET` in it.
const SECRETS: &str = r#"# headers = { Authorization = "SECRET" }
[appliance]
name = "box"
[admin.user.ops]
password_hash = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$SECRET"
role = "superuser"
[trigger.esc]
type = "HTTP"
uri = "https://pager.test/b?key=SECRET"   # the old one: ?key=SECRET
headers = { Authorization = "Bearer SECRET" }
body = "token SECRET"
[monitor.m]
type = "TCP-ECV"
send = "AUTH SECRET"
receive = "SECRET"
[monitor.n]
type = "HTTP"
request = "GET /health?key=SECRET"
[trigger.esc2]
type = "HTTP"
uri = 'https://pager.test/b'
headers.X-Key = 'SECRET'
"#;

#[test]
fn the_journal_gets_no_secret_and_what_it_gets_still_loads() {
    let (text, kept) = (SECRETS, for_journal(SECRETS));
    assert!(!kept.contains("SECRET"), "{kept}");
    assert_eq!(kept.lines().count(), text.lines().count(), "lines keep their numbers");
    for stays in ["X-Key", "Authorization", "https://pager.test/b?hidden", "role = \"superuser\""] {
        assert!(kept.contains(stays), "{stays}: {kept}");
    }
    assert!(is_redacted(&kept) && !is_redacted("role = \"superuser\""));
    assert_eq!(for_journal(&kept), kept, "the same when it is done again");
    assert_eq!(crate::config::tests::loaded(&kept).model.triggers.len(), 2);
}

/// Every hidden key, wherever the text behind it must be of some form.
const EVERY_KEY: &str = r#"
[monitors]
scripts = "/tmp"
[admin.user.ops]
password_hash = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$Y0hFQ2tzdW1jaGVja3N1bWNoZWNrc3VtY2hlY2tzdW0"
role = "superuser"
[admin.token.ci]
hash = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
role = "superuser"
[trigger.page]
type = "HTTP"
uri = "https://pager.test/b?key=SECRET"
headers = { Authorization = "Bearer SECRET" }
body = "SECRET ${scenario}"
[monitor.ecv]
type = "HTTP-ECV"
send = "GET /x?SECRET HTTP/1.1"
receive = "SECRET"
custom_headers = "X-Key: SECRET"
[monitor.secure]
type = "HTTP-ECV"
secure = true
send = "HEAD /SECRET"
receive = ""
custom_headers = { X-Key = "SECRET" }
[monitor.bytes]
type = "TCP-ECV"
send = 'AUTH SECRET\r\n'
recv = 'SECRET\x00'
[monitor.datagram]
type = "UDP-ECV"
send = 'SECRET\xff'
receive = "SECRET"
[monitor.script]
type = "USER"
script_name = "a"
script_args = ["SECRET", "-x"]
environment = { KEY = "SECRET", TOKEN = { env = "SECRET" }, FILE = { file = "/SECRET" } }
[monitor.script2]
type = "USER"
script_name = "a"
scriptargs = "SECRET"
[monitor.head]
type = "HTTP"
request = "HEAD /x?token=SECRET"
[check.web]
type = "HTTP"
url = "http://192.0.2.1/?SECRET"
method = "POST"
headers = { X-Key = "SECRET" }
body = "SECRET"
[check.web.expect]
headers = { X-Key = "SECRET" }
[check.tcp]
type = "TCP-ECV"
address = "192.0.2.1:80"
send = "SECRET"
receive = "SECRET"
[service.s]
type = "HTTP"
address = "192.0.2.1:80"
monitors = ["ecv", "head"]
[vserver.web]
type = "HTTP"
services = ["s"]
[rule.gone]
vserver = "web"
priority = 1
action = { respond = { status = 204, headers = { X-Key = "SECRET" }, body = "" } }
[rule.told]
vserver = "web"
priority = 2
action = { respond = { status = 403, body = "SECRET" } }
"#;

#[test]
fn what_stands_for_a_hidden_text_loads_wherever_the_text_must_have_a_form() {
    crate::config::tests::loaded(EVERY_KEY);
    let kept = for_journal(EVERY_KEY);
    assert!(!kept.contains("SECRET"), "{kept}");
    for key in KEYS {
        assert!(EVERY_KEY.contains(&format!("{key} = ")), "{key} is tried");
    }
    crate::config::tests::loaded(&kept);
    assert_eq!(for_journal(&kept), kept, "the same when it is done again");
    assert_eq!(value_for_journal("monitor.ecv.send", "GET /SECRET"), "GET /(hidden)");
}

#[test]
fn what_is_given_on_the_command_line_is_hidden_as_in_the_text() {
    for (path, value, kept) in [
        ("trigger.t.headers.X-Key", "SECRET", "(hidden)"),
        ("trigger.t.headers", "{ X-Key = \"SECRET\" }", "{ X-Key = \"(hidden)\" }"),
        ("trigger.t.uri", "https://a.test/b?key=SECRET", "https://a.test/b?hidden"),
        ("trigger.t.uri", "\"https://a.test/b?key=SECRET\"", "\"https://a.test/b?hidden\""),
        ("monitor.m.custom_headers", "X-Key: SECRET", "Hidden: (hidden)"),
        ("trigger.t.body", "SECRET", "(hidden)"),
        ("scenario.dr.enabled", "true", "true"),
        ("query.q.dsn", "postgresql://u:SECRET@db/x", "postgresql://db/x"),
        ("query.q.dsn", "gtm/SECRET@db:1521/X", "db:1521/X"),
    ] {
        assert_eq!(value_for_journal(path, value), kept, "{path} {value}");
    }
}

#[test]
fn no_expression_and_no_pattern_is_cut_in_two() {
    for text in ["a = \"^https?://a/(b?c)$\"\n", "a = \"HTTP.REQ.URL.EQ('http://a/?b')\"\n", "a = \"https://(a?b)\"\n"]
    {
        assert_eq!(for_journal(text), text);
    }
}

#[test]
fn a_password_hash_is_replaced_by_one_that_still_loads() {
    let hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$Y0hFQ2tzdW1jaGVja3N1bWNoZWNrc3VtY2hlY2tzdW0";
    let user = |hash: &str| format!("[admin.user.root]\nrole = \"superuser\"\npassword_hash = \"{hash}\"\n");
    assert_eq!(for_journal(&user(hash)), user(NO_PASSWORD));
    assert!(argon2::password_hash::phc::PasswordHash::new(NO_PASSWORD).is_ok());
    assert_eq!(for_journal("; a zone file (nothing to hide"), "; a zone file (nothing to hide");
}

#[test]
fn the_hash_of_a_token_is_replaced_too() {
    let text = |digit: &str| format!("[admin.token.ci]\nhash = \"sha256:{}\"\n", digit.repeat(64));
    assert_eq!(for_journal(&text("a")), text("0"));
}

#[test]
fn addresses_lose_their_credentials() {
    for (text, kept) in [
        ("dsn = \"postgresql://u:p@db/x\"", "dsn = \"postgresql://db/x\""),
        ("dsn = \"gtm/pw@db:1521/X\"", "dsn = \"db:1521/X\""),
        ("url = \"http://a/\"\nmail = \"a@b.test\"", "url = \"http://a/\"\nmail = \"a@b.test\""),
    ] {
        assert_eq!(for_journal(text).trim_end(), kept);
    }
}

#[test]
fn the_answer_that_a_policy_gives_is_hidden_as_that_of_a_rule_and_a_redirect_is_not() {
    let text = "[responder_action.sorry]\ntype = \"respondwith\"\n\
                target = '\"HTTP/1.1 403 No\\r\\nX-Key: SECRET\\r\\n\\r\\nSECRET\"' # why\n\
                [responder_action.away]\ntype = \"redirect\"\ntarget = '\"https://a.test/\" + HTTP.REQ.URL'\n";
    for shown in [redact(text).unwrap(), for_journal(text)] {
        assert!(!shown.contains("SECRET") && shown.contains("# why") && shown.contains("https://a.test/"), "{shown}");
    }
    assert!(is_redacted(&for_journal(text)));
    assert_eq!(crate::config::tests::loaded(&for_journal(text)).model.policies.objects.len(), 2);
    let kept = value_for_journal("responder_action.sorry.target", "\"HTTP/1.1 403 No\\r\\n\\r\\nSECRET\"");
    assert!(!kept.contains("SECRET"), "{kept}");
    assert!(is_hidden("responder_action.sorry.target") && !is_hidden("cs_action.a.target"));
}

/// What policies, rules and criteria say, with `SECRET` wherever it is hidden.
const OF_POLICIES: &str = r#"
[service.s]
type = "HTTP"
address = "192.0.2.1:80"
[vserver.web]
type = "HTTP"
services = ["s"]
responder_policies = { deny = 10 }
rewrite_policies = { key = 10, path = 20 }
[policy_patset.known]
patterns = ["a", "b"]
[policy_expression.knows]
value = 'HTTP.REQ.HEADER("authorization").TO_UPPER.CONTAINS("SECRET") || HTTP.REQ.HEADER("Cookie").EQUALS_ANY("known")'
[responder_action.deny]
type = "respondwith"
target = '"HTTP/1.1 401 No\r\nX-Key: SECRET\r\n\r\nSECRET"'
[responder_action.away]
type = "redirect"
target = '"https://" + HTTP.REQ.HOSTNAME + "/x"'
[responder_policy.deny]
rule = 'knows || (HTTP.REQ.COOKIE.VALUE("sid").REGEX_MATCH(re/^SECRET/) && HTTP.REQ.METHOD.EQ(GET))'
action = "deny"
[rewrite_action.key]
type = "insert_http_header"
target = "Authorization"
value = '"Bearer SECRET"'
[rewrite_action.path]
type = "replace"
target = "HTTP.REQ.URL.PATH"
value = '"/SECRET"'
[rewrite_policy.key]
rule = 'HTTP.REQ.HEADER("X-Mine").EQ("shown")'
action = "key"
[rewrite_policy.path]
rule = "true"
action = "path"
[criterion.token]
header = { name = "Authorization", one_of = ["SECRET", "SECRET2"] }
[criterion.sid]
cookie = { name = "sid", equals = "SECRET" }
[criterion.mine]
header = { name = "X-Mine", equals = "shown" }
[rule.r]
vserver = "web"
priority = 1
when = [["token", "sid", "mine"]]
[[rule.r.action.edit]]
set = "X-Key"
value = "SECRET"
[rule.s]
vserver = "web"
priority = 2
action = { edit = [{ set = "X-Key", value = "SECRET" }] }
"#;

#[test]
fn what_policies_and_rules_answer_write_and_compare_with_tokens_is_hidden_and_the_journals_text_still_loads() {
    crate::config::tests::loaded(OF_POLICIES);
    let (shown, kept) = (redact(OF_POLICIES).unwrap(), for_journal(OF_POLICIES));
    for text in [&shown, &kept] {
        assert!(!text.contains("SECRET"), "{text}");
        for stays in ["/x", "\"shown\"", "known", "METHOD.EQ(GET)", "Authorization", "sid", "X-Key"] {
            assert!(text.contains(stays), "{stays}: {text}");
        }
    }
    assert!(is_redacted(&kept));
    assert_eq!(crate::config::tests::loaded(&kept).model.rules.len(), 5);
    assert_eq!(for_journal(&kept), kept, "the same when it is done again");
}

#[test]
fn what_policies_say_is_hidden_on_the_command_line_and_in_what_has_changed() {
    for (path, value, kept) in [
        ("rewrite_action.a.b.value", "'\"SECRET\"'", r#"'"(hidden)"'"#),
        ("rule.a.b.action.edit", "[{ set = \"X\", value = \"SECRET\" }]", r#"[{ set = "X", value = "(hidden)" }]"#),
        ("criterion.c.cookie.equals", "SECRET", "(hidden)"),
        ("criterion.c.path.equals", "/a", "/a"),
    ] {
        let shown = value_for_journal(path, value).replace(r#""\"(hidden)\"""#, r#"'"(hidden)"'"#);
        assert_eq!(shown, kept, "{path} {value}");
    }
    let model = |text: &str| (*crate::config::tests::loaded(text).model).clone();
    let (old, new) = (model(OF_POLICIES), model(&OF_POLICIES.replace("SECRET", "OTHER")));
    let told: Vec<String> = crate::config::diff::diff(&old, &new).iter().map(ToString::to_string).collect();
    let secret = |line: &&String| !line.contains("criterion") && (line.contains("SECRET") || line.contains("OTHER"));
    assert_eq!(told.iter().find(secret), None, "{told:?}");
    assert!(told.contains(&"~ rewrite_action key: value: changed".to_owned()), "{told:?}");
}
