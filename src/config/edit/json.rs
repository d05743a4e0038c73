//! Reading JSON that people wrote: a name that stands twice in one object is an error, not a riddle about which one counts.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// One JSON value.
///
/// Errors: no JSON, or the name that is defined twice; both with line and column.
pub fn parse_json(text: &str) -> Result<Value, String> {
    serde_json::from_str::<Once>(text).map(|once| once.0).map_err(|error| error.to_string())
}

/// A value in which every name stands once.
struct Once(Value);

struct Reader;

// === impl Once ===

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Once, D::Error> {
        Reader.deserialize(deserializer).map(Once)
    }
}

// === impl Reader ===

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that JSON cannot hold"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Reader)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if map.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` is defined twice")));
            }
            map.insert(name, entries.next_value_seed(Reader)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_twice_is_refused_and_named() {
        let twice = "{\"service\": {\n  \"a\": {\"port\": 1},\n  \"a\": {\"port\": 2}}}";
        let error = parse_json(twice).unwrap_err();
        assert!(error.starts_with("`a` is defined twice at line 3"), "{error}");
        assert!(parse_json("{\"x\": {\"a\": 1}, \"y\": {\"a\": 1}}").is_ok(), "in two objects it is two names");
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_json_reads_as_serde_reads_it(text in ".{0,80}") {
            if let Ok(value) = parse_json(&text) {
                proptest::prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            }
        }
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let text = r#"{"a": [null, true, -1, 18446744073709551615, 1.5, "x\u00e9"], "b": {}}"#;
        assert_eq!(parse_json(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }
}
