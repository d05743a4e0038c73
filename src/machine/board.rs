//! The board: one row for each predicate or measure that a condition uses.
