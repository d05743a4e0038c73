//! A box whose process is a program of its own: one that hands over to another one, one that may not everything.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::Value;

use super::{Box, within};

impl Box {
    /// [`start`](Self::start), as a program of its own in the folder, which a test may replace.
    pub fn start_program(config: &str) -> Box {
        let mut box_ = Box::start_as_program(config);
        box_.start_again();
        box_
    }

    /// [`start_in`](Self::start_in), as a process that may not touch the network.
    pub fn start_powerless_in(namespace: &str, config: &str) -> Box {
        let mut started = Box::prepared(None, &[], &[], config);
        let program = started.path("program");
        let (rights, own) = ("-net_admin,-net_raw", env!("CARGO_BIN_EXE_bascule"));
        let script = format!("#!/bin/sh\nexec setpriv --bounding-set={rights} --inh-caps={rights} {own} \"$@\"\n");
        std::fs::write(&program, script).expect("a script");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a script that runs");
        started.program = Some(program);
        started.namespace = Some(namespace.to_owned());
        started.start_again();
        started
    }

    /// Puts the program back where it was started from.
    pub fn restore_program(&self) {
        let program = self.program.as_deref().expect("it has one of its own");
        let _ = std::fs::remove_file(program);
        let own = std::path::Path::new(env!("CARGO_BIN_EXE_bascule"));
        std::fs::hard_link(own, program).or_else(|_| std::fs::copy(own, program).map(drop)).expect("a program");
    }

    /// Takes what the ready file says by now.
    pub fn read_ready_again(&mut self) {
        self.read_ready();
        self.heir = self.ready["pid"].as_u64().and_then(|pid| pid.try_into().ok());
    }

    /// The process that goes on.
    pub fn heir(&self) -> u32 {
        self.heir.expect("it was handed over")
    }

    /// Waits until the process has ended that has handed over, and answers what it ended with; from then on the other one
    /// is meant.
    pub fn handed_over(&mut self) -> i32 {
        let mut child = self.child.take().expect("it runs");
        let status = child.wait().expect("it ends").code().expect("it ends by itself");
        within(Duration::from_secs(10), "the other one is ready", || {
            self.read_ready_again();
            self.heir.is_some_and(|heir| heir != child.id())
        });
        status
    }

    /// Waits until the process has ended by itself, and answers what with.
    pub fn ended(&mut self) -> i32 {
        let mut child = self.child.take().expect("it runs");
        child.wait().expect("it ends").code().expect("it ends by itself")
    }

    fn start_as_program(config: &str) -> Box {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("box.toml"), config).expect("the configuration is written");
        let (admin, program) = (SocketAddr::from(([127, 0, 0, 1], 0)), Some(dir.path().join("program")));
        let none = (None, Vec::new());
        let box_ = Box {
            dir,
            files: none.0,
            namespace: None,
            environment: none.1,
            child: None,
            heir: None,
            program,
            admin,
            ready: Value::Null,
        };
        box_.restore_program();
        box_
    }
}
