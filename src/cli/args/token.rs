//! The arguments of `bascule token`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::Target;
use crate::config::units::parse_duration;
use crate::model::Role;

#[derive(Clone, Debug, Subcommand)]
pub enum TokenWhat {
    /// Make a token at a running appliance; it is printed once, alone on stdout.
    Create(TokenCreateArgs),
    /// The tokens that there are, their roles and ends.
    List(TokenListArgs),
    /// Revoke a token: it lets nobody in from now on.
    Revoke(TokenRevokeArgs),
    /// Make a token without an appliance: the token, and what to write into the configuration for it.
    Hash(TokenHashArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleWord {
    Superuser,
    Operator,
    ReadOnly,
}

#[derive(Clone, Debug, Args)]
pub struct TokenCreateArgs {
    /// What it is called in the journal.
    pub name: String,
    /// What it may do.
    #[arg(long, value_enum)]
    pub role: RoleWord,
    /// How long it lasts: `1h`, `90d`.
    #[arg(long, value_name = "DURATION", default_value = "90d", value_parser = parse_duration)]
    pub ttl: Duration,
    /// Write the configuration to FILE at once, with all that is unsaved; else the token is gone with the next restart.
    #[arg(long)]
    pub save: bool,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct TokenListArgs {
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct TokenRevokeArgs {
    /// What it is called.
    pub name: String,
    /// Write the configuration to FILE at once; else the token is back with the next restart.
    #[arg(long)]
    pub save: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct TokenHashArgs {
    /// What it is called in the journal.
    pub name: String,
    /// What it may do.
    #[arg(long, value_enum)]
    pub role: RoleWord,
    /// How long it lasts: `1h`, `90d`.
    #[arg(long, value_name = "DURATION", default_value = "90d", value_parser = parse_duration)]
    pub ttl: Duration,
}

// === impl RoleWord ===

impl RoleWord {
    pub fn role(self) -> Role {
        match self {
            RoleWord::Superuser => Role::Superuser,
            RoleWord::Operator => Role::Operator,
            RoleWord::ReadOnly => Role::ReadOnly,
        }
    }
}
