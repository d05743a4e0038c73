//! What follows the words: arguments in order, and keywords with their values.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::Token;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Attribute, Kind, Place, Resource};
use crate::netscaler::statement::{Verb, names_default_suites};
use crate::netscaler::value::text_of;

/// A number's unit stands behind it: the keyword, NITRO's name of the unit.
const UNITS: [(&str, &str); 4] =
    [("interval", "units3"), ("resptimeout", "units4"), ("downtime", "units2"), ("deviation", "units1")];

/// Abbreviations that NetScaler takes although they begin several keywords.
const SHORT: [(&str, &str); 1] = [("persist", "persistencetype")];

/// Of a command on an object.
pub(super) fn of_object(
    verb: Verb,
    resource: &'static Resource,
    tokens: &[Token],
) -> Result<Map<String, Value>, NsError> {
    let mut positional: Vec<&str> = match verb {
        Verb::Add => resource.positional.to_vec(),
        // The type says nothing new, and it is written.
        _ if resource.nitro == "lbmonitor" && verb != Verb::Rename => vec!["monitorname", "type"],
        Verb::Rename => vec![resource.key, "newname"],
        _ if resource.key.is_empty() => resource.positional.to_vec(),
        // `rm dns addRec www.example.test 192.0.2.1`
        Verb::Remove if matches!(resource.words[0], "dns" | "route" | "route6") => resource.positional.to_vec(),
        _ => vec![resource.key],
    };
    // `set lb vserver web -weight 3 svc1`
    if verb == Verb::Set {
        match resource.nitro {
            "lbvserver" => positional.push("servicename"),
            "service" => positional.push("monitor_name_svc"),
            _ => {}
        }
    }
    let mut arguments = read(resource, tokens, &positional, verb == Verb::Unset)?;
    if !resource.key.is_empty() && !arguments.contains_key(resource.key) {
        return Err(NsError::missing(resource.attribute(resource.key).map_or("name", |attribute| attribute.cli)));
    }
    if verb == Verb::Rename && !arguments.contains_key("newname") {
        return Err(NsError::missing("newName"));
    }
    // Of commands that say the type of a monitor again; a wrong one is told.
    if resource.nitro == "lbmonitor" && matches!(verb, Verb::Unset | Verb::Remove) {
        arguments.shift_remove("type");
    }
    Ok(arguments)
}

/// Of a command on a binding: all that it needs must be there.
pub(super) fn of_binding(resource: &'static Resource, tokens: &[Token]) -> Result<Map<String, Value>, NsError> {
    let arguments = read(resource, tokens, resource.positional, false)?;
    if names_default_suites(resource, &arguments) {
        return Ok(arguments);
    }
    let spelled = |nitro: &str| resource.attribute(nitro).map_or("", |attribute| attribute.cli);
    let refused = resource.attributes().find_map(|attribute| match (attribute.place, arguments.get(attribute.nitro)) {
        (Place::Refused(why), Some(value)) => Some(NsError::unsupported(attribute.cli, &text_of(value), why)),
        _ => None,
    });
    // What is asked for in vain tells more than what is missing beside it.
    if let Some(error) = refused {
        return Err(error);
    }
    let needed = std::iter::once(&resource.key).chain(resource.required);
    for one in needed {
        if !one.split('|').any(|nitro| arguments.contains_key(nitro)) {
            return Err(NsError::missing(spelled(one.split('|').next().unwrap_or(one))));
        }
    }
    Ok(arguments)
}

fn read(
    resource: &'static Resource,
    tokens: &[Token],
    positional: &[&str],
    flags: bool,
) -> Result<Map<String, Value>, NsError> {
    let mut arguments = Map::new();
    let mut places = positional.iter();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let Some(keyword) = keyword(token) else {
            let Some(place) = places.next() else { return Err(NsError::no_such_argument(&token.text)) };
            // A list takes all that is left.
            if resource.attribute(place).is_some_and(|a| a.kind == Kind::List) {
                let items = values(&tokens[at - 1..]);
                at += items.len() - 1;
                arguments.insert((*place).to_owned(), items.into());
                continue;
            }
            arguments.insert(chosen(place, &token.text).to_owned(), token.text.clone().into());
            continue;
        };
        if keyword.eq_ignore_ascii_case("devno") {
            at += 1;
            continue;
        }
        let attribute = attribute(resource, keyword)?;
        if arguments.contains_key(attribute.nitro) {
            return Err(NsError::both(attribute.cli, attribute.cli));
        }
        let rest = values(&tokens[at..]);
        let value = match attribute.kind {
            _ if flags => Value::Bool(true),
            // `-invoke policylabel NAME`: what is refused may say more than yes.
            Kind::Boolean if matches!(attribute.place, Place::Refused(_)) && !rest.is_empty() => {
                at += rest.len();
                rest.join(" ").into()
            }
            Kind::Boolean => {
                let is_value = rest.first().is_some_and(|text| crate::netscaler::value::is_true(text).is_some());
                at += usize::from(is_value);
                rest.first().filter(|_| is_value).map_or(Value::Bool(true), |text| (*text).into())
            }
            _ if rest.is_empty() => return Err(NsError::value_missing(attribute.cli)),
            Kind::List => {
                at += rest.len();
                rest.into()
            }
            _ => {
                at += 1;
                rest[0].into()
            }
        };
        arguments.insert(attribute.nitro.to_owned(), value);
        at += follows(attribute, tokens.get(at).filter(|_| !flags), &mut arguments);
    }
    Ok(arguments)
}

/// A unit behind a number, a mask behind an address, a header behind `-cip ENABLED`: how many tokens it is.
fn follows(attribute: &Attribute, next: Option<&Token>, arguments: &mut Map<String, Value>) -> usize {
    let Some(next) = next.filter(|token| keyword(token).is_none()) else { return 0 };
    if let Some((_, unit)) = UNITS.iter().find(|(number, _)| *number == attribute.nitro) {
        let word = ["SEC", "MSEC", "MIN"].into_iter().find(|word| word.eq_ignore_ascii_case(&next.text));
        let Some(word) = word else { return 0 };
        arguments.insert((*unit).to_owned(), word.into());
        return 1;
    }
    // `bind vlan 200 -IPAddress 10.0.2.5 255.255.255.0`
    if attribute.nitro == "ipaddress" && next.text.parse::<std::net::Ipv4Addr>().is_ok() {
        arguments.insert("netmask".to_owned(), next.text.clone().into());
        return 1;
    }
    if attribute.nitro == "cip" {
        arguments.insert("cipheader".to_owned(), next.text.clone().into());
        return 1;
    }
    0
}

/// Without its dash. A negative number is no keyword.
fn keyword(token: &Token) -> Option<&str> {
    let word = token.text.strip_prefix('-').filter(|_| !token.quoted)?;
    word.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(word)
}

/// What stands before the next keyword.
fn values(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().take_while(|token| keyword(token).is_none()).map(|token| &token.text[..]).collect()
}

/// Of `ip|servername` the first where it is an address.
fn chosen<'a>(place: &'a str, text: &str) -> &'a str {
    match place.split_once('|') {
        Some((address, _)) if text.parse::<IpAddr>().is_ok() => address,
        Some((_, name)) => name,
        None => place,
    }
}

/// By the whole keyword, else by the one that it begins. Objects are named in order, so their names count last.
fn attribute(resource: &'static Resource, keyword: &str) -> Result<&'static Attribute, NsError> {
    let whole = |attribute: &&Attribute| {
        attribute.cli.eq_ignore_ascii_case(keyword) || attribute.nitro.eq_ignore_ascii_case(keyword)
    };
    if let Some(attribute) = resource.attributes().find(whole) {
        return Ok(attribute);
    }
    if let Some((_, meant)) = SHORT.iter().find(|(short, _)| short.eq_ignore_ascii_case(keyword))
        && let Some(attribute) = resource.attribute(meant)
    {
        return Ok(attribute);
    }
    // What is refused whatever it says makes nothing ambiguous.
    let begins = |attribute: &&Attribute| {
        let start = attribute.cli.get(..keyword.len());
        !matches!(attribute.place, Place::Name) && start.is_some_and(|start| start.eq_ignore_ascii_case(keyword))
    };
    let mut found: Vec<&'static Attribute> = resource.attributes().filter(begins).collect();
    if found.iter().any(|attribute| !matches!(attribute.place, Place::Refused(_))) {
        found.retain(|attribute| !matches!(attribute.place, Place::Refused(_)));
    }
    match found[..] {
        [one] => Ok(one),
        [] => Err(NsError::no_such_argument(keyword)),
        _ => {
            let names: Vec<&str> = found.iter().map(|attribute| attribute.cli).collect();
            Err(NsError::with(1099, &[keyword]).because(&names.join(", ")))
        }
    }
}
