//! What the server learns about the client.

use std::net::IpAddr;

use crate::model::id::Name;
use crate::model::service::Service;
use crate::model::vserver::Vserver;

/// The fields that tell the server the client's address: NetScaler's `cip`, under the name that the service wants, which
/// replaces whatever the client sent under it; and X-Forwarded-For, which keeps what the client's proxies wrote and ends
/// with the client. Where `cip` has that name it alone counts.
fn client_fields<'a>(
    vserver: &Vserver,
    service: &Service,
    client: IpAddr,
    forwarded_for: impl Iterator<Item = &'a str>,
) -> Vec<(Name, String)> {
    const LIST: &str = "X-Forwarded-For";
    let client = text_of(client);
    let own = service.settings.client_ip_header.clone();
    let has_list = vserver.forwarded.x_forwarded_for && !own.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(LIST));
    let mut said: Vec<(Name, String)> = own.into_iter().map(|name| (name, client.clone())).collect();
    if has_list {
        let before: Vec<&str> = forwarded_for.map(str::trim).filter(|value| !value.is_empty()).collect();
        let value = if before.is_empty() { client } else { format!("{}, {client}", before.join(", ")) };
        said.push((LIST.into(), value));
    }
    said
}

/// The address as text; by hand for IPv4, as it goes into nearly every request.
fn text_of(client: IpAddr) -> String {
    let IpAddr::V4(v4) = client.to_canonical() else { return client.to_string() };
    let mut text = String::with_capacity(15);
    for (place, octet) in v4.octets().into_iter().enumerate() {
        if place > 0 {
            text.push('.');
        }
        let digit = |by: u8| char::from(b'0' + octet / by % 10);
        if octet >= 100 {
            text.push(digit(100));
        }
        if octet >= 10 {
            text.push(digit(10));
        }
        text.push(digit(1));
    }
    text
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
    let mut said = client_fields(vserver, service, about.client, sent("x-forwarded-for"));
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
    fn the_client_ends_the_list_whether_or_not_the_service_wants_it_under_a_name_of_its_own() {
        let vserver = Vserver::new("web", Protocol::Http);
        let mut service = Service::new("web1", Protocol::Http, "192.0.2.1:80".parse().unwrap());
        let fields = |vserver: &Vserver, service: &Service, before: &[&str]| {
            let said = client_fields(vserver, service, "::ffff:10.0.0.1".parse().unwrap(), before.iter().copied());
            said.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
        };
        assert_eq!(fields(&vserver, &service, &[]), ["X-Forwarded-For: 10.0.0.1"]);
        assert_eq!(fields(&vserver, &service, &["a, b", " c"]), ["X-Forwarded-For: a, b, c, 10.0.0.1"]);
        let silent =
            Vserver { forwarded: Forwarded { x_forwarded_for: false, ..vserver.forwarded.clone() }, ..vserver.clone() };
        assert!(fields(&silent, &service, &["a"]).is_empty());
        service.settings.client_ip_header = Some("X-Client".into());
        assert_eq!(fields(&silent, &service, &["a"]), ["X-Client: 10.0.0.1"]);
        // What a client wrote alone would be taken for the truth.
        assert_eq!(
            fields(&vserver, &service, &["6.6.6.6"]),
            ["X-Client: 10.0.0.1", "X-Forwarded-For: 6.6.6.6, 10.0.0.1"]
        );
        service.settings.client_ip_header = Some("x-forwarded-for".into());
        assert_eq!(fields(&vserver, &service, &["6.6.6.6"]), ["x-forwarded-for: 10.0.0.1"]);
    }

    #[test]
    fn an_address_is_written_as_everybody_writes_it() {
        for octet in 0..=255_u8 {
            let address = std::net::Ipv4Addr::new(octet, 255 - octet, 0, octet / 3);
            assert_eq!(text_of(address.into()), address.to_string());
            assert_eq!(text_of(address.to_ipv6_mapped().into()), address.to_string());
        }
        assert_eq!(text_of("2001:db8::1".parse().unwrap()), "2001:db8::1");
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
