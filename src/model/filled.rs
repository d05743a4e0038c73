//! What a rule fills in where a value says `{…}`.

/// A part of the request, by what stands between the braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled<'a> {
    /// `{path}`: as sent, without the query.
    Path,
    /// `{query}`: as sent, without its `?`.
    Query,
    /// `{url}`: path and query as sent.
    Url,
    /// `{host}`: the Host field as sent, with its port.
    Host,
    /// `{hostname}`: without.
    Hostname,
    /// `{client}`: the address.
    Client,
    /// `{port}`: that the client connected to.
    Port,
    /// `{method}`
    Method,
    /// `{sni}`: the server name of the TLS handshake; empty where there is none, as are those below.
    ServerName,
    /// `{header:NAME}`: all fields of this name, joined as one.
    Header(&'a str),
    /// `{cookie:NAME}`: the first of this name, as sent.
    Cookie(&'a str),
    /// `{query:NAME}`: the first parameter of the query with this name, as sent.
    Parameter(&'a str),
}

/// All of them, for messages.
pub const KNOWN: &str = "`{path}`, `{query}`, `{url}`, `{host}`, `{hostname}`, `{client}`, `{port}`, `{method}`, `{sni}`, \
                         `{header:NAME}`, `{cookie:NAME}` and `{query:NAME}`";

/// Bytes between two braces, at most.
const NAME_MOST: usize = 128;

// === impl Filled ===

impl<'a> Filled<'a> {
    /// What stands between two braces; `None`: nothing is filled in there.
    pub fn parse(text: &'a str) -> Option<Filled<'a>> {
        Some(match text {
            "path" => Filled::Path,
            "query" => Filled::Query,
            "url" => Filled::Url,
            "host" => Filled::Host,
            "hostname" => Filled::Hostname,
            "client" => Filled::Client,
            "port" => Filled::Port,
            "method" => Filled::Method,
            "sni" => Filled::ServerName,
            _ => {
                let (kind, name) = text.split_once(':')?;
                let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
                let is_name = match kind {
                    "query" => name.bytes().all(|b| b.is_ascii_graphic() && !b"{}&=#".contains(&b)),
                    _ => name.bytes().all(is_token),
                };
                match kind {
                    _ if name.is_empty() || !is_name => return None,
                    "header" => Filled::Header(name),
                    "cookie" => Filled::Cookie(name),
                    "query" => Filled::Parameter(name),
                    _ => return None,
                }
            }
        })
    }

    /// The first in a text: where its brace opens, and where what follows begins.
    pub fn find(text: &'a str) -> Option<(usize, usize, Filled<'a>)> {
        text.match_indices('{').find_map(|(open, _)| {
            let length = text.as_bytes()[open + 1..].iter().take(NAME_MOST + 1).position(|b| *b == b'}')?;
            let end = open + 1 + length;
            Some((open, end + 1, Filled::parse(&text[open + 1..end])?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_braces_are_found_behind_others() {
        assert_eq!(Filled::find("{ {x} {header:X-A}{url}"), Some((6, 18, Filled::Header("X-A"))));
        assert_eq!(Filled::find("{query:a%20b}"), Some((0, 13, Filled::Parameter("a%20b"))));
        for none in ["", "{", "{}", "{header:}", "{header:a b}", "{cookie:a=b}", "{body:x}", "{ url }", "ü{ü}"] {
            assert_eq!(Filled::find(none), None, "{none}");
        }
        let long = format!("{{query:{}}}", "x".repeat(NAME_MOST));
        assert_eq!(Filled::find(&long), None);
    }
}
