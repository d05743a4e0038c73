//! Typed access to the members of a JSON object.

use serde_json::Value;

use super::{Unreadable, parse_wall};
use crate::model::condition::Truth;
use crate::model::id::Name;
use crate::model::scenario::{Direction, Mode};
use crate::model::time::Wall;

/// Typed access to the members of a JSON object.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub value: &'a Value,
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub fn get(&self, key: &str) -> Result<&'a Value, Unreadable> {
        self.value.get(key).ok_or_else(|| format!("`{key}` is missing"))
    }

    pub fn str(&self, key: &str) -> Result<&'a str, Unreadable> {
        self.get(key)?.as_str().ok_or_else(|| format!("`{key}` is not a text"))
    }

    pub fn name(&self, key: &str) -> Result<Name, Unreadable> {
        Ok(self.str(key)?.into())
    }

    pub fn u64(&self, key: &str) -> Result<u64, Unreadable> {
        self.get(key)?.as_u64().ok_or_else(|| format!("`{key}` is not a whole number"))
    }

    pub fn u32(&self, key: &str) -> Result<u32, Unreadable> {
        u32::try_from(self.u64(key)?).map_err(|_| format!("`{key}` is too large"))
    }

    pub fn bool(&self, key: &str) -> Result<bool, Unreadable> {
        self.get(key)?.as_bool().ok_or_else(|| format!("`{key}` is not true or false"))
    }

    pub fn wall(&self, key: &str) -> Result<Wall, Unreadable> {
        parse_wall(self.str(key)?)
    }

    pub fn truth(&self, key: &str) -> Result<Truth, Unreadable> {
        self.word(key, Truth::parse)
    }

    pub fn direction(&self, key: &str) -> Result<Direction, Unreadable> {
        self.word(key, Direction::parse)
    }

    pub fn mode(&self, key: &str) -> Result<Mode, Unreadable> {
        self.word(key, Mode::parse)
    }

    pub fn word<T>(&self, key: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, Unreadable> {
        let word = self.str(key)?;
        parse(word).ok_or_else(|| format!("`{key}` cannot be `{word}`"))
    }

    /// `None` where the member is absent or null.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Reader<'a>, &str) -> Result<T, Unreadable>,
    ) -> Result<Option<T>, Unreadable> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => read(self, key).map(Some),
        }
    }

    pub fn names(&self, key: &str) -> Result<Vec<Name>, Unreadable> {
        self.list(key, |name| name.as_str().map(Name::from).ok_or_else(|| format!("`{key}` is not a list of texts")))
    }

    pub fn list<T>(
        &self,
        key: &str,
        read: impl FnMut(&'a Value) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Unreadable> {
        self.get(key)?.as_array().ok_or_else(|| format!("`{key}` is not a list"))?.iter().map(read).collect()
    }
}
