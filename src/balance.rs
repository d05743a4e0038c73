//! L1: choosing. Which member of a vserver serves ([`select`], [`persistence`], [`passive`]), which records answer
//! ([`records`]), who has to wait ([`surge`]), goes elsewhere ([`spillover`]) or comes too often ([`bucket`]), whether a
//! failure is tried again ([`retry`]).
//! Pure: counters and cursors are passed in.

pub mod bucket;
pub mod extract;
pub mod passive;
pub mod persistence;
pub mod records;
pub mod retry;
pub mod select;
pub mod spillover;
pub mod surge;
