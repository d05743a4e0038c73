//! L5: the command line.

pub mod demo;
