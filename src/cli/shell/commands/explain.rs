//! Questions why something is as it is.

use serde_json::{Map, Value};

use super::super::grammar::Arguments;
use super::build::first;
use super::{Explained, Request};
use crate::cli::explain::{dns_path, service_path};

pub(super) fn explain_service(arguments: &Arguments) -> Result<Request, String> {
    Ok(Request::Explain { what: Explained::Service, path: service_path(&first(arguments)), body: None })
}

pub(super) fn explain_dns(arguments: &Arguments) -> Result<Request, String> {
    let rtype = arguments.positional(1).unwrap_or("A");
    let path = dns_path(&first(arguments), rtype, arguments.value("client")?, arguments.value("at")?);
    Ok(Request::Explain { what: Explained::Dns, path, body: None })
}

pub(super) fn explain_request(arguments: &Arguments) -> Result<Request, String> {
    let mut body = Map::new();
    body.insert("vserver".into(), first(arguments).into());
    if let Some(path) = arguments.positional(1) {
        body.insert("path".into(), path.into());
    }
    for (option, field) in [("method", "method"), ("host", "host"), ("client", "client"), ("serverName", "server_name")]
    {
        if let Some(value) = arguments.value(option)? {
            body.insert(field.into(), value.into());
        }
    }
    if let Some(line) = arguments.value("header")? {
        body.insert("headers".into(), vec![line].into());
    }
    let path = "/api/v1/explain/request".to_owned();
    Ok(Request::Explain { what: Explained::Request, path, body: Some(Value::Object(body)) })
}

#[cfg(test)]
mod tests {
    use super::super::super::request as parse;
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_to_be_explained_is_asked_for_as_by_the_commands_of_one_shot() {
        let asked = |what, path: &str, body| Ok(Some(Request::Explain { what, path: path.into(), body }));
        assert_eq!(parse("explain service a"), asked(Explained::Service, "/api/v1/explain/service?name=a", None));
        let dns = "/api/v1/explain/dns?name=www.example.test&type=";
        assert_eq!(parse("expl dns www.example.test"), asked(Explained::Dns, &format!("{dns}A"), None));
        assert_eq!(
            parse("explain dns www.example.test AAAA -client 192.0.2.1"),
            asked(Explained::Dns, &format!("{dns}AAAA&client=192.0.2.1"), None)
        );
        assert_eq!(
            parse("explain request web /x -host a.test -header \"X: 1\" -server sni.test"),
            asked(
                Explained::Request,
                "/api/v1/explain/request",
                Some(json!({
                    "vserver": "web", "path": "/x", "host": "a.test", "headers": ["X: 1"], "server_name": "sni.test",
                }))
            )
        );
    }
}
