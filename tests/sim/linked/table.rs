//! The table of situations, as rows: what is seen, what A says, and where traffic belongs.

use bascule::model::condition::Truth;

use Truth::{False as F, True as T, Unknown as U};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    A,
    B,
}

/// Where traffic is, and whether only because `on_empty` must answer something.
pub type Answer = (Site, bool);

pub const A: Answer = (Site::A, false);
pub const B: Answer = (Site::B, false);
pub const A_ALARM: Answer = (Site::A, true);
pub const B_ALARM: Answer = (Site::B, true);

/// What A says: its own Internet, and B's WAN and LAN as it sees them; `None`: drawn by lot.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub internet: bool,
    pub b_wan: Option<bool>,
    pub b_lan: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    /// B.internet, A.wan, A.lan.
    pub seen: [bool; 3],
    /// `None`: A is not heard.
    pub word: Option<Word>,
    /// What the witness sees of A's WAN.
    pub witness: Truth,
    /// Of A, of B.
    pub maintenance: [bool; 2],
    /// By where traffic was.
    pub expected: [Answer; 2],
}

pub const fn word(internet: bool, b_wan: Option<bool>, b_lan: Option<bool>) -> Option<Word> {
    Some(Word { internet, b_wan, b_lan })
}

pub const WELL: Option<Word> = word(true, Some(true), Some(true));
pub const NO: [bool; 2] = [false, false];

pub const fn row(
    name: &'static str,
    seen: [bool; 3],
    word: Option<Word>,
    witness: Truth,
    expected: [Answer; 2],
) -> Row {
    Row { name, seen, word, witness, maintenance: NO, expected }
}

pub const DARK_IN_MAINTENANCE: &str = "A dark while B in maintenance";

pub const TABLE: [Row; 12] = [
    row("all good", [true, true, true], WELL, T, [A, A]),
    row("replication link down", [true, true, false], word(true, Some(true), Some(false)), T, [A, B]),
    row("A lost its WAN and says so", [true, false, true], word(false, Some(false), Some(true)), F, [B, B]),
    row("disputed", [true, false, true], word(true, None, Some(true)), T, [A, B]),
    row("A dark to B", [true, false, false], None, F, [B, B]),
    row("B lost the Internet, sees A", [false, true, true], word(true, None, Some(true)), T, [A, A]),
    row("B lost Internet and LAN, WAN path fine", [false, true, false], word(true, None, Some(false)), T, [A, A]),
    row("B lost Internet and WAN path, LAN fine", [false, false, true], word(true, Some(false), Some(true)), T, [A, A]),
    row("B isolated", [false, false, false], None, U, [A, B_ALARM]),
    Row { maintenance: [true, false], ..row("A in maintenance", [true, true, true], WELL, T, [B, B]) },
    Row { maintenance: [false, true], ..row("B in maintenance", [true, true, true], WELL, T, [A, A]) },
    Row { maintenance: [false, true], ..row(DARK_IN_MAINTENANCE, [true, false, false], None, F, [A_ALARM, B_ALARM]) },
];

/// With a witness "A dark" is two rows, and a third while the witness is not heard.
pub fn with_witness() -> Vec<Row> {
    let mut rows: Vec<Row> = TABLE.to_vec();
    rows.push(row("A dark, witness sees A", [true, false, false], None, T, [A, B]));
    rows.push(row("A dark, witness not heard", [true, false, false], None, U, [A, B]));
    rows
}
