//! `bascule passwd`: a password in, its argon2id hash out.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use argon2::Argon2;
use argon2::password_hash::PasswordHasher as _;
use argon2::password_hash::phc::PasswordHash;
use rustyline::history::MemHistory;

use super::{fail, say};

/// Longer ones are a pasted file.
const PASSWORD_MAX: usize = 1_024;

/// Asks twice on a terminal, without echo; from a pipe the first line is the password.
pub(super) fn run() -> ExitCode {
    let password = if std::io::stdin().is_terminal() { ask_twice() } else { first_line() };
    match password.and_then(|password| hashed(&password)) {
        Ok(hash) => {
            say(&hash);
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("passwd: {error}")),
    }
}

/// The PHC string of a password: argon2id with a random salt and the costs that its authors advise. Errors: a system without
/// random numbers.
pub fn hashed(password: &str) -> Result<String, String> {
    let hash: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| error.to_string())
}

fn first_line() -> Result<String, String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| format!("stdin cannot be read: {error}"))?;
    accepted(line.trim_end_matches(['\r', '\n']))
}

fn ask_twice() -> Result<String, String> {
    let once = accepted(&without_echo("Password: ")?)?;
    if without_echo("Again: ")? != once {
        return Err("the two passwords differ".into());
    }
    Ok(once)
}

fn accepted(password: &str) -> Result<String, String> {
    match password.len() {
        0 => Err("the password is empty".into()),
        n if n > PASSWORD_MAX => Err(format!("the password is longer than {PASSWORD_MAX} bytes")),
        _ => Ok(password.to_owned()),
    }
}

/// The line editor draws what is typed as nothing.
pub(super) fn without_echo(prompt: &str) -> Result<String, String> {
    let config = rustyline::Config::builder().build();
    let mut editor = rustyline::Editor::<Silent, MemHistory>::with_history(config, MemHistory::new())
        .map_err(|error| error.to_string())?;
    editor.set_helper(Some(Silent));
    editor.readline(prompt).map_err(|error| error.to_string())
}

struct Silent;

impl rustyline::Helper for Silent {}
impl rustyline::hint::Hinter for Silent {
    type Hint = String;
}
impl rustyline::validate::Validator for Silent {}
impl rustyline::completion::Completer for Silent {
    type Candidate = String;
}
impl rustyline::highlight::Highlighter for Silent {
    fn highlight<'l>(&self, _line: &'l str, _cursor: usize) -> std::borrow::Cow<'l, str> {
        "".into()
    }

    fn highlight_char(&self, _line: &str, _cursor: usize, _kind: rustyline::highlight::CmdKind) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_password_is_refused() {
        assert!(accepted("").is_err());
        assert!(accepted(&"x".repeat(PASSWORD_MAX + 1)).is_err());
        assert_eq!(accepted("s3cret").unwrap(), "s3cret");
    }

    #[test]
    fn a_hash_is_argon2id_and_never_twice_the_same() {
        let (one, two) = (hashed("s3cret").unwrap(), hashed("s3cret").unwrap());
        assert!(one.starts_with("$argon2id$v=19$"), "{one}");
        assert_ne!(one, two);
    }
}
