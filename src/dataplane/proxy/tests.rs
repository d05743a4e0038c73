use super::*;

fn header(version: ProxyProtocol, (source, destination, tls): (&str, &str, Option<TlsInfo>)) -> Vec<u8> {
    super::header(version, (source.parse().unwrap(), destination.parse().unwrap()), tls.as_ref())
}

fn back(header: &[u8]) -> Told {
    match header.strip_prefix(&SIGNATURE[..]) {
        Some(&[0x21, family, _, _, ref block @ ..]) => parse_v2(1, family, block).unwrap(),
        Some(_) => panic!("not a header"),
        None => parse_v1(header).unwrap(),
    }
}

#[test]
fn what_is_written_is_read_back() {
    let tls = TlsInfo {
        server_name: Some("a.test".into()),
        http2: false,
        version: TlsVersion::V1_3,
        resumed: false,
        session: None,
    };
    for (source, destination) in [("192.0.2.1:1", "198.51.100.1:443"), ("[2001:db8::1]:65535", "[2001:db8::2]:80")] {
        for version in [ProxyProtocol::V1, ProxyProtocol::V2] {
            for tls in [None, Some(tls.clone())] {
                let told = back(&header(version, (source, destination, tls))).unwrap();
                assert_eq!(told, (source.parse().unwrap(), destination.parse().unwrap()));
            }
        }
    }
    let line = header(ProxyProtocol::V1, ("[::ffff:192.0.2.1]:9", "198.51.100.1:443", None));
    assert_eq!(line, b"PROXY TCP4 192.0.2.1 198.51.100.1 9 443\r\n");
    let mixed = back(&header(ProxyProtocol::V2, ("192.0.2.1:9", "[2001:db8::2]:80", None))).unwrap();
    assert_eq!(mixed.0, "[::ffff:192.0.2.1]:9".parse().unwrap());
}

#[test]
fn lines_that_are_not_exactly_right_are_refused() {
    for good in ["PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"] {
        assert_eq!(parse_v1(good.as_bytes()), Ok(None), "{good:?}");
    }
    let bad = [
        "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 +1 2\r\n",
        "PROXY TCP4  192.0.2.1 192.0.2.2 1 2\r\n",
        "PROXY TCP4 192.0.2.01 192.0.2.2 1 2\r\n",
        "PROXY TCP4 2001:db8::1 192.0.2.2 1 2\r\n",
        "PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n",
        "PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n",
        "PROXY tcp4 192.0.2.1 192.0.2.2 1 2\r\n",
        "PROXY\r\n",
    ];
    for line in bad {
        assert!(parse_v1(line.as_bytes()).is_err(), "{line:?}");
    }
}

#[test]
fn blocks_that_are_not_exactly_right_are_refused() {
    let v4 = [192, 0, 2, 1, 192, 0, 2, 2, 0, 1, 0, 2];
    let with = |more: &[u8]| [&v4[..], more].concat();
    assert!(parse_v2(1, 0x11, &v4).unwrap().is_some());
    assert!(parse_v2(1, 0x11, &with(&[4, 0, 1, 9])).unwrap().is_some());
    assert_eq!(parse_v2(0, 0x11, &v4), Ok(None), "LOCAL");
    assert_eq!(parse_v2(0, 0x00, &[]), Ok(None), "LOCAL");
    assert_eq!(parse_v2(1, 0x00, &v4), Ok(None), "UNSPEC");
    for (command, family, block) in [
        (2, 0x11, v4.to_vec()),
        (1, 0x12, v4.to_vec()),
        (1, 0x31, v4.to_vec()),
        (1, 0x11, v4[..11].to_vec()),
        (1, 0x21, v4.to_vec()),
        (1, 0x11, with(&[4, 0])),
        (1, 0x11, with(&[4, 0, 2, 9])),
    ] {
        assert!(parse_v2(command, family, &block).is_err(), "{command} {family:#x} {block:?}");
    }
}
