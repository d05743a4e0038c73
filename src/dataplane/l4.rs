//! L4: TCP.
