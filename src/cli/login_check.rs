//! `bascule login-check`: whether somebody at the console or over SSH is who they say, for PAM's `pam_exec`.
//!
//! Whoever may log in to the appliance may log in to its machine, and is there what they are here: they run under the
//! number of their name ([`number`]), and the appliance has said that it knows them by it. A name
//! that is an account of the machine's own (`bascule`, `daemon`) would run under another number, and never comes in.
//!
//! A running appliance is asked over its Unix socket, so that a changed password counts at once, guesses are counted
//! for where they come from, and the journal tells of them; whatever it does not answer is a refusal. One that does not
//! run cannot be asked: then FILE decides, so that a box whose service does not start can still be mended.

use std::io::{ErrorKind, Read as _};
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::PasswordVerifier as _;
use argon2::password_hash::phc::PasswordHash as Phc;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::args::{LoginCheckArgs, Target};
use super::client::{Client, SOCKET_NAME, runtime};
use super::fail;
use crate::files;
use crate::model::PasswordHash;
use crate::model::access::Role;
use crate::model::person::number;

/// A console that waits longer looks dead.
const PATIENCE: Duration = Duration::from_secs(10);
const PASSWORD_MAX: u64 = 1_024;

pub(super) fn run(args: &LoginCheckArgs) -> ExitCode {
    let Ok(user) = std::env::var("PAM_USER") else { return fail("login-check: PAM_USER is not set") };
    let mut password = Vec::new();
    if let Err(error) = std::io::stdin().lock().take(PASSWORD_MAX + 1).read_to_end(&mut password) {
        return fail(&format!("login-check: stdin cannot be read: {error}"));
    }
    // PAM ends it with a NUL, people with a line.
    let end = password.iter().position(|byte| matches!(byte, 0 | b'\n' | b'\r')).unwrap_or(password.len());
    let Ok(password) = std::str::from_utf8(&password[..end]) else {
        return fail("login-check: the password is no text");
    };
    if !runs_as_themselves(&user) {
        return fail(&format!("login-check: {user} is a user of the machine itself"));
    }
    // sshd tells an address; `login` on a console nothing.
    let from = origin(&std::env::var_os("PAM_RHOST").unwrap_or_default().to_string_lossy());
    match decide(args, &user, password, from.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(&format!("login-check: {why}")),
    }
}

/// Whether the machine has no account of this name under another number.
fn runs_as_themselves(user: &str) -> bool {
    let account = nix::unistd::User::from_name(user);
    account.is_ok_and(|account| account.is_none_or(|account| account.uid.as_raw() == number(user)))
}

fn decide(args: &LoginCheckArgs, user: &str, password: &str, from: Option<&str>) -> Result<(), String> {
    runtime()?.block_on(async {
        let socket = args.state.join(SOCKET_NAME);
        match tokio::time::timeout(PATIENCE, UnixStream::connect(&socket)).await {
            Ok(Ok(_)) => ask(args, user, password, from).await,
            // It does not run.
            Ok(Err(error)) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                by_file(&args.config, user, password)
            }
            Ok(Err(error)) => Err(format!("the appliance cannot be asked: {}: {error}", socket.display())),
            Err(_) => Err("the appliance runs, and does not answer".to_owned()),
        }
    })
}

/// What the running appliance says. Whatever keeps it from an answer is a refusal.
async fn ask(args: &LoginCheckArgs, user: &str, password: &str, from: Option<&str>) -> Result<(), String> {
    let client = Client::find(&Target { state: Some(args.state.clone()), ..Target::default() })?.within(PATIENCE);
    let mut body = json!({ "user": user, "password": password });
    if let Some(from) = from {
        body["from"] = Value::from(from);
    }
    let checked = client.call(Method::POST, "/api/v1/logins/check", Some(&body)).await;
    let checked = checked.map_err(|failure| failure.to_string())?;
    if checked["uid"] != number(user) {
        return Err(format!("the appliance knows no number of {user}"));
    }
    if args.superuser && checked["role"] != Role::Superuser.word() {
        return Err(format!("{user} is no superuser"));
    }
    Ok(())
}

/// Where somebody logs in from, by PAM's word for it. `None`: the console. A host that is told by a name, which is
/// whatever its owner calls it, is somewhere else and no more is known.
fn origin(rhost: &str) -> Option<String> {
    // `fe80::1%eth0`
    let address = rhost.split('%').next().unwrap_or_default().parse::<IpAddr>().ok();
    let address = address.map(|ip| ip.to_canonical()).filter(|ip| !ip.is_unspecified());
    (!rhost.is_empty()).then(|| address.unwrap_or(Ipv6Addr::UNSPECIFIED.into()).to_string())
}

fn by_file(config: &Path, user: &str, password: &str) -> Result<(), String> {
    let loaded = files::load(config, &[])
        .map_err(|_| format!("the appliance does not run, and {} does not load", config.display()))?;
    let known = loaded.model.admin.users.iter().find(|known| *known.name == *user && known.role == Role::Superuser);
    let hash = match known.map(|known| &known.password) {
        Some(PasswordHash::Inline(hash)) => Phc::new(hash).map_err(|error| error.to_string())?,
        Some(_) => return Err("the appliance does not run, and the hash is in no place that is read without it".into()),
        None => return Err("wrong name or password".into()),
    };
    Argon2::default().verify_password(password.as_bytes(), &hash).map_err(|_| "wrong name or password".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn without_the_appliance_the_file_says_who_may_log_in() {
        let hash = super::super::passwd::hashed("s3cret").unwrap();
        let text = format!(
            "schema = 1\n[admin.user.nsroot]\nrole = \"superuser\"\npassword_hash = \"{hash}\"\n\
             [admin.user.guest]\nrole = \"read-only\"\npassword_hash = \"{hash}\"\n"
        );
        let file = file(&text);
        assert_eq!(by_file(file.path(), "nsroot", "s3cret"), Ok(()));
        assert!(by_file(file.path(), "nsroot", "S3cret").is_err());
        assert!(by_file(file.path(), "nsroot", "").is_err());
        assert!(by_file(file.path(), "nobody", "s3cret").is_err());
        assert!(by_file(file.path(), "guest", "s3cret").is_err(), "there is nothing that they may do");
    }

    #[test]
    fn a_user_of_the_machine_is_nobody_of_the_appliance() {
        assert!(!runs_as_themselves("root"));
        assert!(runs_as_themselves("alice-of-the-appliance"));
    }

    #[test]
    fn only_who_comes_from_nowhere_is_at_the_console() {
        assert_eq!(origin(""), None);
        for (rhost, from) in [
            ("198.51.100.7", "198.51.100.7"),
            ("::ffff:198.51.100.7", "198.51.100.7"),
            ("fe80::1%eth0", "fe80::1"),
            ("127.0.0.1", "127.0.0.1"),
            ("0.0.0.0", "::"),
            ("guesser.example", "::"),
        ] {
            assert_eq!(origin(rhost).as_deref(), Some(from), "{rhost}");
        }
    }
}
