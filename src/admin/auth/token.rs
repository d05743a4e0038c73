//! API tokens: whose one is, and whether it still lets in.

use subtle::ConstantTimeEq;

use crate::model::access::{ApiToken, token_hash};
use crate::model::time::Wall;

/// Why a token lets nobody in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused<'a> {
    /// Never made, or revoked since.
    Unknown,
    Expired(&'a ApiToken, Wall),
}

/// Whose token it is. Every one is looked at, so that the time tells nothing.
pub(super) fn find<'a>(tokens: &'a [ApiToken], token: &str, now: Wall) -> Result<&'a ApiToken, Refused<'a>> {
    let hash = token_hash(token);
    let mut found = None;
    for one in tokens {
        if bool::from(one.hash.as_bytes().ct_eq(hash.as_bytes())) {
            found = Some(one);
        }
    }
    let found = found.ok_or(Refused::Unknown)?;
    match found.expires {
        Some(at) if at <= now => Err(Refused::Expired(found, at)),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;
    use crate::model::access::token_of;

    #[test]
    fn a_token_is_known_by_its_hash_until_it_expires() {
        let (token, hash) = token_of([7; 32]);
        assert!(token.starts_with("bascule_") && token.len() == 51, "{token}");
        let ci = ApiToken { name: "ci".into(), role: Role::Operator, hash: hash.into(), expires: Some(Wall(9)) };
        let tokens = [ci];
        assert_eq!(find(&tokens, &token, Wall(8)), Ok(&tokens[0]));
        assert_eq!(find(&tokens, &token, Wall(9)), Err(Refused::Expired(&tokens[0], Wall(9))));
        assert_eq!(find(&tokens, &token_of([8; 32]).0, Wall(8)), Err(Refused::Unknown));
        assert_eq!(find(&[], "", Wall(0)), Err(Refused::Unknown));
    }
}
