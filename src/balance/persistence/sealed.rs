//! The encrypted COOKIEINSERT cookie: tells nobody which servers there are, and nobody can make or move one.
//!
//! The value is base64url of a random nonce of 12 bytes and AES-256-GCM over the time it expires (Unix seconds, 8 bytes
//! big-endian, 0: never) and the service's name, filled up to a multiple of 32 bytes so that its length tells little. The
//! name of the vserver (or lb group) is authenticated with it: a cookie of another vserver is no cookie.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

/// What a value can be long at most: a name of 255 bytes, filled up, and what is around it.
const VALUE_MAX_BYTES: usize = 512;
const BLOCK_BYTES: usize = 32;

/// The secret of one appliance, 32 bytes.
pub struct CookieKey {
    key: LessSafeKey,
    random: SystemRandom,
}

// === impl CookieKey ===

impl CookieKey {
    pub const BYTES: usize = 32;

    pub fn new(secret: &[u8; CookieKey::BYTES]) -> CookieKey {
        let key = UnboundKey::new(&AES_256_GCM, secret).expect("AES-256 takes 32 bytes");
        CookieKey { key: LessSafeKey::new(key), random: SystemRandom::new() }
    }

    /// A key that is forgotten with the process.
    ///
    /// Panics where the system has no random numbers.
    pub fn of_the_day() -> CookieKey {
        CookieKey::new(&CookieKey::fresh().expect("the system has random numbers"))
    }

    /// A secret that nobody has had before; `None` where the system has no random numbers.
    pub fn fresh() -> Option<[u8; CookieKey::BYTES]> {
        let mut secret = [0; CookieKey::BYTES];
        SystemRandom::new().fill(&mut secret).ok()?;
        Some(secret)
    }

    /// The value that leads back to `service`. `expires`: Unix seconds; `None`: with the session. `None` where the
    /// system has no random numbers.
    pub fn seal(&self, vserver: &str, service: &str, expires: Option<u64>) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let mut text = expires.unwrap_or(0).to_be_bytes().to_vec();
        text.extend_from_slice(service.as_bytes());
        text.resize(text.len().next_multiple_of(BLOCK_BYTES), 0);
        let sealed = Nonce::assume_unique_for_key(nonce);
        self.key.seal_in_place_append_tag(sealed, Aad::from(vserver.as_bytes()), &mut text).ok()?;
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &text].concat()))
    }

    /// The service that a value names; `None` where it was made by another key or for another vserver, was changed, or
    /// has expired at `now` (Unix seconds).
    pub fn open(&self, vserver: &str, value: &str, now: u64) -> Option<String> {
        if value.len() > VALUE_MAX_BYTES {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(value).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let text = self.key.open_in_place(nonce, Aad::from(vserver.as_bytes()), &mut sealed).ok()?;
        let (expires, name) = text.split_at_checked(8)?;
        let expires = u64::from_be_bytes(expires.try_into().ok()?);
        if expires != 0 && expires <= now {
            return None;
        }
        let name = std::str::from_utf8(name).ok()?.trim_end_matches('\0');
        Some(name.to_owned())
    }
}

impl Default for CookieKey {
    fn default() -> CookieKey {
        CookieKey::of_the_day()
    }
}

/// Never shows the key.
impl fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieKey")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_leads_back_until_it_expires_and_only_at_its_own_vserver() {
        let key = CookieKey::of_the_day();
        let value = key.seal("web", "web1", Some(1000)).unwrap();
        assert_eq!(key.open("web", &value, 999).as_deref(), Some("web1"));
        assert_eq!(key.open("web", &value, 1000), None);
        assert_eq!(key.open("shop", &value, 999), None);
        assert_eq!(CookieKey::of_the_day().open("web", &value, 999), None);
        let session = key.seal("web", "web1", None).unwrap();
        assert_eq!(key.open("web", &session, u64::MAX).as_deref(), Some("web1"));
        assert_ne!(value, key.seal("web", "web1", Some(1000)).unwrap(), "no two values are alike");
    }

    #[test]
    fn a_value_tells_neither_the_name_nor_its_length() {
        let key = CookieKey::of_the_day();
        let length = |name: &str| key.seal("v", name, None).unwrap().len();
        assert_eq!(length("a"), length("a-name-of-23-characters"));
        assert!(length(&"x".repeat(255)) <= VALUE_MAX_BYTES);
        assert_eq!(format!("{key:?}"), "CookieKey");
    }

    proptest! {
        #[test]
        fn a_changed_value_is_none(at in 0usize..60, to in "[A-Za-z0-9_-]") {
            let key = CookieKey::new(&[7; 32]);
            let value = key.seal("web", "web1", None).unwrap();
            let mut changed = value.clone();
            changed.replace_range(at..=at, &to);
            prop_assume!(changed != value);
            prop_assert_eq!(key.open("web", &changed, 0), None);
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            prop_assert_eq!(CookieKey::new(&[7; 32]).open("web", &text, 0), None);
        }
    }
}
