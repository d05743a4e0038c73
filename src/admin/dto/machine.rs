//! The machine that the appliance runs on.

use crate::admin::machine::{Machine, Room};

dto! {
    /// What the kernel says of the machine. Without `/proc` all of it is 0.
    pub struct MachineDto {
        /// Processors.
        pub processors: u64,
        /// Percent of all of them together, since it was asked for last.
        pub busy_percent: f64,
        /// MHz; null where the processor does not tell.
        pub clock_mhz: Option<u64>,
        /// Bytes.
        pub memory_total: u64,
        /// Bytes; what can be had back at once is not used.
        pub memory_used: u64,
        /// The root file system.
        pub system_disk: RoomDto,
        /// The file system that the state is on.
        pub data_disk: RoomDto,
        pub interfaces: Vec<LinkDto>,
    }

    /// Of a file system, in bytes.
    pub struct RoomDto {
        pub total: u64,
        /// That the appliance may still use.
        pub free: u64,
        /// That is used.
        pub percent: u64,
    }

    /// An interface of the machine.
    pub struct LinkDto {
        pub name: String,
        pub up: bool,
        pub mtu: u64,
        /// Mbit/s; null where the card does not tell, as virtual ones often do not.
        pub speed: Option<u64>,
    }
}

// === impl MachineDto ===

impl MachineDto {
    pub(in crate::admin) fn of(machine: &Machine) -> MachineDto {
        let known = |number: u64| Some(number).filter(|number| *number > 0);
        let links = machine.interfaces.iter().map(|link| LinkDto {
            name: link.name.clone(),
            up: link.up,
            mtu: link.mtu,
            speed: known(link.speed),
        });
        MachineDto {
            processors: machine.processors.len() as u64,
            busy_percent: machine.busy,
            clock_mhz: known(machine.clock),
            memory_total: machine.memory_total,
            memory_used: machine.memory_used,
            system_disk: RoomDto::of(machine.system),
            data_disk: RoomDto::of(machine.data),
            interfaces: links.collect(),
        }
    }
}

// === impl RoomDto ===

impl RoomDto {
    fn of(room: Room) -> RoomDto {
        RoomDto { total: room.total, free: room.free, percent: room.percent().into() }
    }
}
