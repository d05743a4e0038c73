//! What shows a MySQL server that one knows the password.

use ring::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

pub(super) const CACHING_SHA2: &[u8] = b"caching_sha2_password";
pub(super) const CLEAR: &[u8] = b"mysql_clear_password";
const NATIVE: &[u8] = b"mysql_native_password";

/// The proof for a nonce; `None` for a plug-in that is not spoken. An empty password is shown by an empty proof.
pub(super) fn token(plugin: &[u8], password: &str, nonce: &[u8]) -> Option<Vec<u8>> {
    let token = match plugin {
        _ if plugin != NATIVE && plugin != CACHING_SHA2 => return None,
        _ if password.is_empty() => return Some(Vec::new()),
        // SHA1(password) ⊕ SHA1(nonce, SHA1(SHA1(password)))
        NATIVE => {
            let once = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[password.as_bytes()]);
            let twice = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[&once]);
            mixed(&once, &hash(&SHA1_FOR_LEGACY_USE_ONLY, &[nonce, &twice]))
        }
        // SHA256(password) ⊕ SHA256(SHA256(SHA256(password)), nonce)
        _ => {
            let once = hash(&SHA256, &[password.as_bytes()]);
            let twice = hash(&SHA256, &[&once]);
            mixed(&once, &hash(&SHA256, &[&twice, nonce]))
        }
    };
    Some(token)
}

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut context = Context::new(algorithm);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().to_vec()
}

fn mixed(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_fits_what_a_server_keeps_of_the_password() {
        // The server has SHA1(SHA1(password)): it undoes the mask and hashes once more.
        let nonce = b"abcdefghijklmnopqrst";
        let token = token(NATIVE, "secret", nonce).unwrap();
        let stored = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[&hash(&SHA1_FOR_LEGACY_USE_ONLY, &[b"secret"])]);
        let once = mixed(&token, &hash(&SHA1_FOR_LEGACY_USE_ONLY, &[nonce, &stored]));
        assert_eq!(hash(&SHA1_FOR_LEGACY_USE_ONLY, &[&once]), stored);
        assert_eq!(super::token(NATIVE, "", nonce), Some(Vec::new()));
        assert_eq!(super::token(b"auth_gssapi_client", "secret", nonce), None);
        assert_eq!(super::token(CACHING_SHA2, "secret", nonce).unwrap().len(), 32);
    }
}
