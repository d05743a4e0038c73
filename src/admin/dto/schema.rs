//! The JSON form of what structures are made of, for the OpenAPI document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Items;

/// A type whose JSON form can be told. Structures go into `components` once and are referred to.
pub trait Schema {
    fn schema(components: &mut Map<String, Value>) -> Value;
}

// === impl Schema for what DTOs are made of ===

impl<T: Schema> Schema for Items<T> {
    fn schema(components: &mut Map<String, Value>) -> Value {
        let items = <Vec<T>>::schema(components);
        json!({ "type": "object", "required": ["items"], "properties": { "items": items } })
    }
}

impl<T: Schema> Schema for Vec<T> {
    fn schema(components: &mut Map<String, Value>) -> Value {
        json!({ "type": "array", "items": T::schema(components) })
    }
}

impl<T: Schema> Schema for BTreeMap<String, T> {
    fn schema(components: &mut Map<String, Value>) -> Value {
        json!({ "type": "object", "additionalProperties": T::schema(components) })
    }
}

impl<T: Schema> Schema for Option<T> {
    fn schema(components: &mut Map<String, Value>) -> Value {
        json!({ "anyOf": [T::schema(components), { "type": "null" }] })
    }
}

impl Schema for Value {
    fn schema(_: &mut Map<String, Value>) -> Value {
        json!({})
    }
}

macro_rules! primitive {
    ($($type:ty => $schema:expr),+ $(,)?) => {$(
        impl Schema for $type {
            fn schema(_: &mut Map<String, Value>) -> Value {
                $schema
            }
        }
    )+};
}

primitive! {
    String => json!({ "type": "string" }),
    bool => json!({ "type": "boolean" }),
    u8 => json!({ "type": "integer", "minimum": 0 }),
    u16 => json!({ "type": "integer", "minimum": 0 }),
    u32 => json!({ "type": "integer", "minimum": 0 }),
    u64 => json!({ "type": "integer", "minimum": 0 }),
    i64 => json!({ "type": "integer" }),
    f64 => json!({ "type": "number" }),
}

/// `schema` with a description beside it.
#[doc(hidden)]
pub fn described(mut schema: Value, description: &str) -> Value {
    if let (Some(object), false) = (schema.as_object_mut(), description.is_empty()) {
        object.insert("description".into(), description.into());
    }
    schema
}
