//! Values of the request in what rules write: `{path}` (as sent, without query), `{query}` (without `?`), `{url}` (both, as
//! sent), `{host}` (as sent, with port), `{hostname}` (without) and `{client}` (the address).

use super::Request;

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
    if !template.contains('{') {
        return template.to_owned();
    }
    let client = request.client.to_canonical().to_string();
    let (path, query) = request.target.split_once('?').unwrap_or((request.target, ""));
    let values = [
        ("{path}", path),
        ("{query}", query),
        ("{url}", request.target),
        ("{host}", request.host),
        ("{hostname}", without_port(request.host)),
        ("{client}", client.as_str()),
    ];
    let mut filled = String::with_capacity(template.len() + request.target.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                filled.push_str(&encoded(value));
                rest = &rest[name.len()..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
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
