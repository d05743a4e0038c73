//! Somebody may log in: the account of the first boot.

use ring::rand::{SecureRandom as _, SystemRandom};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::cli::hash_password;
use crate::model::access::Admin;

/// NetScaler's name for it.
pub const USER: &str = "nsroot";

/// All addresses of the box; a VIP may have 443.
const LISTEN: &str = "[::]:9443";

/// Letters and figures that nobody mistakes for others: 32, so that five bits are one.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Groups of five letters: 100 bits.
const GROUPS: usize = 4;

/// A text in which somebody may log in who could not before.
#[derive(Debug)]
pub struct Opened {
    pub text: String,
    pub password: String,
    /// The user is new; else its password is.
    pub created: bool,
}

/// Whether nobody can log in: no user, no token, no directory.
pub fn is_closed(admin: &Admin) -> bool {
    admin.users.is_empty() && admin.tokens.is_empty() && admin.ldap.is_none()
}

/// Adds the user to a text, or gives them a new password, and makes them a superuser; with a management address at
/// all the machine's addresses where `listen` asks for it and the text names none. Errors: a text that is no TOML; a
/// machine without random numbers.
pub fn open(text: &str, listen: bool) -> Result<Opened, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    let admin = document.entry("admin").or_insert_with(|| Item::Table(Table::new()));
    let admin = admin.as_table_like_mut().ok_or("`admin` is no table")?;
    if listen && !admin.contains_key("listen") {
        admin.insert("listen", value(LISTEN));
        let mut tls = toml_edit::InlineTable::new();
        tls.insert("generated", true.into());
        admin.insert("tls", value(tls));
    }
    let mut users = Table::new();
    users.set_implicit(true);
    let users = admin.entry("user").or_insert(Item::Table(users));
    let users = users.as_table_like_mut().ok_or("`admin.user` is no table")?;
    let created = !users.contains_key(USER);
    let user = users.entry(USER).or_insert_with(|| Item::Table(Table::new()));
    let user = user.as_table_like_mut().ok_or("`admin.user.nsroot` is no table")?;
    let password = password()?;
    user.insert("role", value("superuser"));
    user.insert("password_hash", value(hash_password(&password)?));
    Ok(Opened { text: document.to_string(), password, created })
}

fn password() -> Result<String, String> {
    let mut bytes = [0; 5 * GROUPS];
    SystemRandom::new().fill(&mut bytes).map_err(|_| "the system has no random numbers")?;
    let letters = bytes.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    let groups: Vec<String> = letters.chunks(5).map(|group| group.iter().collect()).collect();
    Ok(groups.join("-"))
}
