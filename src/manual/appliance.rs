//! # Package, container and virtual machine
//!
//! | what | made by | for |
//! |---|---|---|
//! | `bascule_VERSION_ARCH.deb` | `scripts/package deb` | Debian 12 and what is like it |
//! | `bascule-VERSION-ARCH-linux.tar.gz` | `scripts/package tarball` | any Linux: one static program, page, completion, unit |
//! | `bascule-VERSION-ARCH.oci` and `.oci.tar` | `scripts/package oci` | container engines |
//! | `bascule.raw`, `.qcow2`; with `--all` `.vmdk`, `.ova`, `.vhdx` | `scripts/image` | KVM, VMware, Hyper-V, bare metal |
//!
//! ## The package
//!
//! `apt install ./bascule_*.deb` starts the service as the user `bascule` with a configuration that has nothing but the
//! management on `127.0.0.1:9080`. `sudo bascule shell` works at once.
//!
//! | place | holds |
//! |---|---|
//! | `/etc/bascule/bascule.toml` | the configuration; `save config` writes it |
//! | `/var/lib/bascule` | state, journal, the socket of the shell |
//! | `/run/bascule/ready.json` | the addresses that listen, while it runs |
//! | `/usr/lib/systemd/system/bascule.service` | the unit |
//!
//! `systemctl reload bascule` takes the file again and fails, with what is wrong, where it does not load. An upgrade, also
//! one to an older version, loses no request: the running process hands over to the new program ([`upkeep`](super::upkeep)).
//! Where it cannot (a change that is not saved, a file that is missing or was edited and not taken, a configuration or a
//! state that the new program does not take) the process that runs goes on, and the output of `apt` says why and what to
//! do; the service is restarted only where the running process knows nothing of handing over and the file is there, or
//! where it has ended meanwhile and nobody serves. The default is put in the place of a missing file at a first
//! installation, and where the service does not run. What the unit allows and limits is that of the last start: where an upgrade
//! changes the unit it says so, and `systemctl restart bascule` takes the new one. Upgrade and removal keep configuration
//! and state; `apt purge` removes both. The configuration is no file of dpkg's: an upgrade asks nothing and changes nothing
//! in it.
//!
//! The unit has three capabilities (`CAP_NET_BIND_SERVICE`, `CAP_NET_ADMIN`, `CAP_NET_RAW`), sees a system that it cannot write
//! but for `/etc/bascule` and `/var/lib/bascule`, no homes, no devices, and only the system calls of a service. So files that a
//! configuration names and that are written, such as `[log] access`, belong into `/var/lib/bascule`; certificates and zone
//! files must be readable for the user `bascule`. `systemctl edit bascule` adds what a box needs beyond, for instance
//! `ReadWritePaths=`.
//!
//! ## The static program and the container image
//!
//! Both hold the same program, linked with everything. Names of servers are resolved from `/etc/hosts` and DNS; further
//! sources of `/etc/nsswitch.conf` (mDNS, sssd) are passed over, and so are users that only those know.
//!
//! The image runs as user 65532, without capabilities, and holds no shell: monitors of type USER find none. State is at
//! `/var/lib/bascule`, the configuration at `/etc/bascule/bascule.toml`:
//!
//! ```text
//! skopeo copy oci-archive:bascule-0.1.0-amd64.oci.tar containers-storage:localhost/bascule:0.1.0
//! podman run -v ./box.toml:/etc/bascule/bascule.toml:ro -p 8080:8080 localhost/bascule:0.1.0
//! ```
//!
//! Without a configuration only the management listens, inside the container, on its loopback address.
//!
//! ## The virtual machine
//!
//! One disk boots with BIOS and with UEFI (not with Secure Boot: the boot loader is not signed). It wants 512 MiB of memory
//! and a card of type virtio, VMXNET3, or another that clouds offer; where no card can be used the console says so and names
//! the card. It asks for an address by DHCP. The guest agents of KVM and of VMware are installed.
//!
//! What it does at its first start, how it is handed a configuration, and how somebody gets in stands in
//! [`first_boot`](super::first_boot). Without a configuration that says otherwise, the management is at port 9443 of all its
//! addresses. Above the login prompt of its console stand the address of the dashboard, the fingerprint of its certificate, and
//! how to give the box a static address.
//!
//! ### Who logs in
//!
//! Whoever may log in to the appliance may log in to the console (screen and serial line) and by `ssh NAME@ADDRESS`, with
//! the same name and password: users of `[admin.user]`, and people of the directory. They get the shell of
//! [`shell`](super::shell), may do there what their role allows, and the journal has their name.
//! `ssh alice@ADDRESS 'show service web1'` carries out one command. A new password counts with the next login; another role, or none, counts
//! at once, also for who is logged in. People of the directory stay who they were until `absolute` of `[admin.sessions]` is over,
//! or the appliance starts anew: then they log in again. API tokens are for programs and open no console. Whose name is an account of the machine (`root`,
//! `daemon`, `bascule`), or differs from another user's in capitals alone, does not get in this way.
//!
//! Nobody has an account on the machine for it. Each runs under a number that follows from their name, without any right on
//! the machine; the command `shell` of superusers gives a system shell with that number. `nsroot` alone has a home
//! (`/data/home/nsroot`), for a history and for keys of SSH (`.ssh/authorized_keys`): with a key no password is asked, and
//! the role is the one of the configuration. While the service runs, it alone says whose password is right; while it
//! does not run, only superusers of the file get in. SSH forwards neither ports nor sockets.
//!
//! Whoever has the console and no password chooses "a new password for nsroot" in the boot menu (the key `p`, within two seconds).
//! On the console, and only there, `root` with the password of `nsroot` gets the system's shell, as long as `nsroot` is a
//! superuser; `apt install ./bascule_*.deb` upgrades without a lost request.
//!
//! ### Its disk
//!
//! 4 GiB, of which some 350 MiB are used: boot partitions, the system (1 GiB), as much free space for a second system, and a
//! data partition mounted at `/data`, which grows with the disk at the next start. On it lie state and journal
//! (`/var/lib/bascule`), the configuration (`/etc/bascule`), the log (`/var/log/journal`) and the key of SSH.
