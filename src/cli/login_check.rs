//! `bascule login-check`: whether somebody at the console or over SSH is who they say, for PAM's `pam_exec`.
//!
//! Whoever may log in to the appliance may log in to its machine, and is there what they are here: they run under the
//! number of their name ([`number`]), and the appliance has said that it knows them by it. A name
//! that is an account of the machine's own (`bascule`, `daemon`) would run under another number, and never comes in.
//!
//! A running appliance is asked over its management address, so that a changed password counts at once, guesses are
//! counted, and the journal tells of them. One that does not run cannot be asked: then FILE decides, so that a box
//! whose service does not start can still be mended.

use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::PasswordVerifier as _;
use argon2::password_hash::phc::PasswordHash as Phc;
use reqwest::Method;

use super::args::{LoginCheckArgs, Target};
use super::client::{Client, Failure, runtime};
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
    match decide(args, &user, password) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(&format!("login-check: {why}")),
    }
}

/// Whether the machine has no account of this name under another number.
fn runs_as_themselves(user: &str) -> bool {
    let account = nix::unistd::User::from_name(user);
    account.is_ok_and(|account| account.is_none_or(|account| account.uid.as_raw() == number(user)))
}

fn decide(args: &LoginCheckArgs, user: &str, password: &str) -> Result<(), String> {
    let by_file = || by_file(&args.config, user, password);
    let target = Target { state: Some(args.state.clone()), ..Target::default() };
    let Ok(local) = Client::find(&target) else { return by_file() };
    runtime()?.block_on(async {
        match ask(&local.within(PATIENCE), args.superuser, user, password).await {
            Ok(answer) => answer,
            // Nobody answers on the socket that is left over, or on the management address.
            Err(Failure::Unreachable { .. }) => by_file(),
            Err(Failure::Declined { detail, .. }) => Err(detail),
        }
    })
}

/// Errors: the appliance could not be asked. Inside: what it said.
async fn ask(local: &Client, superuser: bool, user: &str, password: &str) -> Result<Result<(), String>, Failure> {
    let status = local.call(Method::GET, "/api/v1/status", None).await?;
    let Some(listen) = status["management"]["listen"].as_str().and_then(|at| at.parse().ok()) else {
        return Ok(Err("the appliance listens at no address that a password is judged at".to_owned()));
    };
    let fingerprint = status["management"]["fingerprint"].as_str().map(str::to_owned);
    let scheme = if fingerprint.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}", reachable(listen));
    let target = Target { url: Some(url), fingerprint, ..Target::default() };
    let remote = match Client::find(&target) {
        Ok(remote) => remote.within(PATIENCE).with_password(user, password),
        Err(why) => return Ok(Err(why)),
    };
    match remote.call(Method::GET, "/api/v1/whoami", None).await {
        // Where nobody has to log in, whoever calls from this machine has no number: no login is that.
        Ok(whoami) if whoami["uid"] != number(user) => Ok(Err(format!("the appliance knows no number of {user}"))),
        Ok(whoami) if superuser && whoami["role"] != Role::Superuser.word() => {
            Ok(Err(format!("{user} is no superuser")))
        }
        Ok(_) => Ok(Ok(())),
        // Its management does not hear this machine (`admin.allow`): the console is a way in all the same.
        Err(failure @ Failure::Unreachable { .. }) => Err(failure),
        Err(failure) => Ok(Err(failure.to_string())),
    }
}

/// From this machine.
fn reachable(listen: SocketAddr) -> SocketAddr {
    match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listen.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::new(Ipv6Addr::LOCALHOST.into(), listen.port()),
        _ => listen,
    }
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
    fn a_wildcard_is_asked_over_loopback() {
        assert_eq!(reachable("[::]:9443".parse().unwrap()).to_string(), "[::1]:9443");
        assert_eq!(reachable("0.0.0.0:9443".parse().unwrap()).to_string(), "127.0.0.1:9443");
        assert_eq!(reachable("192.0.2.1:9443".parse().unwrap()).to_string(), "192.0.2.1:9443");
    }
}
