use proptest::prelude::*;

use super::text::{Text, Value};

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Value::Str),
        any::<String>().prop_map(Value::Lines),
        any::<i64>().prop_map(Value::Int),
        (-1e15f64..1e15).prop_map(Value::Float),
        any::<bool>().prop_map(Value::Bool),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            proptest::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|entries| Value::Inline(entries.into_iter().collect())),
        ]
    })
}

fn as_toml(value: &Value) -> toml::Value {
    match value {
        Value::Str(text) | Value::Lines(text) | Value::Verbatim(text) => toml::Value::String(text.clone()),
        Value::Int(number) => toml::Value::Integer(*number),
        Value::Float(number) => toml::Value::Float(*number),
        Value::Bool(value) => toml::Value::Boolean(*value),
        Value::List(items) => toml::Value::Array(items.iter().map(as_toml).collect()),
        Value::Inline(entries) => {
            toml::Value::Table(entries.iter().map(|(key, value)| (key.clone(), as_toml(value))).collect())
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_toml_of_the_same_meaning(table: String, key: String, value in values()) {
        let mut out = Text::default();
        out.table(&["a", &table]);
        out.key(&key, value.clone());
        let text = out.finish();
        let read: toml::Table = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        prop_assert_eq!(&read["a"][&table][&key], &as_toml(&value), "{}", text);
    }
}
