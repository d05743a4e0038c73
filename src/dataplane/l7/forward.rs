//! What the server learns about the client.

use std::net::IpAddr;

use crate::model::id::Name;
use crate::model::service::Service;
use crate::model::vserver::Vserver;

/// A field that tells the server the client's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientField {
    /// NetScaler's `cip`: replaces whatever the client sent under this name.
    Replace { name: Name, value: String },
    /// X-Forwarded-For: what the client's proxies wrote, then the client.
    Append { value: String },
}

/// Which field, given the X-Forwarded-For fields of the request. A service with a header name of its own gets that one
/// instead of X-Forwarded-For.
pub fn client_field<'a>(
    vserver: &Vserver,
    service: &Service,
    client: IpAddr,
    forwarded_for: impl Iterator<Item = &'a str>,
) -> Option<ClientField> {
    let client = client.to_canonical().to_string();
    if let Some(name) = &service.settings.client_ip_header {
        return Some(ClientField::Replace { name: name.clone(), value: client });
    }
    if !vserver.forwarded.x_forwarded_for {
        return None;
    }
    let before: Vec<&str> = forwarded_for.map(str::trim).filter(|value| !value.is_empty()).collect();
    let value = if before.is_empty() { client } else { format!("{}, {client}", before.join(", ")) };
    Some(ClientField::Append { value })
}

/// What a server may be told about a request, besides the client's address.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub client: IpAddr,
    /// The port that the client connected to.
    pub port: u16,
    pub tls: bool,
    /// The Host field as sent; empty where there was none.
    pub host: &'a str,
}

/// Every field that tells the server about the client. Each stands for all fields of its name (and for those that could
/// be taken for it), so that a client cannot forge it; lists keep what the client's proxies wrote before. `sent` gives
/// the values of a field of the request.
pub fn fields<'a, I: Iterator<Item = &'a str>>(
    vserver: &Vserver,
    service: &Service,
    about: &About<'_>,
    sent: impl Fn(&'static str) -> I,
) -> Vec<(Name, String)> {
    let mut said = Vec::new();
    match client_field(vserver, service, about.client, sent("x-forwarded-for")) {
        Some(ClientField::Replace { name, value }) => said.push((name, value)),
        Some(ClientField::Append { value }) => said.push(("X-Forwarded-For".into(), value)),
        None => {}
    }
    let proto = if about.tls { "https" } else { "http" };
    if vserver.forwarded.x_forwarded {
        said.push(("X-Forwarded-Proto".into(), proto.into()));
        said.push(("X-Forwarded-Port".into(), about.port.to_string()));
        if !about.host.is_empty() {
            said.push(("X-Forwarded-Host".into(), about.host.into()));
        }
    }
    if vserver.forwarded.forwarded {
        let client = match about.client.to_canonical() {
            IpAddr::V4(v4) => v4.to_string(),
            IpAddr::V6(v6) => format!("\"[{v6}]\""),
        };
        let host = if about.host.is_empty() { String::new() } else { format!(";host=\"{}\"", about.host) };
        let mut list: Vec<&str> = sent("forwarded").map(str::trim).filter(|value| !value.is_empty()).collect();
        let ours = format!("for={client};proto={proto}{host}");
        list.push(&ours);
        said.push(("Forwarded".into(), list.join(", ")));
    }
    said
}

/// Whether a server may take `field` for `name` although it is another: gateways that hand fields on as variables (CGI,
/// WSGI, FastCGI) write `-` and `_` alike, so that a client could forge what we say under the one name under the other.
pub fn is_look_alike(field: &str, name: &str) -> bool {
    let fold = |b: u8| if b == b'_' { b'-' } else { b.to_ascii_lowercase() };
    !field.eq_ignore_ascii_case(name) && field.bytes().map(fold).eq(name.bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::service::Protocol;
    use crate::model::vserver::Forwarded;

    #[test]
    fn proxies_before_us_stay_in_the_lists_and_what_is_set_cannot_be_forged() {
        let mut vserver = Vserver::new("web", Protocol::Ssl);
        vserver.forwarded = Forwarded { x_forwarded_for: true, x_forwarded: true, forwarded: true };
        let service = Service::new("web1", Protocol::Http, "192.0.2.1:80".parse().unwrap());
        let about = About { client: "2001:db8::1".parse().unwrap(), port: 443, tls: true, host: "a.test:443" };
        let sent = |name: &str| {
            let values: &[&str] = match name {
                "forwarded" => &["for=192.0.2.60;proto=http"],
                "x-forwarded-for" => &["192.0.2.60"],
                _ => &[],
            };
            values.iter().copied()
        };
        let said = fields(&vserver, &service, &about, sent);
        let said: Vec<(&str, &str)> = said.iter().map(|(name, value)| (&**name, value.as_str())).collect();
        assert_eq!(
            said,
            [
                ("X-Forwarded-For", "192.0.2.60, 2001:db8::1"),
                ("X-Forwarded-Proto", "https"),
                ("X-Forwarded-Port", "443"),
                ("X-Forwarded-Host", "a.test:443"),
                ("Forwarded", "for=192.0.2.60;proto=http, for=\"[2001:db8::1]\";proto=https;host=\"a.test:443\""),
            ]
        );
        vserver.forwarded = Forwarded { x_forwarded_for: false, x_forwarded: false, forwarded: false };
        assert!(fields(&vserver, &service, &about, sent).is_empty());
    }

    #[test]
    fn the_client_is_appended_or_stands_alone_under_the_name_the_service_wants() {
        let vserver = Vserver::new("web", Protocol::Http);
        let mut service = Service::new("web1", Protocol::Http, "192.0.2.1:80".parse().unwrap());
        let field = |vserver: &Vserver, service: &Service, before: &[&str]| {
            client_field(vserver, service, "::ffff:10.0.0.1".parse().unwrap(), before.iter().copied())
        };
        let appended = |value: &str| Some(ClientField::Append { value: value.into() });
        assert_eq!(field(&vserver, &service, &[]), appended("10.0.0.1"));
        assert_eq!(field(&vserver, &service, &["a, b", " c"]), appended("a, b, c, 10.0.0.1"));
        let silent =
            Vserver { forwarded: Forwarded { x_forwarded_for: false, ..vserver.forwarded.clone() }, ..vserver.clone() };
        assert_eq!(field(&silent, &service, &["a"]), None);
        service.settings.client_ip_header = Some("X-Client".into());
        let replaced = ClientField::Replace { name: "X-Client".into(), value: "10.0.0.1".into() };
        assert_eq!(field(&silent, &service, &["a"]), Some(replaced));
    }

    #[test]
    fn a_field_with_underscores_is_the_look_alike_of_one_with_hyphens_and_nothing_else_is() {
        assert!(is_look_alike("x_forwarded-FOR", "X-Forwarded-For"));
        assert!(is_look_alike("X-Client", "X_Client"));
        for other in ["X-Forwarded-For", "x-forwarded-for", "X_Forwarded_Fo", "XForwardedFor"] {
            assert!(!is_look_alike(other, "X-Forwarded-For"), "{other}");
        }
    }
}
