//! Values of the request in what rules write: `{path}`, `{header:X-Id}` and what else [`Filled`] names.

use std::borrow::Cow;

use super::Request;
use super::criteria::{fields, parameter, query_string};
use crate::model::filled::Filled;

/// One pass, so that a brace in what is put in is not replaced again; other braces stay.
pub(super) fn fill_in(template: &str, request: &Request<'_>) -> String {
    fill_in_with(template, request, str::to_owned)
}

/// The same for a body of this media type, in which a value must not become anything but text: it is escaped for HTML,
/// XML and strings of JSON. What is no text stays as it is.
pub(super) fn fill_body(body: &[u8], media_type: &str, request: &Request<'_>) -> Vec<u8> {
    let Some(template) = std::str::from_utf8(body).ok().filter(|text| text.contains('{')) else { return body.to_vec() };
    let media_type = media_type.to_ascii_lowercase();
    let markup = ["html", "xml"].iter().any(|word| media_type.contains(word));
    let escape = |value: &str| match markup {
        true => value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
        false => {
            let quoted = serde_json::Value::from(value).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }
    };
    let escapes = markup || media_type.contains("json") || media_type.contains("script");
    let filled = fill_in_with(template, request, |value| match escapes {
        true => escape(value).replace('\'', if markup { "&#39;" } else { "\\u0027" }),
        false => value.to_owned(),
    });
    filled.into_bytes()
}

/// As [`fill_in`], with each value written by `encoded`.
pub(super) fn fill_in_with(template: &str, request: &Request<'_>, encoded: impl Fn(&str) -> String) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((open, end, what)) = Filled::find(rest) {
        filled.push_str(&rest[..open]);
        filled.push_str(&encoded(&value(what, request)));
        rest = &rest[end..];
    }
    filled.push_str(rest);
    filled
}

fn value<'r>(what: Filled<'_>, request: &Request<'r>) -> Cow<'r, str> {
    match what {
        Filled::Path => request.target.split('?').next().unwrap_or_default().into(),
        Filled::Query => query_string(request.target).into(),
        Filled::Url => request.target.into(),
        Filled::Host => request.host.into(),
        Filled::Hostname => without_port(request.host).into(),
        Filled::Client => request.client.to_canonical().to_string().into(),
        Filled::Port => request.port.to_string().into(),
        Filled::Method => request.method.into(),
        Filled::ServerName => request.server_name.unwrap_or_default().into(),
        Filled::Header(name) if name.eq_ignore_ascii_case("host") => request.host.into(),
        Filled::Header(name) => {
            // HTTP/2 may cut cookies into several fields (RFC 9113 §8.2.3).
            let between = if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " };
            let all: Vec<_> = fields(request.fields, name).map(String::from_utf8_lossy).collect();
            all.join(between).into()
        }
        Filled::Cookie(name) => {
            let pairs = fields(request.fields, "cookie").flat_map(|field| field.split(|&b| b == b';'));
            let of_name = |pair: &[u8]| {
                let pair = String::from_utf8_lossy(pair.trim_ascii());
                pair.split_once('=').filter(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
            };
            pairs.into_iter().find_map(of_name).unwrap_or_default().into()
        }
        Filled::Parameter(name) => {
            let mut pairs = query_string(request.target).split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(found, _)| parameter(found) == name).map_or("", |(_, value)| value).into()
        }
    }
}

fn without_port(host: &str) -> &str {
    let end = match host.starts_with('[') {
        true => host.find(']').map_or(host.len(), |at| at + 1),
        false => host.find(':').unwrap_or(host.len()),
    };
    &host[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Request<'_> = Request {
        method: "GET",
        target: "/a'<b>?q=\"1\"&{path}",
        host: "www.test:80",
        fields: &[],
        client: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        port: 80,
        tls: false,
        server_name: None,
    };

    #[test]
    fn known_braces_are_replaced_once_and_others_stay() {
        let filled = fill_in("{url} {path} {query} {host} {client} {other} {", &ASKED);
        assert_eq!(filled, "/a'<b>?q=\"1\"&{path} /a'<b> q=\"1\"&{path} www.test:80 127.0.0.1 {other} {");
        assert_eq!(fill_in("{hostname}", &ASKED), "www.test");
        assert_eq!(fill_in("{hostname}", &Request { host: "[::1]:80", ..ASKED }), "[::1]");
        let plain = Request { target: "/a", ..ASKED };
        assert_eq!(fill_in("https://x{url}", &plain), "https://x/a", "no question mark where there was none");
    }

    #[test]
    fn fields_cookies_and_parameters_are_filled_in_as_they_were_sent_and_nothing_where_there_are_none() {
        let fields: [(&str, &[u8]); 4] =
            [("X-Id", b"7"), ("x-id", b"8 {url}"), ("Cookie", b"a=1; b=\"2\""), ("cookie", b"c=3")];
        let asked = Request {
            fields: &fields,
            server_name: Some("sni.test"),
            ..Request { target: "/p?a=x%20y&a=z&b", ..ASKED }
        };
        let filled = |text| fill_in(text, &asked);
        assert_eq!(filled("<{header:X-ID}>"), "<7, 8 {url}>");
        assert_eq!(filled("{cookie:b} {cookie:c}"), "\"2\" 3");
        assert_eq!(filled("{header:cookie}"), "a=1; b=\"2\"; c=3");
        assert_eq!(filled("{query:a} {method} {port} {sni} {header:Host}"), "x%20y GET 80 sni.test www.test:80");
        assert_eq!(filled("<{header:none}{cookie:none}{query:none}{query:b}>"), "<>");
    }

    #[test]
    fn in_a_body_a_value_is_text_whatever_the_body_is() {
        let body = |media_type| String::from_utf8(fill_body(b"<p>{path}</p> {\"a\": 1}", media_type, &ASKED)).unwrap();
        assert_eq!(body("text/plain"), "<p>/a'<b></p> {\"a\": 1}");
        assert_eq!(body("text/html; charset=utf-8"), "<p>/a&#39;&lt;b&gt;</p> {\"a\": 1}");
        let json = fill_body(b"{\"query\": \"{query}\"}", "application/json", &ASKED);
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["query"], "q=\"1\"&{path}");
        assert_eq!(fill_body(b"\xff{path}", "text/plain", &ASKED), b"\xff{path}");
    }
}
