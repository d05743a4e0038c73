//! Commands that change the configuration: which lines they are, what they answer, and the configuration in NetScaler's
//! words.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::client::Client;
use super::commands::{OF_USERS, View};
use super::complete::Named;
use super::execute::{Answer, Refused};
use super::grammar::starts_with;
use crate::admin::dto::{ConfigDto, StatusDto};
use crate::config::visible;
use crate::netscaler::document::Document;
use crate::netscaler::export;
use crate::netscaler::line::Token;
use crate::netscaler::resource::{Place, Resource};

/// Verbs of configuration; `set` has shell commands of its own beside, and `enable` and `disable` have `ns feature`.
const VERBS: [&str; 8] = ["add", "unset", "rm", "bind", "unbind", "rename", "link", "unlink"];
/// What `set` sets that is state and no configuration.
const SET_STATE: [&str; 4] = ["scenario", "switch", "check", "drill"];

/// Whether a line is for the configuration: it goes to the appliance as it is.
pub(super) fn is_configuration(tokens: &[Token]) -> bool {
    let [first, rest @ ..] = tokens else { return false };
    if first.quoted {
        return false;
    }
    let word = |at: usize| rest.get(at).filter(|token| !token.quoted).map_or("", |token| &token.text[..]);
    let is = |whole: &str| first.text.len() >= 2 && starts_with(whole, &first.text);
    // `re` could be `return` or `replay` as well.
    let is_short = first.text.len() == 2 && starts_with("rename", &first.text);
    // Deliveries are no configuration.
    if is("rm") && word(0).len() >= 2 && starts_with("outbox", word(0)) {
        return false;
    }
    if is_of_users(tokens) {
        return false;
    }
    if VERBS.iter().any(|verb| is(verb)) && !is_short {
        return true;
    }
    if is("clear") {
        let at = usize::from(word(0).eq_ignore_ascii_case("ns"));
        return !word(at).is_empty() && starts_with("config", word(at));
    }
    if is("enable") || is("disable") {
        return word(0).eq_ignore_ascii_case("ns") && !word(1).is_empty() && starts_with("feature", word(1));
    }
    if !is("set") {
        return false;
    }
    let sets_state = !word(0).is_empty() && SET_STATE.iter().any(|what| starts_with(what, word(0)));
    // A force is of a service, a split of a vserver; both are acts.
    let acts = |token: &Token| {
        let option = token.text.strip_prefix('-').filter(|option| !token.quoted && option.len() > 2);
        option.is_some_and(|option| starts_with("force", option) || starts_with("split", option))
    };
    !sets_state && !rest.iter().any(acts)
}

/// Whether a line makes or changes a user: a password may stand in it.
pub(super) fn is_of_users(tokens: &[Token]) -> bool {
    let is = |at: usize, whole: &str, least: usize| {
        let token = tokens.get(at).filter(|token| !token.quoted && token.text.len() >= least);
        token.is_some_and(|token| starts_with(whole, &token.text))
    };
    OF_USERS.iter().any(|verb| is(0, verb, 2)) && is(1, "system", 1) && is(2, "user", 1)
}

/// Lines that were sent together.
pub(super) struct CarriedOut {
    /// Of each, in order.
    pub outcomes: Vec<Result<(), Refused>>,
    /// About what the lines name.
    pub warnings: Vec<String>,
    /// Whatever there is to be warned of in the configuration now.
    pub hold: Vec<String>,
}

/// Sends one line. Its error is NetScaler's.
pub(super) async fn line(client: &Client, line: &str) -> Result<Answer, Refused> {
    let (json, carried_out) = send(client, &[line.to_owned()]).await?;
    carried_out.outcomes.into_iter().find(Result::is_err).unwrap_or(Ok(()))?;
    Ok(Answer { text: String::new(), json, warnings: carried_out.warnings })
}

/// Sends lines, of which each may be refused. Errors: none of them was carried out.
pub(super) async fn lines(client: &Client, lines: &[String]) -> Result<CarriedOut, Refused> {
    send(client, lines).await.map(|(_, carried_out)| carried_out)
}

async fn send(client: &Client, lines: &[String]) -> Result<(Value, CarriedOut), Refused> {
    let body = json!({ "lines": lines });
    let json = client.call(Method::POST, "/api/v1/ns/commands", Some(&body)).await?;
    let outcome = |result: &Value| {
        if result["ok"] == true {
            return Ok(());
        }
        let code = result["code"].as_u64().unwrap_or_default();
        let message = result["message"].as_str().unwrap_or("the appliance says no more");
        Err(Refused::NetScaler { code, message: message.to_owned() })
    };
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let words = lines.iter().flat_map(|line| crate::netscaler::line::tokens(line).unwrap_or_default());
    let words: Vec<String> = words.map(|token| token.text).collect();
    let warnings = texts(&json["warnings"]);
    let carried_out = CarriedOut {
        outcomes: json["results"].as_array().into_iter().flatten().map(outcome).collect(),
        warnings: warnings.iter().filter_map(|warning| about(warning, &words)).collect(),
        hold: texts(&json["config"]["warnings"]).iter().map(|warning| without_place(warning).to_owned()).collect(),
    };
    Ok((json, carried_out))
}

/// A warning without the place in a text that nobody wrote.
fn without_place(warning: &str) -> &str {
    let is_place = |place: &str| place.rsplit_once(':').is_some_and(|(_, at)| at.bytes().all(|b| b.is_ascii_digit()));
    match warning.split_once(": ") {
        Some((place, text)) if is_place(place) => text,
        _ => warning,
    }
}

/// A warning without its place, where it is about an object that the words name: what is not finished elsewhere is no
/// news.
fn about(warning: &str, words: &[String]) -> Option<String> {
    let text = without_place(warning);
    let Some((path, _)) = text.split_once(": ") else { return Some(text.to_owned()) };
    let Some((_, name)) = path.split_once('.') else { return Some(text.to_owned()) };
    let is_named =
        |word: &String| name.strip_prefix(&word[..]).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    words.iter().any(is_named).then(|| text.to_owned())
}

/// `save config`: where it went.
pub(super) fn saved(answer: &mut Answer) {
    if let Ok(config) = serde_json::from_value::<ConfigDto>(answer.json["config"].clone())
        && let Some(path) = config.path
    {
        answer.text = format!("\tSaved to {path}\n");
    }
}

/// `show ns runningConfig`: in NetScaler's words, or as TOML.
pub(super) async fn running(client: &Client, toml: bool) -> Result<Answer, Refused> {
    let text = client.text("/api/v1/config", "application/toml").await?;
    let status: StatusDto = client.get("/api/v1/status").await?;
    let mut warnings = match status.config.unsaved {
        true => vec!["there are changes that are not saved: `save ns config` writes them".to_owned()],
        false => Vec::new(),
    };
    warnings.extend(status.config.set.iter().map(|path| {
        format!(
            "`{path}` is set on the command line (--set), which wins while this process runs, and is not shown here"
        )
    }));
    if toml {
        return Ok(Answer { text: visible::toml(&text).into_owned(), json: json!({ "config": text }), warnings });
    }
    let document = Document::from_toml(&text).map_err(Refused::Ours)?;
    let disabled = status.overrides.into_iter().filter(|set| set.slot == "admin" && set.value == "DISABLED");
    let disabled = disabled.map(|set| (set.kind, set.object)).collect();
    let lines = export::lines_of_running(&document, &status.version, &disabled);
    Ok(Answer { json: json!({ "config": lines }), text: lines, warnings })
}

/// Features by the names of NITRO: what `show ns feature` calls them, and the acronym.
const FEATURES: [(&str, &str, &str); 6] = [
    ("lb", "Load Balancing", "LB"),
    ("cs", "Content Switching", "CS"),
    ("ssl", "SSL Offloading", "SSL"),
    ("gslb", "Global Server Load Balancing", "GSLB"),
    ("rewrite", "Rewrite", "REWRITE"),
    ("responder", "Responder", "RESPONDER"),
];

/// `show ns feature`
pub(super) async fn features(client: &Client) -> Result<Answer, Refused> {
    let text = client.text("/api/v1/config", "application/toml").await?;
    let document = Document::from_toml(&text).map_err(Refused::Ours)?;
    let map = Resource::find("nsfeature").and_then(|feature| document.object(feature, "")).unwrap_or_default();
    let mut out =
        format!("\t{:<34}{:<13}{}\n\t{:<34}{:<13}{}\n", "Feature", "Acronym", "Status", "-------", "-------", "------");
    for (at, (key, name, acronym)) in FEATURES.iter().enumerate() {
        let state = if map.get(*key) == Some(&Value::Bool(true)) { "ON" } else { "OFF" };
        out += &format!("{:>2})\t{name:<34}{acronym:<13}{state}\n", at + 1);
    }
    Ok(Answer { text: out, json: Value::Object(map), warnings: Vec::new() })
}

/// Words that may follow `add lb`, and keywords of `add lb vserver …`; nothing where it is no command of configuration.
pub(super) fn expected(finished: &[String], typed: &str) -> Option<Vec<&'static str>> {
    let verbs = ["add", "set", "unset", "rm", "bind", "unbind", "rename"];
    let Some((verb, rest)) = finished.split_first() else { return Some(verbs.to_vec()) };
    if !(verb.len() >= 2 && verbs.iter().any(|known| starts_with(known, verb))) {
        return None;
    }
    let objects = || Resource::all().filter(|resource| !resource.is_binding());
    let fitting =
        |resource: &&'static Resource| resource.words.iter().zip(rest).all(|(word, typed)| starts_with(word, typed));
    if typed.starts_with('-') {
        let resource = objects().filter(fitting).find(|resource| resource.words.len() <= rest.len())?;
        let bindings: Vec<&'static Resource> = match starts_with("bind", verb) || starts_with("unbind", verb) {
            true => resource.bindings().collect(),
            false => vec![resource],
        };
        let attributes = bindings.into_iter().flat_map(Resource::attributes);
        let taken = attributes.filter(|a| !matches!(a.place, Place::Refused(_) | Place::Only(_) | Place::Name));
        return Some(taken.map(|attribute| attribute.cli).collect());
    }
    let mut words: Vec<&'static str> =
        objects().filter(fitting).filter_map(|r| r.words.get(rest.len()).copied()).collect();
    words.sort_unstable();
    words.dedup();
    (!words.is_empty()).then_some(words)
}

/// What the next word names, behind `rm lb vserver`.
pub(super) fn named(finished: &[String]) -> Option<Named> {
    let (verb, rest) = finished.split_first()?;
    let verbs = ["set", "unset", "rm", "bind", "unbind", "rename"];
    if !(verb.len() >= 2 && verbs.iter().any(|known| starts_with(known, verb))) {
        return None;
    }
    let fits = |resource: &&'static Resource| {
        let words = resource.words.iter().zip(rest).all(|(word, typed)| starts_with(word, typed));
        !resource.is_binding() && resource.words.len() == rest.len() && words
    };
    let mut found: Vec<&'static Resource> = Resource::all().filter(fits).collect();
    // A whole word wins over those that it begins: `service`, `serviceGroup`.
    if let Some(whole) = found.iter().position(|r| r.words.iter().zip(rest).all(|(w, t)| w.eq_ignore_ascii_case(t))) {
        found = vec![found[whole]];
    }
    match found[..] {
        [one] => names_of(one.nitro),
        _ => None,
    }
}

/// Where the names of a resource's objects are found.
pub(super) fn names_of(nitro: &str) -> Option<Named> {
    Some(match nitro {
        "server" => Named::Of(View::Server),
        "service" | "sslservice" => Named::Services,
        "servicegroup" | "sslservicegroup" => Named::Of(View::Group),
        "lbvserver" => Named::Of(View::LbVserver),
        "csvserver" => Named::Of(View::CsVserver),
        "sslvserver" => Named::Of(View::Vserver),
        "lbmonitor" => Named::Of(View::Monitor),
        "sslcertkey" => Named::Of(View::Certificate),
        "cspolicy" => Named::Listed("cs-policies"),
        "csaction" => Named::Listed("cs-actions"),
        "responderpolicy" => Named::Listed("responder-policies"),
        "responderaction" => Named::Listed("responder-actions"),
        "rewritepolicy" => Named::Listed("rewrite-policies"),
        "rewriteaction" => Named::Listed("rewrite-actions"),
        "policypatset" => Named::Listed("pattern-sets"),
        "policyexpression" => Named::Listed("policy-expressions"),
        _ => return None,
    })
}

/// Usages of commands of configuration, for `help`.
pub(super) fn usages() -> Vec<String> {
    let mut usages = Vec::new();
    for resource in Resource::all().filter(|resource| !resource.key.is_empty() && !resource.is_binding()) {
        let arguments: Vec<String> = resource.positional.iter().map(|one| format!("<{one}>")).collect();
        let said = resource.said();
        if resource.words[0] != "ssl" || resource.words[1] == "certKey" {
            usages.push(format!("add {said} {} [-<parameter> <value>]...", arguments.join(" ")));
            usages.push(format!("rm {said} <name>"));
        }
        if Document::is_renamed(resource) {
            usages.push(format!("rename {said} <name> <newName>"));
        }
        // A record is taken away and added again.
        let is_set = !resource.is_of_network() && (resource.words[0] != "dns" || resource.words[1] == "soaRec");
        if is_set {
            usages.push(format!("set {said} <name> -<parameter> <value>..."));
            usages.push(format!("unset {said} <name> -<parameter>..."));
        }
        for binding in resource.bindings() {
            let arguments: Vec<String> = binding.positional.iter().map(|one| format!("<{one}>")).collect();
            let keyword = binding.required.iter().find(|one| !binding.positional.contains(one));
            let keyword = keyword.and_then(|one| binding.attribute(one)).map(|one| format!(" -{} <name>", one.cli));
            usages.push(format!("bind {said} {}{}", arguments.join(" "), keyword.unwrap_or_default()));
        }
    }
    for single in Resource::all().filter(|resource| resource.key.is_empty() && is_set(resource)) {
        usages.push(format!("set {} -<parameter> <value>...", single.said()));
    }
    let others =
        ["enable ns feature <feature>...", "disable ns feature <feature>...", "clear ns config -force <level>"];
    usages.extend(others.map(str::to_owned));
    usages
}

/// Whether something can be set of a resource that there is one of: `ns hostName`.
fn is_set(resource: &Resource) -> bool {
    resource.nitro != "nsfeature" && resource.attributes().next().is_some()
}

/// `batch -fileName F [-outfile F]`
pub(super) fn batch_arguments(arguments: &super::grammar::Arguments) -> Result<(String, Option<String>), String> {
    let Some(file) = arguments.value("fileName")? else { return Err("Required argument missing [fileName]".into()) };
    Ok((file.to_owned(), arguments.value("outfile")?.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netscaler::line::tokens;

    #[test]
    fn lines_of_configuration_are_told_from_acts() {
        for line in [
            "add lb vserver v HTTP",
            "rm server a",
            "set lb vserver v -timeout 5",
            "set service s -maxClient 5",
            "set serv s",
            "enable ns feature LB",
            "unbind service s -monitorName m",
        ] {
            assert!(is_configuration(&tokens(line).unwrap()), "{line}");
        }
        for line in [
            "show service",
            "disable service s 30",
            "set scenario dr -activate on",
            "set switch a true",
            "set service s -force UP",
            "set lb vserver v -split a=1,b=99",
            "enable lb vserver v",
            "rm outbox 1",
            "clear lb persistentSessions",
            "clear ns",
            "re scenario dr",
        ] {
            assert!(!is_configuration(&tokens(line).unwrap()), "{line}");
        }
    }

    #[test]
    fn a_warning_is_told_where_it_is_about_the_line() {
        let warning = "(configuration):90: vserver.new: has no members; it is DOWN for ever";
        let told = |warning: &str, line: &str| about(warning, &line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(told(warning, "add lb vserver new HTTP").as_deref(), Some(&warning[20..]));
        assert_eq!(told(warning, "add lb vserver newer HTTP"), None);
        assert_eq!(
            told("Feature(s) not enabled [LB]", "add lb vserver x HTTP").as_deref(),
            Some("Feature(s) not enabled [LB]")
        );
    }

    #[test]
    fn words_and_keywords_are_completed() {
        let after = |line: &str, typed: &str| {
            let finished: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            expected(&finished, typed)
        };
        assert_eq!(after("add lb", ""), Some(vec!["group", "monitor", "parameter", "vserver"]));
        assert!(after("add lb vserver v HTTP", "-").unwrap().contains(&"persistenceType"));
        assert!(after("bind serviceGroup g", "-").unwrap().contains(&"monitorName"));
        assert_eq!(after("show lb", ""), None);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(named(&words("rm lb vs")), Some(Named::Of(View::LbVserver)));
        assert_eq!(named(&words("bind service")), Some(Named::Services));
        assert_eq!(named(&words("add server")), None);
    }
}
