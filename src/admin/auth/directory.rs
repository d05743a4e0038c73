//! Users of a directory (LDAP): who they are is asked of it with their own password, what they may do follows from their
//! groups.
//!
//! Local names come first: a name of `[admin.user]` is never asked of the directory, so the box can be managed while the
//! directory is away, and nobody in the directory can become a local user. A right answer is remembered for a minute under
//! a keyed hash; a directory that does not answer is said to be that, and counts for nobody as a wrong password.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use ldap3::{LdapConnAsync, LdapConnSettings, LdapError, Scope, SearchEntry, SearchOptions};
use parking_lot::Mutex;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::super::problem::Problem;
use super::lockout::insert_bounded;
use super::sessions::Hash;
use crate::model::access::{Ldap, Role};
use crate::model::tls::Pem;

/// How long a right answer is remembered.
const REMEMBER: Duration = Duration::from_secs(60);
const REMEMBERED_MAX: usize = 1_024;
/// Questions at a time.
const ASKED_AT_ONCE: usize = 8;
/// Groups of somebody that are looked at.
const GROUPS_MAX: i32 = 1_000;

#[derive(Debug)]
pub(super) struct Directory {
    pub turns: Arc<Semaphore>,
    remembered: Mutex<HashMap<Hash, (Instant, Role)>>,
}

/// Why somebody of the directory is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// No such name, or another password; which of the two is not told.
    Wrong,
    /// Who they are is known, and none of their groups has a role here.
    NoRole,
    /// Nobody's fault who logs in.
    Unavailable(String),
}

/// What a question takes along.
#[derive(Clone)]
pub(super) struct Question {
    pub ldap: Ldap,
    /// The authorities that may have signed the directory's certificate; `None`: the system's.
    pub authorities: Option<Pem>,
    /// Of `bind_dn`.
    pub bind_password: String,
    pub name: String,
    pub password: String,
}

// === impl Directory ===

impl Directory {
    pub fn new() -> Directory {
        Directory { turns: Arc::new(Semaphore::new(ASKED_AT_ONCE)), remembered: Mutex::default() }
    }

    /// What was answered to the same question within the last minute.
    pub fn remembered(&self, key: &Hash) -> Option<Role> {
        let mut remembered = self.remembered.lock();
        match remembered.get(key) {
            Some((until, role)) if *until > Instant::now() => Some(*role),
            Some(_) => {
                remembered.remove(key);
                None
            }
            None => None,
        }
    }

    /// Asks the directory. `key`: under which a right answer is remembered; `turn`: of `turns`.
    pub async fn ask(&self, key: Hash, question: Question, turn: OwnedSemaphorePermit) -> Result<Role, Denied> {
        // The directory takes an empty password for no login at all, and says yes to it.
        if question.password.is_empty() || question.name.is_empty() || question.name.contains('\0') {
            return Err(Denied::Wrong);
        }
        let timeout = question.ldap.timeout;
        // On a task of its own: what a broken directory sends must not take the caller's down.
        let asked = tokio::spawn(async move {
            let _turn = turn;
            match tokio::time::timeout(timeout, role_of(&question)).await {
                Ok(answer) => answer,
                Err(_) => Err(Denied::Unavailable(format!("it did not answer within {timeout:?}"))),
            }
        });
        let unreadable = || Denied::Unavailable("what it sent cannot be read".to_owned());
        let role = asked.await.unwrap_or_else(|_| Err(unreadable()))?;
        let until = Instant::now() + REMEMBER;
        insert_bounded(&mut self.remembered.lock(), REMEMBERED_MAX, key, (until, role), |(until, _)| *until);
        Ok(role)
    }
}

async fn role_of(question: &Question) -> Result<Role, Denied> {
    let Question { ldap, .. } = question;
    let mut settings = LdapConnSettings::new().set_conn_timeout(ldap.timeout).set_starttls(ldap.starttls);
    if ldap.starttls || ldap.url.starts_with("ldaps:") {
        settings = settings.set_config(tls(question.authorities.as_ref()).map_err(Denied::Unavailable)?);
    }
    let (connection, mut asked) = LdapConnAsync::with_settings(settings, &ldap.url).await.map_err(away)?;
    let driver = tokio::spawn(async move {
        // Why it failed, the one who asks is told.
        let _ = connection.drive().await;
    });
    let _driver = AbortOnDrop(driver);
    if let Some(dn) = &ldap.bind_dn {
        let bound = asked.simple_bind(dn, &question.bind_password).await.map_err(away)?;
        bound.success().map_err(|error| Denied::Unavailable(format!("it refuses `bind_dn`: {}", said(&error))))?;
    }
    let filter = filled(&ldap.user_filter, "{user}", &question.name);
    let found = search(&mut asked, &ldap.base, &filter, &["memberOf"], 2).await?;
    let person = match &found[..] {
        [person] => Some(person),
        [] => None,
        _ => {
            tracing::warn!("LDAP: `user_filter` finds several people for one name; nobody is let in by it");
            None
        }
    };
    // A name that is nobody's takes as many steps as one that is somebody's, so that the time tells nothing of it.
    let (dn, password) = match person {
        Some(person) => (person.dn.clone(), &*question.password),
        None => (format!("cn=nobody,{}", ldap.base), "nobody"),
    };
    let mut groups = person.map_or_else(Vec::new, |person| attribute(person, "memberOf").to_vec());
    if let Some(base) = &ldap.group_base {
        let filter = filled(&filled(&ldap.group_filter, "{user}", &question.name), "{dn}", &dn);
        let found = search(&mut asked, base, &filter, &["1.1"], GROUPS_MAX).await?;
        groups.extend(found.into_iter().map(|group| group.dn));
    }
    // Last, as themselves: from here on the connection is theirs, and it ends.
    let bound = asked.simple_bind(&dn, password).await.map_err(away)?;
    let _ = asked.unbind().await;
    match bound.rc {
        _ if person.is_none() => Err(Denied::Wrong),
        0 => granted(ldap, &groups).ok_or(Denied::NoRole),
        // Wrong, locked, expired: by the directory's own rules.
        19 | 48 | 49 | 50 | 53 => Err(Denied::Wrong),
        code => Err(Denied::Unavailable(format!("it answers the login with code {code}"))),
    }
}

/// A connection that nobody waits for any more ends.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn search(
    asked: &mut ldap3::Ldap,
    base: &str,
    filter: &str,
    attributes: &[&str],
    most: i32,
) -> Result<Vec<SearchEntry>, Denied> {
    let limited = asked.with_search_options(SearchOptions::new().sizelimit(most));
    let result = limited.search(base, Scope::Subtree, filter, attributes.to_vec()).await.map_err(away)?;
    let ldap3::SearchResult(entries, outcome) = result;
    // With more entries than asked for, the limit ends the search.
    if !matches!(outcome.rc, 0 | 4) {
        return Err(Denied::Unavailable(format!("it answers the search below `{base}` with code {}", outcome.rc)));
    }
    let is_entry = |entry: &ldap3::ResultEntry| !entry.is_ref() && !entry.is_intermediate();
    Ok(entries.into_iter().filter(is_entry).map(SearchEntry::construct).collect())
}

fn attribute<'a>(entry: &'a SearchEntry, name: &str) -> &'a [String] {
    entry.attrs.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map_or(&[], |(_, values)| values)
}

/// What stands for somebody in a filter, so that no name can change what the filter asks (RFC 4515 §3).
fn filled(filter: &str, place: &str, value: &str) -> String {
    filter.replace(place, &ldap3::ldap_escape(value))
}

/// The highest role of all groups. A key is the name of a group (its first component), or its whole DN.
fn granted(ldap: &Ldap, groups: &[String]) -> Option<Role> {
    let is = |group: &String, wanted: &str| {
        let (group, wanted) = (folded(group), folded(wanted));
        let first = group.split(',').next().unwrap_or_default();
        group == wanted || first.split_once('=').is_some_and(|(_, name)| name == wanted)
    };
    let roles = ldap.roles.iter().filter(|(wanted, _)| groups.iter().any(|group| is(group, wanted)));
    roles.map(|(_, role)| *role).max()
}

/// DNs compare without case and without the spaces around their separators.
fn folded(dn: &str) -> String {
    let part = |part: &str| part.split('=').map(str::trim).collect::<Vec<_>>().join("=");
    dn.to_lowercase().split(',').map(part).collect::<Vec<_>>().join(",")
}

fn tls(authorities: Option<&Pem>) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(pem) => {
            for authority in pem.certificates()? {
                roots.add(authority).map_err(|error| error.to_string())?;
            }
        }
        None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

fn away(error: LdapError) -> Denied {
    Denied::Unavailable(said(&error))
}

/// The innermost reason.
fn said(error: &LdapError) -> String {
    if let LdapError::LdapResult { result } = error {
        return format!("code {}", result.rc);
    }
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}

// === impl Denied ===

impl Denied {
    pub fn problem(self) -> Problem {
        match self {
            Denied::Wrong => super::guesses::wrong(),
            Denied::NoRole => {
                Problem::forbidden("none of your groups in the directory has a role here (`admin.ldap.roles`)")
            }
            Denied::Unavailable(why) => {
                tracing::warn!("LDAP: the directory cannot be asked: {why}");
                let detail = format!("the directory cannot be asked ({why}); try again, or log in as a local user");
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "directory_unavailable", detail)
                    .header(header::RETRY_AFTER, HeaderValue::from_static("5"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_changes_what_a_filter_asks() {
        let filter = |name: &str| filled("(&(uid={user})(objectClass=person))", "{user}", name);
        assert_eq!(filter("eve"), "(&(uid=eve)(objectClass=person))");
        for evil in ["*", "a)(uid=*", "x)(|(uid=*", "\\2a", "a\0b", "(", "*)(userPassword=*"] {
            let filled = filter(evil);
            let inner = &filled["(&(uid=".len()..filled.len() - ")(objectClass=person))".len()];
            assert!(!inner.contains(['*', '(', ')', '\0']), "{filled}");
        }
    }

    #[test]
    fn the_highest_role_of_all_groups_counts() {
        let role = |name: &str, role| (name.into(), role);
        let ldap = Ldap {
            roles: vec![
                role("CN=NetOps, OU=Groups,DC=example", Role::Superuser),
                role("helpdesk", Role::ReadOnly),
                role("oncall", Role::Operator),
            ],
            ..Ldap::at("ldap://127.0.0.1")
        };
        let granted = |groups: &[&str]| granted(&ldap, &groups.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(granted(&[]), None);
        assert_eq!(granted(&["cn=other,dc=example"]), None);
        assert_eq!(granted(&["cn=helpdesk,ou=a,dc=example", "cn=OnCall,dc=example"]), Some(Role::Operator));
        assert_eq!(granted(&["cn=netops,ou=groups,dc=example"]), Some(Role::Superuser));
        assert_eq!(granted(&["cn=netops,ou=fakes,dc=example"]), None, "a whole DN is meant whole");
    }

    #[tokio::test]
    async fn an_empty_password_is_no_login() {
        let question = Question {
            ldap: Ldap::at("ldap://127.0.0.1:1"),
            authorities: None,
            bind_password: String::new(),
            name: "ops".into(),
            password: String::new(),
        };
        let directory = Directory::new();
        let turn = Arc::clone(&directory.turns).acquire_owned().await.unwrap();
        assert_eq!(directory.ask([0; 32], question, turn).await, Err(Denied::Wrong));
    }
}
