//! The method: which member gets a new client.
