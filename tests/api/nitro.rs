//! NITRO over real sockets. `tests/golden/nitro/*.txt` are conversations: requests as clients write them, and what must
//! come back.

#[path = "nitro/clients.rs"]
mod clients;
#[path = "nitro/dialogue.rs"]
mod dialogue;
#[path = "nitro/hostile.rs"]
mod hostile;
#[path = "nitro/live.rs"]
mod live;
#[path = "nitro/rig.rs"]
pub mod rig;
