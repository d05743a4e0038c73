//! L1: choosing. Which member of a vserver serves ([`select`], [`persistence`]), which records answer ([`records`]).
//! Pure: counters and cursors are passed in.

pub mod persistence;
pub mod records;
pub mod select;
