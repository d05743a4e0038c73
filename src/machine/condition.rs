//! Holds: when a qualified term becomes true.
