//! Signatures of the Standard Webhooks specification: `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// The value of `webhook-signature`. A secret that begins with `whsec_` is base64, any other is taken as it stands.
/// Errors: it is neither.
pub fn sign(secret: &str, id: &str, timestamp: i64, body: &str) -> Result<String, String> {
    let key = match secret.trim().strip_prefix("whsec_") {
        Some(encoded) => STANDARD.decode(encoded).map_err(|_| "the secret after whsec_ is not base64".to_owned())?,
        None => secret.trim().as_bytes().to_vec(),
    };
    if key.is_empty() {
        return Err("the secret is empty".to_owned());
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
    Ok(format!("v1,{}", STANDARD.encode(tag.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_one_of_the_specifications_own_example() {
        let signature = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_that_cannot_sign_is_said_without_its_value() {
        for secret in ["whsec_%%%", "", "\n"] {
            let why = sign(secret, "id", 0, "").unwrap_err();
            assert!(!why.contains('%'));
        }
    }
}
