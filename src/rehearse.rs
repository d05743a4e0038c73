//! L5: the engine and the pure answers in virtual time.
