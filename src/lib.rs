//! Bascule: an ADC and a GTM in one box.
pub mod admin;
pub mod app;
pub mod balance;
pub mod cli;
pub mod config;
pub mod control;
pub mod dataplane;
pub mod machine;
pub mod manual;
pub mod model;
pub mod probe;
pub mod rehearse;
pub mod snapshot;
