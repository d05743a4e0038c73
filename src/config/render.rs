//! (see config.rs)
