//! The scenario machine.
