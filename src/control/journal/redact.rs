//! What must not stand in the journal: it is kept for a year and read by whoever may audit.

use std::sync::LazyLock;

use regex::Regex;

/// Loads like any hash and fits no password.
const REDACTED: &str = "$argon2id$v=19$m=8,t=1,p=1$cmVkYWN0ZWQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

static HASH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$argon2[A-Za-z0-9$+/=,._-]*").expect("a constant expression"));

/// The hash of an API token; loads like any and is of none.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| Regex::new("sha256:[0-9a-f]{64}").expect("a constant expression"));

/// What stands before the `@` of an address with a scheme, and of a `dsn`.
static USERINFO: LazyLock<Regex> = LazyLock::new(|| {
    let [schemed, dsn] = [r#"://)[^\s"'/?#]*@"#, r#"\bdsn["']?\s*=\s*["'](?:[a-z+]+://)?)[^\n"']*@"#];
    Regex::new(&format!("({dsn}|({schemed}")).expect("a constant expression")
});

/// The text of a configuration with every hash of a password or token replaced by one that fits nothing, and addresses without their
/// credentials. It still loads, so a replay can adopt it.
pub fn redact(text: &str) -> String {
    let text = HASH.replace_all(text, regex::NoExpand(REDACTED));
    let text = TOKEN.replace_all(&text, format!("sha256:{}", "0".repeat(64)));
    USERINFO.replace_all(&text, "$1$2").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_hash_is_replaced_by_one_that_still_loads() {
        let hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$Y0hFQ2tzdW1jaGVja3N1bWNoZWNrc3VtY2hlY2tzdW0";
        let user = |hash: &str| format!("[admin.user.root]\nrole = \"superuser\"\npassword_hash = \"{hash}\"\n");
        let redacted = redact(&user(hash));
        assert_eq!(redacted, user(REDACTED));
        assert!(argon2::password_hash::phc::PasswordHash::new(REDACTED).is_ok());
        assert_eq!(redact("nothing to hide"), "nothing to hide");
    }

    #[test]
    fn the_hash_of_a_token_is_replaced_too() {
        let text = |digit: &str| format!("[admin.token.ci]\nhash = \"sha256:{}\"\n", digit.repeat(64));
        assert_eq!(redact(&text("a")), text("0"));
    }

    #[test]
    fn addresses_lose_their_credentials() {
        for (text, kept) in [
            ("dsn = \"postgresql://u:p@db/x\"", "dsn = \"postgresql://db/x\""),
            ("dsn = \"gtm/pw@db:1521/X\"", "dsn = \"db:1521/X\""),
            ("url = \"http://a/\"\nmail = \"a@b.test\"", "url = \"http://a/\"\nmail = \"a@b.test\""),
        ] {
            assert_eq!(redact(text), kept);
        }
    }
}
