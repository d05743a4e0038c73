//! L3: traffic. Reads the snapshot, reports observations upwards over a bounded queue, and never names the control
//! layer.

pub mod dns;
pub mod l4;
pub mod l7;
pub mod listen;
