//! O5LOGON, the server's half: both sides show that they know the password's verifier, and agree on a key.

use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use md5::{Digest as _, Md5};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA512, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// What a server keeps of a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verifier {
    /// PBKDF2 and SHA-512.
    Twelve,
    /// SHA-1.
    Eleven,
}

/// A login after its first half.
pub struct Login {
    verifier: Verifier,
    salt: Vec<u8>,
    key_salt: Vec<u8>,
    /// The key to which the password leads.
    secret: Vec<u8>,
    /// This side's half of the key of the session.
    half: Vec<u8>,
}

/// Names, values, flags.
pub type Pairs = Vec<(&'static str, String, u64)>;

// === impl Login ===

impl Login {
    pub fn begin(verifier: Verifier, password: &str) -> Login {
        let (salt, secret, half) = match verifier {
            Verifier::Twelve => {
                let salt = random(16);
                let stretched =
                    stretch(password.as_bytes(), &[&salt[..], b"AUTH_PBKDF2_SPEEDY_KEY"].concat(), 64, 4_096);
                let secret = digest(&SHA512, &[&stretched[..], &salt].concat()).as_ref()[..32].to_vec();
                (salt, secret, random(32))
            }
            Verifier::Eleven => {
                let salt = random(10);
                let once = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[password.as_bytes(), &salt].concat());
                let half = [random(40), vec![8; 8]].concat();
                (salt, [once.as_ref(), &[0; 4]].concat(), half)
            }
        };
        Login { verifier, salt, key_salt: random(16), secret, half }
    }

    /// What the client is told to begin with.
    pub fn challenge(&self) -> Pairs {
        let kind = if self.verifier == Verifier::Twelve { 0x4815 } else { 0x1b25 };
        let mut pairs = vec![
            ("AUTH_SESSKEY", hex(&encrypt(&self.secret, &self.half)), 0),
            ("AUTH_VFR_DATA", hex(&self.salt), kind),
        ];
        if self.verifier == Verifier::Twelve {
            pairs.push(("AUTH_PBKDF2_CSK_SALT", hex(&self.key_salt), 0));
            pairs.push(("AUTH_PBKDF2_VGEN_COUNT", "4096".to_owned(), 0));
            pairs.push(("AUTH_PBKDF2_SDER_COUNT", "3".to_owned(), 0));
        }
        pairs.push(("AUTH_GLOBALLY_UNIQUE_DBID\0", "0".repeat(32), 0));
        pairs
    }

    /// The key of the session, where the client's half fits.
    pub fn key(&self, client_half: &str) -> Option<Vec<u8>> {
        let theirs = decrypt(&self.secret, &unhex(client_half)?)?;
        Some(match self.verifier {
            Verifier::Twelve => {
                let both = hex(&[theirs.get(..32)?, &self.half[..32]].concat());
                stretch(both.as_bytes(), &self.key_salt, 32, 3)
            }
            Verifier::Eleven => {
                let mixed: Vec<u8> = theirs.get(16..40)?.iter().zip(&self.half[16..40]).map(|(a, b)| a ^ b).collect();
                let mut key = Md5::digest(&mixed[..16]).to_vec();
                key.extend(Md5::digest(&mixed[16..]));
                key.truncate(24);
                key
            }
        })
    }
}

/// The password within what the client sent: after 16 random bytes, filled up to a block.
pub fn password(key: &[u8], sent: &str) -> Option<String> {
    let clear = decrypt(key, &unhex(sent)?)?;
    let fill = usize::from(*clear.last()?);
    String::from_utf8(clear.get(16..clear.len().checked_sub(fill)?)?.to_vec()).ok()
}

/// What shows the client that this side knew the password as well.
pub fn proof(key: &[u8]) -> String {
    let mut clear = [random(16), b"SERVER_TO_CLIENT".to_vec()].concat();
    clear.extend([16; 16]);
    hex(&encrypt(key, &clear))
}

fn random(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    SystemRandom::new().fill(&mut bytes).unwrap();
    bytes
}

fn stretch(secret: &[u8], salt: &[u8], count: usize, rounds: u32) -> Vec<u8> {
    let mut out = vec![0; count];
    let rounds = std::num::NonZeroU32::new(rounds).unwrap();
    ring::pbkdf2::derive(ring::pbkdf2::PBKDF2_HMAC_SHA512, rounds, salt, secret, &mut out);
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    text.as_bytes().chunks(2).map(pair).collect()
}

/// AES in CBC, from a block of zeros.
fn encrypt(key: &[u8], clear: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let mut last = [0; 16];
    for part in clear.chunks(16) {
        let mut block: [u8; 16] = std::array::from_fn(|i| part[i] ^ last[i]);
        with_cipher(key, &mut block, true);
        out.extend(block);
        last = block;
    }
    out
}

fn decrypt(key: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut last = [0; 16];
    for part in sealed.chunks(16) {
        let sealed: [u8; 16] = part.try_into().ok()?;
        let mut block = sealed;
        with_cipher(key, &mut block, false);
        out.extend(block.iter().zip(last).map(|(a, b)| a ^ b));
        last = sealed;
    }
    Some(out)
}

fn with_cipher(key: &[u8], block: &mut [u8; 16], seals: bool) {
    fn run<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>(key: &[u8], bytes: &mut [u8; 16], seals: bool) {
        let cipher = C::new_from_slice(key).expect("a key of its length");
        let mut block = Block::<C>::default();
        block.copy_from_slice(bytes);
        if seals {
            cipher.encrypt_block(&mut block)
        } else {
            cipher.decrypt_block(&mut block)
        }
        bytes.copy_from_slice(&block);
    }
    match key.len() {
        24 => run::<aes::Aes192>(key, block, seals),
        _ => run::<aes::Aes256>(key, block, seals),
    }
}
