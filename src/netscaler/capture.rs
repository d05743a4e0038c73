//! `nstrace`: what its filter means. An expression of NetScaler names a connection; here are the terms that a capture
//! knows, joined by `&&`. All others are refused, because a capture of other packets than were asked for is worse than
//! none.

use std::net::IpAddr;

/// Which packets a filter lets through; of each list any one will do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub vservers: Vec<String>,
    pub services: Vec<String>,
    /// At either end.
    pub addresses: Vec<IpAddr>,
    pub ports: Vec<u16>,
}

/// For whoever wrote another one.
const KNOWN: &str = "CONNECTION.IP.EQ(<address>) (also SRCIP, DSTIP), CONNECTION.PORT.EQ(<port>) (also SRCPORT, DSTPORT), \
                     CONNECTION.LB_VSERVER.NAME.EQ(\"<name>\"), CONNECTION.CS_VSERVER.NAME.EQ(\"<name>\"), \
                     CONNECTION.SVCNAME.EQ(\"<name>\"); of different kinds several, joined by &&";

// === impl Filter ===

impl Filter {
    /// Reads an expression; empty: everything. Errors: what is not known, and what is.
    pub fn parse(text: &str) -> Result<Filter, String> {
        let mut filter = Filter::default();
        if text.trim().is_empty() {
            return Ok(filter);
        }
        for term in terms(text)? {
            filter.take(term.trim())?;
        }
        Ok(filter)
    }

    fn take(&mut self, term: &str) -> Result<(), String> {
        let refused = || format!("`{term}` is not known in a filter; known are {KNOWN}");
        let (what, value) = term.split_once(".EQ(").or_else(|| term.split_once(".eq(")).ok_or_else(refused)?;
        let value = value.strip_suffix(')').ok_or_else(refused)?.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        if value.is_empty() || value.contains(['"', '(', ')']) {
            return Err(refused());
        }
        let what = what.trim().to_ascii_uppercase();
        let again = |is: bool| if is { Err(format!("`{term}`: of this kind one term at most")) } else { Ok(()) };
        match what.strip_prefix("CONNECTION.").unwrap_or(&what) {
            "IP" | "SRCIP" | "DSTIP" | "IPV6" | "SRCIPV6" | "DSTIPV6" => {
                again(!self.addresses.is_empty())?;
                self.addresses.push(value.parse().map_err(|_| format!("`{value}` is no address"))?);
            }
            "PORT" | "SRCPORT" | "DSTPORT" => {
                again(!self.ports.is_empty())?;
                self.ports.push(value.parse().map_err(|_| format!("`{value}` is no port"))?);
            }
            // Two names at once would be packets of both, and a capture takes those of either.
            "LB_VSERVER.NAME" | "CS_VSERVER.NAME" | "VSVRNAME" => {
                again(!self.vservers.is_empty() || !self.services.is_empty())?;
                self.vservers.push(value.to_owned());
            }
            "SVCNAME" | "SERVICE.NAME" => {
                again(!self.vservers.is_empty() || !self.services.is_empty())?;
                self.services.push(value.to_owned());
            }
            _ => return Err(refused()),
        }
        Ok(())
    }
}

/// What stands between `&&`, outside of quotes.
fn terms(text: &str) -> Result<Vec<&str>, String> {
    let (mut terms, mut begin, mut quoted) = (Vec::new(), 0, false);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => quoted = !quoted,
            b'&' if !quoted && bytes.get(at + 1) == Some(&b'&') => {
                terms.push(&text[begin..at]);
                begin = at + 2;
                at += 1;
            }
            b'|' | b'!' if !quoted => return Err(format!("`{text}`: terms are joined by && alone; known are {KNOWN}")),
            _ => {}
        }
        at += 1;
    }
    terms.push(&text[begin..]);
    Ok(terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_different_kinds_narrow_each_other() {
        let filter = Filter::parse("CONNECTION.LB_VSERVER.NAME.EQ(\"web\") && connection.srcip.eq(192.0.2.7)").unwrap();
        assert_eq!(filter.vservers, ["web"]);
        assert_eq!(filter.addresses, ["192.0.2.7".parse::<IpAddr>().unwrap()]);
        let filter = Filter::parse("CONNECTION.SVCNAME.EQ(\"a && b\")&&CONNECTION.DSTPORT.EQ(443)").unwrap();
        assert_eq!((&filter.services[..], &filter.ports[..]), (&["a && b".to_owned()][..], &[443][..]));
        assert_eq!(Filter::parse("  ").unwrap(), Filter::default());
    }

    #[test]
    fn what_would_take_other_packets_is_refused_with_what_is_known() {
        for wrong in [
            "CONNECTION.IP.EQ(192.0.2.7) || CONNECTION.IP.EQ(192.0.2.8)",
            "CONNECTION.IP.NE(192.0.2.7)",
            "!CONNECTION.IP.EQ(192.0.2.7)",
            "CONNECTION.INTF.EQ(\"1/1\")",
            "CONNECTION.IP.EQ(192.0.2.7",
            "sourceip == 192.0.2.7",
            "CONNECTION.IP.EQ(192.0.2.7) &&",
        ] {
            let told = Filter::parse(wrong).unwrap_err();
            assert!(told.contains("known are CONNECTION.IP.EQ"), "{wrong}: {told}");
        }
        assert!(Filter::parse("CONNECTION.PORT.EQ(http)").is_err());
        assert!(Filter::parse("CONNECTION.PORT.EQ(80) && CONNECTION.PORT.EQ(81)").is_err());
    }
}
