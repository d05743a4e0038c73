//! # First steps
//!
//! `scripts/run` builds the program, starts a demonstration appliance with back ends of its own on loopback, and prints
//! what to try: break a server and watch new requests go elsewhere; break a site and watch `dig` answer with the other
//! one; bring it back and watch the return wait for its hold.
//!
//! A configuration of one's own begins with a copy of a profile:
//!
//! ```sh
//! cp profiles/fast-in-slow-out.toml box.toml
//! bascule check box.toml
//! bascule run --config box.toml
//! ```
//!
//! and another terminal, in the same directory:
//!
//! ```sh
//! bascule shell -c 'show service' -c 'show scenario'
//! ```
