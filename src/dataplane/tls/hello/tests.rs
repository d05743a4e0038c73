use std::sync::Arc;

use rustls::{ClientConfig, ClientConnection, RootCertStore};
use rustls_pki_types::ServerName;

use super::*;

/// What rustls sends first.
fn hello(name: &str, versions: &[&'static rustls::SupportedProtocolVersion]) -> Vec<u8> {
    let builder = ClientConfig::builder_with_provider(crate::dataplane::tls::provider());
    let config = builder.with_protocol_versions(versions).unwrap().with_root_certificates(RootCertStore::empty());
    let config = Arc::new(config.with_no_client_auth());
    let mut client = ClientConnection::new(config, ServerName::try_from(name.to_owned()).unwrap()).unwrap();
    let mut sent = Vec::new();
    while client.wants_write() {
        client.write_tls(&mut sent).unwrap();
    }
    sent
}

/// The same message in records of at most `size` bytes.
fn in_records_of(sent: &[u8], size: usize) -> Vec<u8> {
    let mut cut = Vec::new();
    for piece in sent[5..].chunks(size) {
        cut.extend_from_slice(&[22, 3, 1]);
        cut.extend_from_slice(&(piece.len() as u16).to_be_bytes());
        cut.extend_from_slice(piece);
    }
    cut
}

#[test]
fn name_and_version_are_told_however_the_bytes_come() {
    for (versions, version) in [
        (&[&rustls::version::TLS13, &rustls::version::TLS12][..], TlsVersion::V1_3),
        (&[&rustls::version::TLS12][..], TlsVersion::V1_2),
    ] {
        let whole = hello("WWW.Example.test", versions);
        for bytes in [whole.clone(), in_records_of(&whole, 1), in_records_of(&whole, 60)] {
            for end in 0..bytes.len() {
                assert_eq!(parse(&bytes[..end]), Ok(None), "{end} of {} bytes", bytes.len());
            }
            let found = parse(&bytes).unwrap().unwrap();
            assert_eq!(found.server_name.as_deref(), Some("www.example.test"));
            assert_eq!(found.version, version);
            assert_eq!(found.session, None);
        }
    }
    assert_eq!(parse(&hello("192.0.2.1", &[&rustls::version::TLS12])).unwrap().unwrap().server_name, None);
}

/// A ClientHello of TLS 1.2 with these extensions, in one record.
fn made(session_id: &[u8], extensions: &[(u16, &[u8])]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend_from_slice(&[7; 32]);
    body.push(session_id.len() as u8);
    body.extend_from_slice(session_id);
    body.extend_from_slice(&[0, 2, 0x13, 1, 1, 0]);
    let mut all = Vec::new();
    for (kind, data) in extensions {
        all.extend_from_slice(&kind.to_be_bytes());
        all.extend_from_slice(&(data.len() as u16).to_be_bytes());
        all.extend_from_slice(data);
    }
    body.extend_from_slice(&(all.len() as u16).to_be_bytes());
    body.extend_from_slice(&all);
    let mut message = vec![1, 0, (body.len() >> 8) as u8, body.len() as u8];
    message.extend_from_slice(&body);
    let mut record = vec![22, 3, 1, (message.len() >> 8) as u8, message.len() as u8];
    record.extend_from_slice(&message);
    record
}

fn session(bytes: &[u8]) -> Option<Vec<u8>> {
    parse(bytes).unwrap().unwrap().session
}

#[test]
fn a_session_is_known_by_its_id_or_its_ticket_and_not_by_the_random_id_of_tls_1_3() {
    assert_eq!(session(&made(&[9; 32], &[])), Some(vec![9; 32]));
    assert_eq!(session(&made(&[9; 32], &[(43, &[2, 3, 4])])), None);
    assert_eq!(session(&made(&[9; 32], &[(35, b"")])), Some(vec![9; 32]));
    let ticket = session(&made(&[9; 32], &[(35, b"ticket")]));
    assert!(ticket.is_some() && ticket == session(&made(&[1; 32], &[(35, b"ticket")])));
    assert_ne!(ticket, session(&made(&[9; 32], &[(35, b"another")])));
    let psk: &[u8] = &[0, 12, 0, 6, b't', b'i', b'c', b'k', b'e', b't', 0, 0, 0, 0, 0, 33];
    assert_eq!(session(&made(&[2; 32], &[(43, &[2, 3, 4]), (41, psk)])), ticket);
}

#[test]
fn what_is_not_a_client_hello_is_told_apart_at_once() {
    let good = made(&[], &[(0, &[0, 6, 0, 0, 3, b'a', b'.', b'b'])]);
    assert_eq!(parse(&good).unwrap().unwrap().server_name.as_deref(), Some("a.b"));
    let mut trailing = good.clone();
    trailing[4] += 1;
    trailing.push(0);
    let cases: &[(&[u8], &str)] = &[
        (b"GET / HTTP/1.1\r\n", "not TLS"),
        (&[22, 2], "not a version of TLS"),
        (&[22, 3, 1, 0, 0], "a record of a length that cannot be"),
        (&[22, 3, 1, 0x40, 1], "a record of a length that cannot be"),
        (&[22, 3, 1, 0, 1, 2], "not a ClientHello"),
        (&[22, 3, 1, 0, 4, 1, 2, 0, 0], "ClientHello too long"),
        (&trailing, "bytes after the ClientHello"),
        (&made(&[0; 33], &[]), "malformed ClientHello"),
        (&made(&[], &[(35, b""), (35, b"")]), "an extension twice"),
        (&made(&[], &[(0, &[0, 4, 1, 0, 1, b'a'])]), "a server name of an unknown kind"),
        (&made(&[], &[(0, &[0, 4, 0, 0, 1, 0])]), "a server name that is not one"),
        (&made(&[], &[(0, &[0, 9, 0, 0, 1])]), "malformed ClientHello"),
    ];
    for (bytes, why) in cases {
        assert_eq!(parse(bytes).unwrap_err(), *why, "{bytes:?}");
    }
}
