//! `config ns`: the box's own address, its name and a password, asked for one after the other, as the first thing that
//! somebody at its console does. What it comes to is shown before anything happens; then it is a change like any other.

mod edit;

use std::net::IpAddr;

use reqwest::Method;
use rustyline::history::MemHistory;
use serde_json::{Value, json};

use self::edit::{Addressing, Present, Wishes, address, gateway, list};
use super::super::client::Client;
use super::super::passwd;
use super::execute::{Answer, Refused};
use super::{Ended, Session, print};
use crate::model::access::Role;

/// Who has a password where nobody in particular is logged in.
const NSROOT: &str = "nsroot";

// === impl Session ===

impl Session {
    /// `config ns`
    pub(super) fn setup(&self) -> (String, Ended) {
        match self.set_up() {
            Ok(Some(answer)) => (self.told(&answer), Ended::Well),
            Ok(None) => ("\tNothing is changed.\n Done\n".to_owned(), Ended::Well),
            Err(refused) => (self.refused(&refused), Ended::InError),
        }
    }

    fn set_up(&self) -> Result<Option<Answer>, Refused> {
        if !self.interactive {
            return Err(Refused::Ours(
                "`config ns` asks at a terminal; elsewhere write [network] and have it taken by `bascule apply`".into(),
            ));
        }
        let begun = self.runtime.block_on(begin(&self.client))?;
        let Some((text, shown)) = ask(&begun)? else { return Ok(None) };
        let changes = self.runtime.block_on(preview(&self.client, &text))?;
        if !confirmed(&shown, &changes)? {
            return Ok(None);
        }
        self.runtime.block_on(carry_out(&self.client, text)).map(Some)
    }

    /// At the beginning of a session at the console of a box that nobody has set up.
    pub(super) fn offer_setup(&self) {
        if !self.runtime.block_on(is_due(&self.client)) {
            return;
        }
        print("\tNothing is configured here yet. This box asks for its address by DHCP.\n");
        if matches!(question("Set up its address, name and password now", "yes", yes_or_no), Ok(Some(true))) {
            print(&self.setup().0);
        }
    }
}

/// Whether nobody has configured anything here yet, so that somebody who logs in at the console is asked.
async fn is_due(client: &Client) -> bool {
    let Ok(whoami) = client.call(Method::GET, "/api/v1/whoami", None).await else { return false };
    let text = client.text("/api/v1/config", "application/toml").await.unwrap_or_default();
    whoami["role"] == Role::Superuser.word() && edit::is_bare(&text)
}

/// What the appliance says before the first question.
struct Begun {
    text: String,
    user: String,
    interfaces: Vec<String>,
}

async fn begin(client: &Client) -> Result<Begun, Refused> {
    let whoami = client.call(Method::GET, "/api/v1/whoami", None).await?;
    if whoami["role"] != Role::Superuser.word() {
        return Err(Refused::Ours("`config ns` is for superusers".into()));
    }
    let text = client.text("/api/v1/config", "application/toml").await?;
    let actor = whoami["actor"].as_str().unwrap_or_default();
    let user = actor.strip_prefix("admin:").filter(|user| *user != "local").unwrap_or(NSROOT).to_owned();
    let mut interfaces = edit::interfaces(&text);
    if client.is_here() {
        interfaces.extend(cards());
    }
    interfaces.sort();
    interfaces.dedup();
    Ok(Begun { text, user, interfaces })
}

/// Interfaces of this machine with a card behind them.
fn cards() -> Vec<String> {
    let all = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let with_card = all.filter(|entry| entry.path().join("device").exists());
    with_card.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Asks; the whole configuration as it is to be. `None`: somebody does not want to.
fn ask(begun: &Begun) -> Result<Option<(String, Vec<String>)>, Refused> {
    print(
        "\tThe address, the name and the password of this box. Enter keeps what stands in brackets, - takes it away,\n\
         \t^C ends this without a change.\n",
    );
    let Some(wishes) = wishes(begun)? else { return Ok(None) };
    let edited = edit::carried_out(&begun.text, &wishes).map_err(Refused::Ours)?;
    Ok(Some((edited, edit::shown(&wishes))))
}

fn wishes(begun: &Begun) -> Result<Option<Wishes>, Refused> {
    let first = begun.interfaces.first().cloned().unwrap_or_else(|| "eth0".into());
    let one_of = |typed: &str| match begun.interfaces.iter().any(|known| known == typed) || begun.interfaces.is_empty()
    {
        true => Ok(typed.to_owned()),
        false => Err(format!("one of {}", begun.interfaces.join(", "))),
    };
    let interface = match begun.interfaces.len() {
        0 | 1 => first,
        _ => match question("Interface", &first, one_of)? {
            Some(interface) => interface,
            None => return Ok(None),
        },
    };
    let present = Present::of(&begun.text, &interface).map_err(Refused::Ours)?;
    let what = "IP address (10.0.0.5 or 10.0.0.5/24), or dhcp";
    let Some(mut addressing) = question(what, &present.addressing, address)? else { return Ok(None) };
    if let Addressing::WithoutPrefix(ip) = addressing {
        let default = if ip.is_ipv4() { "255.255.255.0" } else { "64" };
        let Some(with) = question("Netmask", default, |typed| edit::with_mask(ip, typed))? else { return Ok(None) };
        addressing = Addressing::Static(with);
    }
    let mut way = None;
    if let Addressing::Static(own) = addressing {
        let now = present.gateway(own.ip);
        let Some(typed) = question("Gateway", &shown(now), |typed| gateway(own, typed))? else { return Ok(None) };
        way = typed;
    }
    let name = question("Host name", &present.name, |typed| Ok(typed.to_owned()))?;
    let servers = question("Name servers", &shown_list(&present.name_servers), list::<IpAddr>)?;
    let (Some(name), Some(name_servers)) = (name, servers) else { return Ok(None) };
    let Some(password_hash) = password(&begun.user)? else { return Ok(None) };
    let user = begun.user.clone();
    Ok(Some(Wishes { interface, addressing, gateway: way, name, name_servers, user, password_hash }))
}

fn shown(value: Option<IpAddr>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn shown_list<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Asks until an answer is understood; Enter means `default`. `None`: ^C, or the end of the input.
fn question<T>(
    what: &str,
    default: &str,
    understood: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Refused> {
    let prompt = if default.is_empty() { format!("{what}: ") } else { format!("{what} [{default}]: ") };
    loop {
        let Some(typed) = line(&prompt)? else { return Ok(None) };
        let typed = typed.trim();
        let meant = match typed {
            "" => default,
            "-" => "",
            other => other,
        };
        match understood(meant) {
            Ok(value) => return Ok(Some(value)),
            Err(why) => print(&format!("\t{why}\n")),
        }
    }
}

fn line(prompt: &str) -> Result<Option<String>, Refused> {
    let config = rustyline::Config::builder().build();
    let editor = rustyline::Editor::<(), MemHistory>::with_history(config, MemHistory::new());
    let mut editor = editor.map_err(|error| Refused::Ours(format!("no terminal: {error}")))?;
    Ok(editor.readline(prompt).ok())
}

/// The hash of a new password; inside `None`: it stays. Outside: somebody does not want to.
fn password(user: &str) -> Result<Option<Option<String>>, Refused> {
    loop {
        let Ok(once) = passwd::without_echo(&format!("New password of {user} (Enter: as it is): ")) else {
            return Ok(None);
        };
        if once.is_empty() {
            return Ok(Some(None));
        }
        let Ok(again) = passwd::without_echo("Again: ") else { return Ok(None) };
        if once != again {
            print("\tthe two differ\n");
            continue;
        }
        return passwd::hashed(&once).map(|hash| Some(Some(hash))).map_err(Refused::Ours);
    }
}

/// Whether somebody wants it, having seen what it comes to.
fn confirmed(shown: &[String], changes: &Value) -> Result<bool, Refused> {
    let mut out = String::from("\n");
    for line in shown {
        out += &format!("\t{line}\n");
    }
    let changes: Vec<&str> = changes.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if changes.is_empty() {
        print(&(out + "\n\tNothing of it is new.\n"));
        return Ok(false);
    }
    print(&format!("{out}\n\tThis changes:\n{}", changes.iter().map(|c| format!("\t  {c}\n")).collect::<String>()));
    Ok(question("Apply and save it", "no", yes_or_no)?.unwrap_or(false))
}

fn yes_or_no(typed: &str) -> Result<bool, String> {
    match &*typed.to_ascii_lowercase() {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("yes or no".to_owned()),
    }
}

/// What would change.
async fn preview(client: &Client, text: &str) -> Result<Value, Refused> {
    let told = client.send_toml(Method::POST, "/api/v1/config/diff", text.to_owned()).await?;
    Ok(told["changes"].clone())
}

/// Applies and saves. What is not saved though it is applied is told.
async fn carry_out(client: &Client, text: String) -> Result<Answer, Refused> {
    let json = client.send_toml(Method::PUT, "/api/v1/config", text).await?;
    let saved = client.call(Method::POST, "/api/v1/config/save", Some(&json!({}))).await;
    let warnings = match saved {
        Ok(_) => Vec::new(),
        Err(why) => vec![format!("it is applied, and not saved: {why}")],
    };
    Ok(Answer { text: "\tApplied and saved; `config ns` asks again.\n".into(), json, warnings })
}
