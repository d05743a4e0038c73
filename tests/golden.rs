//! What leaves the program, compared with files: each module has a folder of inputs and keeps what they give.

#[path = "golden/commands.rs"]
mod commands;
#[path = "golden/config.rs"]
mod config;
#[path = "golden/importing.rs"]
mod importing;
#[path = "golden/keys.rs"]
mod keys;
#[path = "golden/manual.rs"]
mod manual;
#[path = "golden/netscaler.rs"]
mod netscaler;
#[path = "golden/profiles.rs"]
mod profiles;
#[path = "golden/scripts.rs"]
mod scripts;
#[path = "golden/timelines.rs"]
mod timelines;
#[path = "golden/transcripts.rs"]
mod transcripts;
