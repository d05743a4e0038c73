//! Who may manage the appliance, and through which doors.

use std::net::SocketAddr;
use std::time::Duration;

use super::id::{CertificateId, Name};
use super::net::Network;
use super::scenario::Secret;
use super::time::Wall;

/// `[admin]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// Default 127.0.0.1:9080.
    pub listen: SocketAddr,
    /// Networks whose callers are heard over TCP; others are closed before anything is read. Empty: all are heard.
    pub allow: Vec<Network>,
    /// `None`: HTTP without TLS.
    pub tls: Option<AdminTls>,
    /// Credentials from other machines are taken without TLS too. Default off.
    pub plain_text: bool,
    pub socket: SocketRules,
    pub sessions: SessionRules,
    /// Sorted by name.
    pub users: Vec<User>,
    /// Sorted by name.
    pub tokens: Vec<ApiToken>,
    /// Users of a directory, besides those of `users`, which come first.
    pub ldap: Option<Ldap>,
}

/// `[admin.ldap]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ldap {
    /// `ldaps://ldap.example`, `ldap://192.0.2.1:389`
    pub url: Name,
    /// TLS on a connection that begins without. Default off.
    pub starttls: bool,
    /// Who may have signed the directory's certificate; `None`: the system's authorities.
    pub ca: Option<CertificateId>,
    /// As whom people are looked for; `None`: as nobody.
    pub bind_dn: Option<Name>,
    pub bind_password: Option<Secret>,
    /// Below which people are looked for.
    pub base: Name,
    /// Finds somebody; `{user}` is the name that they gave, escaped. Default `(uid={user})`.
    pub user_filter: Name,
    /// Below which groups are looked for; `None`: `memberOf` of the person alone counts.
    pub group_base: Option<Name>,
    /// Finds the groups of somebody; `{dn}` is theirs, `{user}` their name.
    pub group_filter: Name,
    /// Names or DNs of groups. Sorted by name. The highest role counts; without any nobody is let in.
    pub roles: Vec<(Name, Role)>,
    /// Of a whole login. Default 5 s.
    pub timeout: Duration,
}

/// What the management address shows to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminTls {
    /// One of `[certificate.NAME]`, with a key.
    Certificate(CertificateId),
    /// Self-signed, made and renewed by the appliance itself, kept in its state directory.
    Generated,
}

/// Who else may use the Unix socket, besides root and the user that the appliance runs as. Names, or numbers as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketRules {
    /// Sorted by name. Counts before groups.
    pub users: Vec<(Name, Role)>,
    /// Sorted by name. Of several groups that somebody is in, the highest role counts.
    pub groups: Vec<(Name, Role)>,
}

/// Somebody with a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub name: Name,
    pub role: Role,
    pub password: PasswordHash,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasswordHash {
    /// `$argon2id$…`
    Inline(Name),
    From(Secret),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    ReadOnly,
    Operator,
    Superuser,
}

/// A program with a token of its own: `[admin.token.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    pub name: Name,
    pub role: Role,
    /// `sha256:` and 64 hexadecimal digits, of the whole token.
    pub hash: Name,
    /// `None`: never.
    pub expires: Option<Wall>,
}

/// How long a login lasts, and how many there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRules {
    /// Without a request for this long a session ends. Default 30 min.
    pub idle: Duration,
    /// It ends in any case after this long. Default 12 h.
    pub absolute: Duration,
    /// Of one user; one more ends the one that was used least lately. Default 16.
    pub per_user: u32,
    /// In all; likewise. Default 1024.
    pub most: u32,
}

/// The token of 256 random bits, and its hash for the configuration: with that many bits a plain hash can neither be
/// tried at leisure nor be turned back. The prefix lets whoever scans for secrets know one when they see it.
pub fn token_of(random: [u8; 32]) -> (String, String) {
    use base64::Engine as _;
    let token = format!("bascule_{}", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random));
    let hash = token_hash(&token);
    (token, hash)
}

/// `sha256:…` of a whole token.
pub fn token_hash(token: &str) -> String {
    use sha2::Digest as _;
    let digest: [u8; 32] = sha2::Sha256::digest(token.as_bytes()).into();
    digest.iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

// === impl Role ===

impl Role {
    pub const ALL: [Role; 3] = [Role::ReadOnly, Role::Operator, Role::Superuser];

    /// `read-only`, `operator`, `superuser`.
    pub fn word(self) -> &'static str {
        match self {
            Role::ReadOnly => "read-only",
            Role::Operator => "operator",
            Role::Superuser => "superuser",
        }
    }

    pub fn parse(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.word().eq_ignore_ascii_case(word))
    }
}

// === impl Ldap ===

impl Ldap {
    /// A directory at this URL, everything else at its default.
    pub fn at(url: &str) -> Ldap {
        Ldap {
            url: url.into(),
            starttls: false,
            ca: None,
            bind_dn: None,
            bind_password: None,
            base: "".into(),
            user_filter: "(uid={user})".into(),
            group_base: None,
            group_filter: "(|(member={dn})(uniqueMember={dn})(memberUid={user}))".into(),
            roles: Vec::new(),
            timeout: Duration::from_secs(5),
        }
    }
}

// === impl SessionRules ===

impl Default for SessionRules {
    fn default() -> SessionRules {
        SessionRules {
            idle: Duration::from_secs(30 * 60),
            absolute: Duration::from_secs(12 * 3_600),
            per_user: 16,
            most: 1_024,
        }
    }
}

// === impl Admin ===

impl Default for Admin {
    fn default() -> Admin {
        Admin {
            listen: SocketAddr::from(([127, 0, 0, 1], 9080)),
            allow: Vec::new(),
            tls: None,
            plain_text: false,
            socket: SocketRules::default(),
            sessions: SessionRules::default(),
            users: Vec::new(),
            tokens: Vec::new(),
            ldap: None,
        }
    }
}

impl Admin {
    /// Whether there are names and passwords to log in with.
    pub fn has_logins(&self) -> bool {
        !self.users.is_empty() || self.ldap.is_some()
    }

    /// Whether anybody can show who they are.
    pub fn has_credentials(&self) -> bool {
        self.has_logins() || !self.tokens.is_empty()
    }

    /// Whether a caller from this address is heard at all.
    pub fn hears(&self, address: std::net::IpAddr) -> bool {
        self.allow.is_empty() || self.allow.iter().any(|network| network.contains(address))
    }
}
