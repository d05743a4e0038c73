//! DNSSEC: how a zone is signed, and its keys (RFC 4034, RFC 6605, RFC 8080).

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use rustls_pki_types::PrivateKeyDer;

use super::tls::Pem;
use super::zone::DnsName;

/// `[zone.NAME.dnssec]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dnssec {
    pub keys: Vec<ZoneKey>,
    /// From the inception of a signature to its expiration. Default 14 days, 1 day..=1 year.
    pub validity: Duration,
}

/// A key of a zone as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneKey {
    /// PKCS#8 in PEM form, or the `.private` file of BIND.
    pub private: Pem,
    /// The `.key` file beside a `.private` file.
    pub public: Option<Pem>,
    /// As said; `None`: what the flags of the `.key` file say, else CSK.
    pub role: Option<KeyRole>,
    pub state: KeyState,
}

/// What a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRole {
    /// The DNSKEY RRset; the parent's DS names it.
    Ksk,
    /// Everything else.
    Zsk,
    /// All of it; the parent's DS names it.
    Csk,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyState {
    /// It stands in the DNSKEY RRset and signs.
    #[default]
    Active,
    /// It stands in the DNSKEY RRset only: before its first signature, or after its last.
    Published,
}

/// Algorithms that sign here (RFC 8624 §3.1: both are for new zones).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Algorithm {
    EcdsaP256Sha256 = 13,
    Ed25519 = 15,
}

/// A key that can sign. It prints nothing of itself.
pub struct SigningKey {
    pair: Pair,
    pub algorithm: Algorithm,
    pub role: KeyRole,
    pub state: KeyState,
    /// RDATA of its DNSKEY record.
    pub dnskey: Vec<u8>,
    /// RFC 4034 appendix B.
    pub tag: u16,
}

enum Pair {
    Ecdsa(EcdsaKeyPair, SystemRandom),
    Ed25519(Ed25519KeyPair),
}

/// Zone key, and Secure Entry Point for those that a DS names.
const ZONE_KEY: u16 = 0x0100;
const ENTRY_POINT: u16 = 0x0001;

// === impl ZoneKey ===

impl ZoneKey {
    /// Reads the key. Errors: in words, without any of it.
    pub fn load(&self, origin: &DnsName) -> Result<SigningKey, String> {
        let public = self.public.as_ref().map(|public| Public::read(&public.text, origin)).transpose()?;
        let (pair, algorithm) = match self.private.text.contains("Private-key-format:") {
            true => Pair::from_bind(&self.private.text, public.as_ref())?,
            false => Pair::from_pem(&self.private)?,
        };
        let key = pair.public();
        if let Some(public) = public.as_ref().filter(|public| public.key != key || public.algorithm != algorithm as u8)
        {
            return Err(format!("is not the key of its `.key` file (algorithm {})", public.algorithm));
        }
        let of_flags = public.map(|p| if p.flags & ENTRY_POINT != 0 { KeyRole::Ksk } else { KeyRole::Zsk });
        let role = self.role.or(of_flags).unwrap_or(KeyRole::Csk);
        let flags = if role == KeyRole::Zsk { ZONE_KEY } else { ZONE_KEY | ENTRY_POINT };
        let mut dnskey = flags.to_be_bytes().to_vec();
        dnskey.extend_from_slice(&[3, algorithm as u8]);
        dnskey.extend_from_slice(&key);
        let tag = key_tag(&dnskey);
        Ok(SigningKey { pair, algorithm, role, state: self.state, dnskey, tag })
    }
}

/// The `.key` file of BIND: one DNSKEY record.
struct Public {
    flags: u16,
    algorithm: u8,
    key: Vec<u8>,
}

impl Public {
    fn read(text: &str, origin: &DnsName) -> Result<Public, String> {
        let lines = text.lines().map(|line| line.split(';').next().unwrap_or(""));
        let words: Vec<&str> =
            lines.flat_map(str::split_whitespace).filter(|word| !matches!(*word, "(" | ")")).collect();
        let owner = words.first().and_then(|name| DnsName::parse(name, &DnsName::root()));
        let at = words.iter().position(|word| word.eq_ignore_ascii_case("DNSKEY"));
        let read = || {
            let rest = &words[at? + 1..];
            let flags = rest.first()?.parse().ok()?;
            let algorithm = rest.get(2)?.parse().ok()?;
            let key = BASE64.decode(rest.get(3..)?.concat()).ok()?;
            Some(Public { flags, algorithm, key })
        };
        let public = read().ok_or("has a `.key` file that holds no DNSKEY record")?;
        if owner.as_ref() != Some(origin) {
            return Err(format!("has a `.key` file of another zone than {origin}"));
        }
        if public.flags & 0x0080 != 0 {
            return Err("is revoked (RFC 5011)".into());
        }
        Ok(public)
    }
}

// === impl Pair ===

impl Pair {
    fn from_pem(pem: &Pem) -> Result<(Pair, Algorithm), String> {
        let PrivateKeyDer::Pkcs8(der) = pem.private_key()? else {
            return Err("is no PKCS#8 key; `openssl pkcs8 -topk8 -nocrypt` makes one of it".into());
        };
        let der = der.secret_pkcs8_der();
        let random = SystemRandom::new();
        if let Ok(pair) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
            return Ok((Pair::Ecdsa(pair, random), Algorithm::EcdsaP256Sha256));
        }
        match Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            Ok(pair) => Ok((Pair::Ed25519(pair), Algorithm::Ed25519)),
            Err(_) => Err("is neither an ECDSA P-256 nor an Ed25519 key".into()),
        }
    }

    fn from_bind(text: &str, public: Option<&Public>) -> Result<(Pair, Algorithm), String> {
        let field = |name: &str| {
            let found = text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name);
            found.map(|(_, value)| value.trim())
        };
        let secret =
            field("PrivateKey").and_then(|value| BASE64.decode(value).ok()).filter(|secret| secret.len() == 32);
        let secret = || secret.as_deref().ok_or("has no `PrivateKey` of 32 bytes".to_owned());
        let broken = |_| "is damaged, or its `.key` file is another key's".to_owned();
        match field("Algorithm").and_then(|a| a.split_whitespace().next()) {
            Some("13") => {
                // The curve's point cannot be computed from the number here.
                let public = public.ok_or("needs its `.key` file beside it")?;
                let point = [&[4], &public.key[..]].concat();
                let random = SystemRandom::new();
                let pair = EcdsaKeyPair::from_private_key_and_public_key(
                    &ECDSA_P256_SHA256_FIXED_SIGNING,
                    secret()?,
                    &point,
                    &random,
                );
                Ok((Pair::Ecdsa(pair.map_err(broken)?, random), Algorithm::EcdsaP256Sha256))
            }
            Some("15") => {
                let pair = Ed25519KeyPair::from_seed_unchecked(secret()?).map_err(broken)?;
                Ok((Pair::Ed25519(pair), Algorithm::Ed25519))
            }
            Some(other) => {
                Err(format!("is of algorithm {other}; the algorithms are 13 (ECDSAP256SHA256) and 15 (ED25519)"))
            }
            None => Err("names no algorithm".into()),
        }
    }

    /// As it stands in a DNSKEY record: for ECDSA without the byte that says "uncompressed".
    fn public(&self) -> Vec<u8> {
        match self {
            Pair::Ecdsa(pair, _) => pair.public_key().as_ref()[1..].to_vec(),
            Pair::Ed25519(pair) => pair.public_key().as_ref().to_vec(),
        }
    }
}

// === impl SigningKey ===

impl SigningKey {
    /// The signature as it stands in an RRSIG record.
    pub fn sign(&self, data: &[u8]) -> Vec<u8> {
        match &self.pair {
            Pair::Ecdsa(pair, random) => {
                pair.sign(random, data).map(|signature| signature.as_ref().to_vec()).unwrap_or_default()
            }
            Pair::Ed25519(pair) => pair.sign(data).as_ref().to_vec(),
        }
    }

    /// RDATA of the DS record that the parent is to have (RFC 4509: SHA-256).
    pub fn ds(&self, origin: &DnsName) -> Vec<u8> {
        let digest = ring::digest::digest(&ring::digest::SHA256, &[&origin.0[..], &self.dnskey[..]].concat());
        let mut rdata = self.tag.to_be_bytes().to_vec();
        rdata.extend_from_slice(&[self.algorithm as u8, 2]);
        rdata.extend_from_slice(digest.as_ref());
        rdata
    }

    /// The DS record as a line of the parent's zone.
    pub fn ds_text(&self, origin: &DnsName) -> String {
        let digest: String = self.ds(origin)[4..].iter().map(|byte| format!("{byte:02X}")).collect();
        format!("{origin} IN DS {} {} 2 {digest}", self.tag, self.algorithm as u8)
    }

    pub fn is_active(&self) -> bool {
        self.state == KeyState::Active
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("tag", &self.tag).field("role", &self.role).finish_non_exhaustive()
    }
}

// === impl KeyRole ===

impl KeyRole {
    pub const ALL: [KeyRole; 3] = [KeyRole::Ksk, KeyRole::Zsk, KeyRole::Csk];

    pub fn word(self) -> &'static str {
        match self {
            KeyRole::Ksk => "ksk",
            KeyRole::Zsk => "zsk",
            KeyRole::Csk => "csk",
        }
    }
}

// === impl KeyState ===

impl KeyState {
    pub fn word(self) -> &'static str {
        match self {
            KeyState::Active => "active",
            KeyState::Published => "published",
        }
    }
}

fn key_tag(dnskey: &[u8]) -> u16 {
    let sum = dnskey.iter().enumerate().fold(0u32, |sum, (at, &byte)| {
        sum.wrapping_add(if at % 2 == 0 { u32::from(byte) << 8 } else { u32::from(byte) })
    });
    (sum.wrapping_add(sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8080 §6.1.
    #[test]
    fn the_ed25519_key_of_rfc_8080_has_the_tag_and_the_ds_that_it_says() {
        let private = "Private-key-format: v1.2\nAlgorithm: 15 (ED25519)\nPrivateKey: ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI=\n";
        let public =
            "example.com. 3600 IN DNSKEY 257 3 15 (\n  l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4= ) ; a key\n";
        let pem = |text: &str| Pem { file: "k".into(), text: text.into() };
        let key = ZoneKey { private: pem(private), public: Some(pem(public)), role: None, state: KeyState::Active };
        let origin = DnsName::parse("example.com.", &DnsName::root()).unwrap();
        let loaded = key.load(&origin).unwrap();
        assert_eq!((loaded.tag, loaded.role), (3613, KeyRole::Ksk));
        assert_eq!(
            loaded.ds_text(&origin),
            "example.com. IN DS 3613 15 2 3AA5AB37EFCE57F737FC1627013FEE07BDF241BD10F3B1964AB55C78E79A304B"
        );
        let other = DnsName::parse("example.org.", &DnsName::root()).unwrap();
        assert!(key.load(&other).unwrap_err().contains("another zone"));
        let wrong = ZoneKey { public: Some(pem(&public.replace("l02W", "k02W"))), ..key };
        assert!(wrong.load(&origin).unwrap_err().contains("is not the key"));
    }
}
