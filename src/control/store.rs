//! Durable state.
