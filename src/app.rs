//! L6: wiring.
