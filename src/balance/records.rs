//! Steps 1 to 3 of a steered answer: base set, filter, empty.
