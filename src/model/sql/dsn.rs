//! `[tcps://]HOST[:PORT]/DATABASE`, the form of Oracle's easy connect, for databases that we connect to ourselves.

use super::Dialect;
use crate::model::check::{Host, Target};

#[derive(Clone, Debug, PartialEq)]
pub struct Dsn {
    pub target: Target,
    /// TLS, verified against the system's roots.
    pub tls: bool,
    pub database: String,
}

// === impl Dsn ===

impl Dsn {
    /// Errors: it is none, and why.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Dsn, String> {
        let wrong = |why: &str| format!("the dsn `{text}` {why}; the form is [tcps://]HOST[:PORT]/DATABASE");
        let (tls, rest) = match text.split_once("://") {
            Some(("tcps", rest)) => (true, rest),
            Some(("tcp", rest)) => (false, rest),
            Some(_) => return Err(wrong("begins with neither tcp:// nor tcps://")),
            None => (false, text),
        };
        let (place, database) = rest.split_once('/').ok_or_else(|| wrong("names no database"))?;
        if database.is_empty() || database.contains(['/', '?', '\0']) {
            return Err(wrong("names no database"));
        }
        let (host, port) = match place.strip_prefix('[') {
            Some(inside) => {
                let (host, rest) = inside.split_once(']').ok_or_else(|| wrong("has a bracket without an end"))?;
                (host, rest.strip_prefix(':').or_else(|| rest.is_empty().then_some("")))
            }
            None => place.split_once(':').map_or((place, Some("")), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            Some("") if !place.ends_with(':') => dialect.port(),
            Some(port) => port.parse().ok().filter(|&port| port > 0).ok_or_else(|| wrong("has no such port"))?,
            None => return Err(wrong("has no port after the bracket")),
        };
        let host = match host.parse() {
            Ok(ip) => Host::Ip(ip),
            Err(_) if host.is_empty() || host.contains([':', '@', ' ']) => return Err(wrong("names no host")),
            Err(_) => Host::Name(host.into()),
        };
        Ok(Dsn { target: Target::at(host, port), tls, database: database.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_ports_and_databases_are_read_and_what_is_no_dsn_is_said() {
        let parse = |text| Dsn::parse(text, Dialect::Postgresql);
        let dsn = parse("db.example.net/orders").unwrap();
        assert_eq!((&*dsn.target.host.to_string(), dsn.target.port, dsn.tls), ("db.example.net", 5432, false));
        assert_eq!(dsn.database, "orders");
        let dsn = parse("tcps://[2001:db8::1]:6000/orders").unwrap();
        assert_eq!((&*dsn.target.host.to_string(), dsn.target.port, dsn.tls), ("2001:db8::1", 6000, true));
        assert_eq!(Dsn::parse("tcp://192.0.2.1/x", Dialect::Mysql).unwrap().target.port, 3306);
        for wrong in
            ["", "db", "db/", "db:/x", "db:0/x", "db:99999/x", "/x", "http://db/x", "[::1/x", "a@b/x", "db/a/b"]
        {
            assert!(parse(wrong).unwrap_err().contains("the form is"), "{wrong}");
        }
    }
}
