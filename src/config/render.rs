//! Model → canonical TOML.

use crate::model::Model;

pub fn render(model: &Model) -> String {
    let _ = model;
    todo!()
}
