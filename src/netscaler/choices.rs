//! The words that an attribute takes, for those who complete lines.

use super::resource::{Attribute, Form, Joint, Place, Resource};
use super::value::{kind_at, schema_of};
use crate::config::schema::Kind;

/// In NetScaler's spelling; none where any text will do.
pub fn choices(resource: &Resource, attribute: &Attribute) -> Vec<&'static str> {
    match attribute.place {
        Place::State | Place::At(_, Form::Enabled) => vec!["ENABLED", "DISABLED"],
        Place::At(_, Form::YesNo) => vec!["YES", "NO"],
        Place::At(_, Form::OnOff) => vec!["ON", "OFF"],
        Place::At(path, Form::Word) => words_at(resource, path),
        Place::Only(values) => values.iter().copied().filter(|value| !value.is_empty()).collect(),
        Place::With(Joint::Tls) => vec!["ENABLED", "DISABLED"],
        Place::With(_) => match attribute.nitro {
            "persistencetype" => words_at(resource, &["persistence", "type"]),
            "persistencebackup" => words_at(resource, &["persistence", "backup"]),
            "somethod" => words_at(resource, &["spillover", "method"]),
            "sobackupaction" => words_at(resource, &["spillover", "backup_action"]),
            "sopersistence" => vec!["ENABLED", "DISABLED"],
            "units1" | "units2" | "units3" | "units4" => vec!["SEC", "MSEC", "MIN"],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn words_at(resource: &Resource, path: &[&str]) -> Vec<&'static str> {
    let kind = schema_of(resource.section()).and_then(|schema| kind_at(schema, path));
    kind.map(words).unwrap_or_default()
}

fn words(kind: &'static Kind) -> Vec<&'static str> {
    match kind {
        Kind::Word(words) => words.known.to_vec(),
        Kind::OneOf(kinds) => kinds.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(resource: &str, attribute: &str) -> Vec<&'static str> {
        let resource = Resource::find(resource).unwrap();
        choices(resource, resource.attribute(attribute).unwrap())
    }

    #[test]
    fn enumerations_have_their_words_and_texts_have_none() {
        assert!(of("lbvserver", "lbmethod").contains(&"LEASTCONNECTION"));
        assert!(of("lbvserver", "persistencetype").contains(&"COOKIEINSERT"));
        assert!(of("lbvserver", "somethod").contains(&"HEALTH"));
        assert!(of("lbvserver", "servicetype").contains(&"HTTP"));
        assert!(of("lbmonitor", "type").contains(&"TCP-ECV"));
        assert_eq!(of("service", "cip"), ["ENABLED", "DISABLED"]);
        assert_eq!(of("service", "healthmonitor"), ["YES", "NO"]);
        assert!(of("lbvserver", "redirurl").is_empty());
    }
}
