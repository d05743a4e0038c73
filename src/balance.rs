//! L1: choosing. Which member of a vserver serves ([`select`], [`persistence`], [`passive`]), which records answer ([`records`]),
//! whether a failure is tried again ([`retry`]).
//! Pure: counters and cursors are passed in.

pub mod passive;
pub mod persistence;
pub mod records;
pub mod retry;
pub mod select;
