//! The manual.
