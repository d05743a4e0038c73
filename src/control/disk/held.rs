//! The store as this process has it, while one process hands over to the next.

use crate::control::store::{Reopen, Store, StoreError};

/// The store as this process has it.
pub(super) enum Held {
    Here(Box<dyn Store>),
    /// Another process writes still.
    NotYet(Box<dyn Store>),
    /// Another process has it.
    Given(Reopen),
    /// To be opened again.
    Back(Reopen),
}

// === impl Held ===

impl Held {
    /// For writing; `None`: another process has it.
    pub fn ready(&mut self) -> Option<Result<&mut Box<dyn Store>, StoreError>> {
        if let Held::Back(reopen) = self {
            match reopen() {
                Ok(store) => *self = Held::Here(store),
                Err(error) => return Some(Err(error)),
            }
        }
        match self {
            Held::Here(store) => Some(Ok(store)),
            Held::NotYet(_) | Held::Given(_) | Held::Back(_) => None,
        }
    }

    /// Lets go of it.
    pub fn give(&mut self) -> Result<(), String> {
        let Held::Here(store) = self else { return Err("the state is not here".to_owned()) };
        let reopen = store.reopen().ok_or("the state is kept in memory, where no other process finds it")?;
        *self = Held::Given(reopen);
        Ok(())
    }

    pub fn take_back(&mut self) {
        self.change(|held| match held {
            Held::Given(reopen) => Held::Back(reopen),
            held => held,
        });
    }

    pub fn begin(&mut self) {
        self.change(|held| match held {
            Held::NotYet(store) => Held::Here(store),
            held => held,
        });
    }

    fn change(&mut self, next: impl FnOnce(Held) -> Held) {
        let none: Reopen = Box::new(|| Err(StoreError::new("no store")));
        *self = next(std::mem::replace(self, Held::Given(none)));
    }
}
