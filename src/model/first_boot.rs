//! What an appliance was handed at its first boot, and what became of it.

use super::time::Wall;

/// Kept in the state directory as `first-boot.json`; shown by `GET /api/v1/status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstBoot {
    /// Which instance of the machine it was for: a seed is taken once for each.
    pub instance: String,
    pub source: SeedSource,
    pub outcome: SeedOutcome,
    pub at: Wall,
    /// What keeps a refused seed from being taken, or what else a person should know; at most [`TOLD_MOST`].
    pub problems: Vec<String>,
    /// Lines and objects of an `ns.conf` that are not carried over; at most [`TOLD_MOST`].
    pub left_out: Vec<String>,
    /// SHA-256 of the seed's text, in hex; empty without a seed.
    pub seed_hash: String,
    /// When somebody at the console last had the password made anew.
    pub recovered_at: Option<Wall>,
}

/// More lines are counted, and not kept.
pub const TOLD_MOST: usize = 200;

/// Where a seed came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedSource {
    /// Nobody handed one over.
    None,
    /// A credential of the service manager: SMBIOS or fw_cfg of the hypervisor.
    Credential,
    /// A drive with the label CIDATA.
    Drive,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedOutcome {
    /// There was none: the configuration stays as it was.
    None,
    Applied,
    /// Applied but for what `left_out` lists.
    AppliedInPart,
    /// Nothing of it was applied.
    Refused,
}

// === impl SeedSource ===

impl SeedSource {
    const ALL: [SeedSource; 3] = [SeedSource::None, SeedSource::Credential, SeedSource::Drive];

    /// `none`, `credential`, `drive`
    pub fn word(self) -> &'static str {
        match self {
            SeedSource::None => "none",
            SeedSource::Credential => "credential",
            SeedSource::Drive => "drive",
        }
    }

    pub fn from_word(word: &str) -> Option<SeedSource> {
        SeedSource::ALL.into_iter().find(|source| source.word() == word)
    }
}

// === impl SeedOutcome ===

impl SeedOutcome {
    const ALL: [SeedOutcome; 4] =
        [SeedOutcome::None, SeedOutcome::Applied, SeedOutcome::AppliedInPart, SeedOutcome::Refused];

    /// `none`, `applied`, `applied_in_part`, `refused`
    pub fn word(self) -> &'static str {
        match self {
            SeedOutcome::None => "none",
            SeedOutcome::Applied => "applied",
            SeedOutcome::AppliedInPart => "applied_in_part",
            SeedOutcome::Refused => "refused",
        }
    }

    pub fn from_word(word: &str) -> Option<SeedOutcome> {
        SeedOutcome::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}
