//! Server cookies as RFC 9018 has them, so that any servers behind one address that share a key accept each other's:
//! version 1, a time, and SipHash-2-4 over what both sides know.
//!
//! A good cookie proves that the client can read what is sent to its address. Such clients are not limited; all others
//! are answered too, with a cookie to come back with (RFC 7873 §5.2.3).

use std::net::IpAddr;

use siphasher::sip::SipHasher24;

use super::wire::Cookie;
use crate::model::dns::Cookies;
use crate::snapshot::Snapshot;

/// A cookie is good for an hour, and five minutes ahead of our clock (RFC 9018 §4.3). Seconds.
const OLDEST: i32 = 3_600;
const AHEAD: i32 = 300;
/// From here on a good cookie is replaced by a new one. Seconds.
const AGEING: i32 = 1_800;

/// What is given back to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The whole option.
    pub reply: [u8; 24],
    /// The client's cookie was ours.
    pub good: bool,
}

/// `None`: cookies are off. `now`: seconds since 1970; they wrap as serial numbers do (RFC 1982).
pub fn judge(snapshot: &Snapshot, cookie: &Cookie, client: IpAddr, now: u32) -> Option<Verdict> {
    match &snapshot.model.dns.cookies {
        Cookies::Off => None,
        Cookies::Generated => judge_with(std::iter::once(snapshot.dns.cookie_key()), cookie, client, now),
        Cookies::Keys(keys) => judge_with(keys.iter().map(|key| &key.key), cookie, client, now),
    }
}

/// The first key makes cookies, all are accepted.
fn judge_with<'k>(
    mut keys: impl Iterator<Item = &'k [u8; 16]>,
    cookie: &Cookie,
    client: IpAddr,
    now: u32,
) -> Option<Verdict> {
    let first = keys.next()?;
    let fresh = Verdict { reply: make(first, cookie.client(), [1, 0, 0, 0], client, now), good: false };
    let Ok(server) = <[u8; 16]>::try_from(cookie.server()) else { return Some(fresh) };
    let head: [u8; 4] = server[..4].try_into().expect("four bytes");
    let made = u32::from_be_bytes(server[4..8].try_into().expect("four bytes"));
    let age = now.wrapping_sub(made) as i32;
    if head[0] != 1 || !(-AHEAD..=OLDEST).contains(&age) {
        return Some(fresh);
    }
    let is_of = |key: &[u8; 16]| make(key, cookie.client(), head, client, made)[8..] == server;
    if is_of(first) {
        let reply = if age < AGEING && head == [1, 0, 0, 0] {
            make(first, cookie.client(), head, client, made)
        } else {
            fresh.reply
        };
        return Some(Verdict { reply, good: true });
    }
    Some(Verdict { good: keys.any(is_of), ..fresh })
}

fn make(key: &[u8; 16], client_cookie: [u8; 8], head: [u8; 4], client: IpAddr, time: u32) -> [u8; 24] {
    let mut cookie = [0; 24];
    cookie[..8].copy_from_slice(&client_cookie);
    cookie[8..12].copy_from_slice(&head);
    cookie[12..16].copy_from_slice(&time.to_be_bytes());
    let mut input = [0; 32];
    input[..16].copy_from_slice(&cookie[..16]);
    let length = match client.to_canonical() {
        IpAddr::V4(v4) => {
            input[16..20].copy_from_slice(&v4.octets());
            20
        }
        IpAddr::V6(v6) => {
            input[16..].copy_from_slice(&v6.octets());
            32
        }
    };
    let hash = SipHasher24::new_with_key(key).hash(&input[..length]);
    cookie[16..].copy_from_slice(&hash.to_le_bytes());
    cookie
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        let bytes: Vec<u8> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
        bytes.try_into().unwrap()
    }

    fn judged(keys: &[[u8; 16]], cookie: &[u8], client: &str, now: u32) -> Verdict {
        let cookie = Cookie::new(cookie).unwrap();
        judge_with(keys.iter(), &cookie, client.parse().unwrap(), now).unwrap()
    }

    const KEY: &str = "e5e973e5a6b2a43f48e7dc849e37bfcf";

    #[test]
    fn cookies_are_those_of_the_examples_of_rfc_9018() {
        let (key, old, new) = (hex(KEY), "dd3bdf9344b678b185a6f5cb60fca715", "445536bcd2513298075a5d379663c962");
        // A.1: learning a cookie; A.2: it is ageing, and replaced.
        let first = judged(&[key], &hex::<8>("2464c4abcf10c957"), "198.51.100.100", 1_559_731_985);
        assert_eq!(first.reply, hex("2464c4abcf10c957010000005cf79f111f8130c3eee29480"));
        assert!(!first.good);
        let again = judged(&[key], &first.reply, "198.51.100.100", 1_559_731_985 + 1_000);
        assert_eq!(again, Verdict { good: true, ..first });
        let second = judged(&[key], &first.reply, "198.51.100.100", 1_559_734_385);
        assert_eq!(second, Verdict { reply: hex("2464c4abcf10c957010000005cf7a871d4a564a1442aca77"), good: true });
        // A.3: reserved bytes that are not zero are hashed as they came, and the next cookie has none.
        let reserved: [u8; 24] = hex("fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5");
        assert!(judged(&[key], &reserved, "203.0.113.203", 1_559_727_985).good);
        let third = judged(&[key], &reserved, "203.0.113.203", 1_559_734_700);
        assert_eq!(third.reply, hex("fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e"));
        // A.4: IPv6, and a key that is rolled over.
        let before: [u8; 24] = hex("22681ab97d52c298010000005cf7c57926556bd0934c72f8");
        let fourth = judged(&[hex(new), hex(old)], &before, "2001:db8:220:1:59de:d0f4:8769:82b8", 1_559_741_961);
        assert_eq!(fourth, Verdict { reply: hex("22681ab97d52c298010000005cf7c609a6bb79d16625507a"), good: true });
    }

    #[test]
    fn a_cookie_is_of_one_client_one_key_and_one_hour() {
        let key = hex(KEY);
        let made = judged(&[key], &[7; 8], "192.0.2.1", 1_000_000).reply;
        let good = |keys: &[[u8; 16]], client: &str, now: u32| judged(keys, &made, client, now).good;
        assert!(good(&[key], "192.0.2.1", 1_000_000));
        assert!(good(&[key], "::ffff:192.0.2.1", 1_000_000));
        assert!(good(&[[9; 16], key], "192.0.2.1", 1_003_600));
        assert!(good(&[key], "192.0.2.1", 999_700));
        assert!(!good(&[key], "192.0.2.2", 1_000_000));
        assert!(!good(&[[9; 16]], "192.0.2.1", 1_000_000));
        assert!(!good(&[key], "192.0.2.1", 1_003_601));
        assert!(!good(&[key], "192.0.2.1", 999_699));
        let aged = judged(&[key], &made, "192.0.2.1", 1_001_800);
        assert!(aged.good && aged.reply != made, "an old cookie is good and is replaced");
        let mut forged = made;
        forged[23] ^= 1;
        assert!(!judged(&[key], &forged, "192.0.2.1", 1_000_000).good);
    }
}
