//! NetScaler's policies out of a configuration, through both engines.

use std::fmt::Write;
use std::net::SocketAddr;

use bascule::config::{Files, Source, load};
use bascule::dataplane::l7::Carrier;
use bascule::model::Model;

use crate::world::{Server, World, get};

struct NoFiles;

impl Files for NoFiles {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("no file `{path}` here"))
    }
}

/// Forty rewriting policies of two tests each on requests, all of which say END but `p20`; two on answers; the first of
/// requests does nothing for /plain/ but end the bank.
fn configured(server: SocketAddr) -> Model {
    let mut text = format!(
        "schema = 1\n[service.a]\ntype = \"HTTP\"\naddress = \"{server}\"\n\
         [vserver.web]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\nservices = [\"a\"]\n\
         [rewrite_policy.plain]\nrule = 'HTTP.REQ.URL.PATH.STARTSWITH(\"/plain/\")'\naction = \"NOREWRITE\"\n\
         [rewrite_action.answered]\ntype = \"insert_http_header\"\ntarget = \"X-Answered\"\nvalue = '\"yes\"'\n\
         [rewrite_policy.first]\nrule = 'HTTP.RES.STATUS.EQ(200)'\naction = \"answered\"\n\
         [rewrite_policy.second]\nrule = 'true'\naction = \"answered\"\n"
    );
    let mut bound = String::from("[vserver.web.rewrite_policies]\nplain = 1\n");
    for n in 0..40 {
        let rule = format!("HTTP.REQ.URL.PATH.CONTAINS(\"x\") && HTTP.REQ.HEADER(\"H{n}\").EXISTS");
        let action = format!("type = \"insert_http_header\"\ntarget = \"X-P{n}\"\nvalue = '\"yes\"'");
        write!(text, "[rewrite_action.p{n}]\n{action}\n[rewrite_policy.p{n}]\nrule = '{rule}'\naction = \"p{n}\"\n")
            .expect("text");
        let goto = if n == 20 { "NEXT" } else { "END" };
        writeln!(bound, "p{n} = {{ priority = {}, goto = \"{goto}\" }}", 10 + n).expect("text");
    }
    bound += "first = { priority = 1, type = \"RESPONSE\" }\nsecond = { priority = 2, type = \"RESPONSE\" }\n";
    loaded(text + &bound)
}

fn loaded(text: String) -> Model {
    let source = Source { path: "a.toml".into(), text: text.into() };
    let loaded = load(source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems:?}"));
    (*loaded.model).clone()
}

#[tokio::test]
async fn of_policies_that_say_end_the_first_that_is_met_acts_and_of_those_that_say_next_the_next_too() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let server = Server::http("a").await;
        let world = World::through(configured(server.at), carrier).await;
        for (path, fields, acted) in [
            ("/x", "H3: 1\r\nH7: 1\r\n", &["x-p3"][..]),
            ("/x", "H39: 1\r\n", &["x-p39"]),
            ("/x", "H20: 1\r\nH30: 1\r\nH39: 1\r\n", &["x-p20", "x-p30"]),
            ("/x", "", &[]),
            ("/y", "H3: 1\r\n", &[]),
            ("/plain/x", "H3: 1\r\n", &[]),
        ] {
            let before = server.seen().len();
            let answer = get(world.vip("web"), path, fields).await.to_ascii_lowercase();
            let seen = server.seen()[before..].to_ascii_lowercase();
            let found =
                (0..40).map(|n| format!("x-p{n}")).filter(|name| seen.contains(&format!("\r\n{name}: yes\r\n")));
            assert_eq!(found.collect::<Vec<_>>(), acted, "{carrier:?} {path} {fields:?}: {seen}");
            assert_eq!(answer.matches("\r\nx-answered: yes\r\n").count(), 1, "{carrier:?}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_target_and_a_field_are_put_together_out_of_what_the_client_says() {
    let actions = [
        ("url", "replace", "HTTP.REQ.URL", r#""/v2" + HTTP.REQ.URL + "&by=" + HTTP.REQ.HEADER("X-By")"#),
        ("copy", "insert_http_header", "X-Copy", r#"HTTP.REQ.HEADER("X-By") + "@" + CLIENT.IP.SRC"#),
        ("none", "insert_http_header", "X-None", r#""<" + HTTP.REQ.COOKIE.VALUE("none") + ">""#),
    ];
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let server = Server::http("a").await;
        let mut text = format!(
            "schema = 1\n[service.a]\ntype = \"HTTP\"\naddress = \"{}\"\n\
             [vserver.web]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\nservices = [\"a\"]\nrewrite_policies = {{ \
             url = {{ priority = 1, goto = \"NEXT\" }}, copy = {{ priority = 2, goto = \"NEXT\" }}, none = 3 }}\n",
            server.at
        );
        for (name, kind, target, value) in actions {
            write!(text, "[rewrite_action.{name}]\ntype = \"{kind}\"\ntarget = \"{target}\"\nvalue = '{value}'\n")
                .expect("text");
            write!(text, "[rewrite_policy.{name}]\nrule = \"true\"\naction = \"{name}\"\n").expect("text");
        }
        let world = World::through(loaded(text), carrier).await;
        get(world.vip("web"), "/a?b=c", "X-By: me & you\r\n").await;
        let seen = server.seen();
        assert!(seen.contains("GET /v2/a?b=c&by=me%20&%20you HTTP/1.1\r\n"), "{carrier:?}: {seen}");
        let lower = seen.to_ascii_lowercase();
        assert!(lower.contains("\r\nx-copy: me & you@127.0.0.1\r\n"), "{carrier:?}: {seen}");
        assert!(lower.contains("\r\nx-none: <>\r\n"), "{carrier:?}: {seen}");
    }
}
