use crate::config::{self, Source, load, render};
use crate::model::Model;
use crate::model::rule::{Action, Phase, Route};

struct NoFiles;

impl config::Files for NoFiles {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("no file `{path}` here"))
    }
}

const ALL: &str = r#"
schema = 1

[service.svc]
type = "HTTP"
address = "10.1.0.1:80"
[vserver.lb-a]
type = "HTTP"
services = ["svc"]
responder_policies = { moved = 100, sorry = 90, drop = { priority = 120, goto = "END" } }
[vserver.lb-b]
type = "HTTP"
services = ["svc"]
[vserver.lb-b.rewrite_policies]
api = 10
all = { priority = 20, goto = "NEXT" }
server = { priority = 10, type = "RESPONSE" }
[cs_vserver.front]
type = "HTTP"
address = "192.0.2.20:80"
default = "lb-a"
cs_policies = { hosts = 100, old = { priority = 110, target = "lb-b" } }

[policy_patset.names]
patterns = ["a.example.test", "b.example.test"]
[policy_patset.nobody]
[policy_expression.is-api]
value = 'HTTP.REQ.URL.PATH.STARTSWITH("/api/")'
[cs_action.to-b]
target = "lb-b"
[cs_policy.hosts]
rule = 'HTTP.REQ.HOSTNAME.EQUALS_ANY("names") && is-api'
action = "to-b"
[cs_policy.old]
url = "/images/*"
[responder_action.moved]
type = "redirect"
target = '"https://" + HTTP.REQ.HOSTNAME.SERVER + HTTP.REQ.URL'
status = 301
[responder_action.sorry]
type = "respondwith"
target = '"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n\r\nno"'
comment = "not for everybody"
[responder_policy.moved]
rule = "!CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)"
action = "moved"
[responder_policy.sorry]
rule = "HTTP.REQ.METHOD.EQ(TRACE)"
action = "sorry"
[responder_policy.drop]
rule = 'HTTP.REQ.URL.CONTAINS("..")'
action = "DROP"
[responder_policy.never]
rule = 'HTTP.REQ.HOSTNAME.EQUALS_ANY("nobody")'
action = "RESET"
[rewrite_action.add]
type = "insert_http_header"
target = "X-Client"
value = "CLIENT.IP.SRC"
[rewrite_action.del]
type = "delete_http_header"
target = "Server"
[rewrite_policy.api]
rule = "is-api"
action = "add"
[rewrite_policy.all]
rule = "true"
action = "add"
[rewrite_policy.server]
rule = "true"
action = "del"
"#;

fn loaded(text: &str) -> Result<Model, Vec<String>> {
    let source = Source { path: "a.toml".into(), text: text.into() };
    let loaded = load(source, &[], &NoFiles);
    let tell =
        |problems: Vec<config::Problem>| problems.into_iter().map(|p| format!("{}: {}", p.line, p.what)).collect();
    loaded.map(|loaded| (*loaded.model).clone()).map_err(tell)
}

/// `name priority when`, in the order of the names.
fn rules(model: &Model) -> Vec<String> {
    let told = |rule: &crate::model::rule::Rule| {
        let group = |group: &crate::model::condition::Group| {
            group.terms.iter().map(|term| term.text.to_string()).collect::<Vec<_>>().join("+")
        };
        let when: Vec<String> = rule.when.groups.iter().map(group).collect();
        let stop = if rule.stop { " stop" } else { "" };
        format!("{} {} {}{stop}", rule.name, rule.priority, when.join("|"))
    };
    model.rules.iter().map(told).collect()
}

#[test]
fn policies_become_criteria_and_rules_in_the_order_in_which_they_are_asked() {
    let model = loaded(ALL).unwrap();
    assert_eq!(
        rules(&model),
        [
            "front/hosts 100 hosts+api",
            "front/old 110 old",
            "lb-a/drop 120 drop",
            "lb-a/moved 100 moved!",
            "lb-a/sorry 90 sorry",
            // Who says END and does not end the walk by what it does stops its bank.
            "lb-b/all 20 ",
            "lb-b/api 10 api stop",
            "lb-b/server 30  stop",
        ]
    );
    let rule = |name: &str| &model.rules[model.rule_id(name).unwrap().index()];
    let to_b = Action::Route(Route::Vserver(model.vserver_id("lb-b").unwrap()));
    assert_eq!((&rule("front/hosts").action, &rule("front/old").action), (&to_b, &to_b));
    let location = "https://{hostname}{url}".into();
    assert_eq!(rule("lb-a/moved").action, Action::Redirect { status: 301, location });
    assert_eq!(rule("lb-a/drop").action, Action::Reject);
    assert_eq!(rule("lb-b/server").phase, Phase::Response);
}

#[test]
fn what_is_printed_says_the_policies_and_not_what_follows() {
    let model = loaded(ALL).unwrap();
    let text = render::render(&model);
    assert!(!text.contains("[rule.") && !text.contains("[criterion."), "{text}");
    assert!(text.contains("comment = \"not for everybody\""), "{text}");
    assert_eq!(loaded(&text).unwrap(), model);
    let other = loaded(&ALL.replace("\"/images/*\"", "\"/pictures/*\"")).unwrap();
    let told: Vec<String> = config::diff::diff(&model, &other).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["~ cs_policy old: url: /images/* → /pictures/*"]);
}

#[test]
fn rules_of_the_text_are_asked_before_policies_and_keep_their_names() {
    let text = format!(
        "{ALL}\n[criterion.hosts]\npath = \"/x\"\n[rule.\"front/hosts\"]\nvserver = \"front\"\npriority = 500\n\
         when = [[\"hosts\"]]\naction = {{ reject = true }}\n"
    );
    let model = loaded(&text).unwrap();
    let front: Vec<String> = rules(&model).into_iter().filter(|rule| rule.starts_with("front/")).collect();
    assert_eq!(front, ["front/hosts 500 hosts", "front/hosts-2 510 hosts-2+api", "front/old 520 old"]);
    assert_eq!(loaded(&render::render(&model)).unwrap(), model);
}

#[test]
fn a_policy_that_does_nothing_is_counted_and_one_of_two_tests_that_ends_costs_the_next_ones_nothing() {
    let mut text = ALL.replace("[vserver.lb-b.rewrite_policies]", "[vserver.lb-b.rewrite_policies]\nTO_BIND");
    let bound: String = (0..40).map(|at| format!("p{at} = {}\n", 100 + at)).collect();
    for at in 0..40 {
        let action = if at == 0 { "NOREWRITE" } else { "add" };
        text += &format!("[rewrite_policy.p{at}]\naction = \"{action}\"\n");
        text += &format!("rule = 'HTTP.REQ.URL.PATH.EQ(\"/{at}\") && HTTP.REQ.HEADER(\"H{at}\").EXISTS'\n");
    }
    let model = loaded(&text.replace("TO_BIND", &bound)).unwrap();
    assert!(model.rules.iter().all(|rule| rule.when.groups.len() == 1));
    let rule = |name: &str| &model.rules[model.rule_id(name).unwrap().index()];
    assert_eq!((&rule("lb-b/p0").action, rule("lb-b/p0").stop), (&Action::Count, true));
    assert!(rule("lb-b/p39").stop);
    assert_eq!(loaded(&render::render(&model)).unwrap(), model);
}

#[test]
fn what_holds_for_every_vserver_is_asked_where_requests_come_in_and_told_once_where_it_is_wrong() {
    let text = ALL.replace("[vserver.lb-a]\ntype", "[vserver.lb-a]\naddress = \"192.0.2.21:80\"\ntype")
        + "[policy_global.responder_policies]\nnever = 1\ndrop = { priority = 10, type = \"REQ_OVERRIDE\" }\nmoved = 20\n\
           [policy_global.rewrite_policies]\nserver = { priority = 10, goto = \"NEXT\", type = \"RES_DEFAULT\" }\n";
    let model = loaded(&text).unwrap();
    let all = rules(&model);
    let of = |vserver: &str| all.iter().filter(|rule| rule.starts_with(vserver)).cloned().collect::<Vec<_>>();
    assert_eq!(
        of("front/"),
        [
            "front/drop 10 drop",
            "front/hosts 40 hosts+api",
            "front/moved 30 moved!",
            "front/old 50 old",
            "front/server 60 ",
        ]
    );
    assert_eq!(of("lb-a/")[..2], ["lb-a/drop 10 drop", "lb-a/drop-2 40 drop"]);
    assert_eq!(of("lb-b/").len(), 3, "nobody addresses it");
    let global = &model.policies.global_rules;
    assert!(global.contains("front/drop") && global.contains("lb-a/drop") && !global.contains("lb-a/drop-2"));
    let printed = render::render(&model);
    assert_eq!(loaded(&printed).unwrap(), model, "{printed}");
    let other = loaded(&text.replace("moved = 20", "moved = 30")).unwrap();
    let told: Vec<String> = config::diff::diff(&model, &other).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["~ policy_global: responder_policies.moved: 20 → 30"]);
    for (from, to, told) in [
        ("moved = 20", "nobody = 20", "policy_global.responder_policies.nobody: there is no policy of this name"),
        ("moved = 20", "never-2 = 20", "there is no policy of this name"),
        ("moved = 20", "moved = 1", "its priority is that of `never`"),
        ("type = \"RES_DEFAULT\"", "type = \"RESPONSE\"", "RESPONSE"),
    ] {
        let problems = loaded(&text.replace(from, to)).unwrap_err();
        assert_eq!(problems.iter().filter(|problem| problem.contains(told)).count(), 1, "{to}: {problems:?}");
    }
}

#[test]
fn actions_of_rewriting_put_texts_together_out_of_what_a_request_says() {
    let edit = |kind: &str, target: &str, value: &str| {
        let table = super::action::rewrite(kind, target, value).map(|action| action.act.table());
        table.map(|table| table["edit"][0].to_string())
    };
    for (kind, target, value, wanted) in [
        ("replace", "HTTP.REQ.URL", r#""/v2" + HTTP.REQ.URL"#, r#"{"url":"/v2{url}"}"#),
        ("replace", "http.req.url.path", r#""/new""#, r#"{"url_path":"/new"}"#),
        ("replace", "HTTP.REQ.URL.PATH", r#""/x" + HTTP.REQ.URL.PATH"#, r#"{"url_path":"/x{path}"}"#),
        ("insert_before", "HTTP.REQ.URL.PATH_AND_QUERY", r#""/app""#, r#"{"url":"/app{url}"}"#),
        ("insert_after", "HTTP.REQ.HOSTNAME", r#"".internal""#, r#"{"set":"Host","value":"{host}.internal"}"#),
        (
            "insert_http_header",
            "X",
            r#"HTTP.REQ.HEADER("Y") + ":" + CLIENT.TCP.DSTPORT"#,
            r#"{"add":"X","value":"{header:Y}:{port}"}"#,
        ),
        (
            "insert_http_header",
            "X",
            r#"HTTP.REQ.URL.QUERY.VALUE("q").HTTP_URL_SAFE"#,
            r#"{"add":"X","value":"{query:q}"}"#,
        ),
        (
            "replace",
            r#"HTTP.RES.HEADER("X")"#,
            r#"HTTP.REQ.COOKIE.VALUE("sid")"#,
            r#"{"set":"X","value":"{cookie:sid}"}"#,
        ),
    ] {
        let table: serde_json::Value = serde_json::from_str(wanted).unwrap();
        assert_eq!(edit(kind, target, value), Ok(table.to_string()), "{kind} {target} {value}");
    }
    for (kind, target, value, told) in [
        ("insert_http_header", "X", r#"HTTP.RES.HEADER("Y")"#, r#"`HTTP.RES.HEADER("Y")`: no rule fills this in"#),
        ("insert_http_header", "X", r#"HTTP.REQ.HEADER("Y").VALUE("Z")"#, "no rule fills this in"),
        ("insert_http_header", "X", r#""{client}""#, "would be filled in"),
        ("replace", "HTTP.REQ.URL", r#""/a b""#, "visible ASCII"),
        ("replace", "HTTP.REQ.URL.PATH", r#""/a?b""#, "a path has no `?`"),
        ("replace", "HTTP.REQ.BODY(10)", r#""x""#, "is not replaced by rules"),
        ("insert_before", r#"HTTP.REQ.HEADER("X")"#, r#""x""#, "nothing is inserted into"),
    ] {
        let why = edit(kind, target, value).unwrap_err();
        assert!(why.contains(told), "{kind} {target} {value}: {why}");
    }
}

#[test]
fn what_a_policy_names_and_nobody_has_is_told_where_it_stands() {
    let wrong = |from: &str, to: &str| loaded(&ALL.replacen(from, to, 1)).unwrap_err().join("\n");
    for (from, to, told) in [
        ("target = \"lb-b\"\n", "target = \"lb-x\"\n", "there is no vserver `lb-x`"),
        ("action = \"to-b\"", "action = \"to-x\"", "cs_policy.hosts.action: there is no action `to-x`"),
        ("\"names\")", "\"nemas\")", "there is no pattern set `nemas`"),
        ("&& is-api", "&& is-ipa", "there is no expression `is-ipa`"),
        ("HTTP.REQ.METHOD.EQ", "HTTP.REQ.BODY(9).EQ", "no criterion looks at this"),
        ("sorry = 90", "nobody = 90", "there is no policy of this name"),
        ("sorry = 90", "sorry = 100", "its priority is that of"),
        ("sorry = 90", "sorry = 0", "responder_policies.sorry"),
        ("url = \"/images/*\"", "", "say one of `rule`, `url` and `domain`"),
        ("type = \"redirect\"", "type = \"redirects\"", "`redirects` is not one of"),
        ("\"https://\" +", "\"https://\" + HTTP.REQ.BODY(9) +", "no rule fills this in"),
        ("10.0.0.0/8", "10.0.0.300/8", "client"),
        ("type = \"RESPONSE\"", "type = \"RESPONSES\"", "RESPONSES"),
        ("[policy_expression.is-api]", "[policy_expression.client]", "a word of expressions themselves"),
        ("[policy_expression.is-api]", "[policy_expression.\"a b\"]", "one word"),
        ("url = \"/images/*\"", "rule = \"HTTP.RES.STATUS.EQ(200)\"", "cs_policy.old.rule: it looks at the answer"),
        ("HTTP.REQ.METHOD.EQ(TRACE)", "HTTP.RES.STATUS.EQ(200)", "responder_policy.sorry.rule: it looks at the answer"),
        ("target = \"Server\"", "target = \"Content-Length\"", "rewrite_action.del: `Content-Length` follows"),
        ("target = \"Server\"", "target = \"host\"", "rewrite_action.del: a request has exactly one Host"),
        ("target = \"Server\"", "target = \"A\\r\\nB\"", "is not a header name"),
        ("target = \"X-Client\"", "target = \"Transfer-Encoding\"", "rewrite_action.add: `Transfer-Encoding` follows"),
        ("\"CLIENT.IP.SRC\"", "'\"a\\r\\nB: c\"'", "rewrite_action.add: the value of `value` has a control"),
        ("Content-Type: text/plain", "Content Type: text/plain", "responder_action.sorry: `Content Type` is not"),
    ] {
        let problems = wrong(from, to);
        assert!(problems.contains(told), "{to}: {problems}");
    }
    let on_tcp = wrong("[vserver.lb-a]\ntype = \"HTTP\"\nservices = [\"svc\"]", "[vserver.lb-a]\ntype = \"TCP\"");
    assert!(on_tcp.contains("lb-a"), "{on_tcp}");
}
