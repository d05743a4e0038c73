//! # The first boot of an appliance
//!
//! An appliance that boots for the first time has no configuration of yours, and nobody's password. `bascule
//! first-boot` runs before the service at each boot, and sees to both. Its word stands on the console, in `GET
//! /api/v1/status` under `first_boot`, and in the journal (`kind=access`, actor `console`).
//!
//! ## Handing over a configuration
//!
//! The first that is found is the seed:
//!
//! | where | how |
//! |---|---|
//! | a credential of the hypervisor | SMBIOS or fw_cfg, under the name `appliance.config` |
//! | a drive with the label `CIDATA` | its file `user-data`; an ISO or FAT image, as every hypervisor can attach one |
//!
//! ```text
//! qemu-system-x86_64 … -smbios type=11,value=io.systemd.credential.binary:appliance.config=$(base64 -w0 bascule.toml)
//! genisoimage -quiet -volid CIDATA -rational-rock -output seed.iso user-data meta-data
//! ```
//!
//! A seed is a configuration as `bascule check` takes it, or a saved `ns.conf`. It is checked before anything is
//! written:
//!
//! - **TOML** with a fault applies nothing; every fault is told. What is in the file stays.
//! - **An `ns.conf`** is applied without what cannot be carried (`bascule manual import`): lines with no counterpart,
//!   and objects that do not load, such as certificates whose files are not there. Each is told.
//! - Files that a seed names (certificates, keys, zones) come from a folder `files` of the drive and are copied
//!   beside the configuration, at most 256 of at most 4 MiB; where they are not on the drive they are looked for on
//!   the disk.
//! - A seed for cloud-init is refused with a sentence.
//!
//! **Once for each instance.** What people save later is not undone by a reboot: the seed counts again when the
//! instance has another name, or when none was taken yet. The name is `instance-id` in the drive's `meta-data`, the
//! credential `appliance.instance`, else what the hypervisor calls the machine (its UUID), else the machine id. A seed
//! that has changed under the same instance is left alone, and the console says so. The configuration before a seed
//! stays beside the new one as `bascule.toml.1`.
//!
//! ## Logging in
//!
//! Where the configuration names no user, no token and no directory, `nsroot` is made, a superuser with a generated
//! password of 100 bits. **The console shows it once**; the file has its hash, and no log has either. Where no console
//! takes a word, no password is made, and the command fails. Where the configuration does not say where the management
//! listens, it listens at all addresses of the box, port 9443, with TLS and a generated certificate. A seed that says
//! who may log in, or where, is left as it is.
//!
//! A configuration that does not load keeps nobody out: it is set aside as `bascule.toml.1`, and the box comes up with
//! a bare one and a new password.
//!
//! ## The first login
//!
//! A box that nobody has handed a configuration asks for its address by DHCP, and its console tells what it got. Whoever
//! logs in there as a superuser is offered to give it another: address and netmask, or DHCP; gateway, name of the host, name servers, a password. The
//! same questions come whenever somebody types `config ns` in the shell on a terminal. `bascule shell --setup` offers them
//! as the console does.
//!
//! What the answers come to is shown, as `[network]` ([`network`](super::network)) and as what would change; only then it is applied and saved, as
//! any other change is, with an entry of the journal. ^C ends it at any question without a change. `-` takes away what stands in brackets.
//! Whoever does it over SSH by an address that goes away has to connect to the new one.
//!
//! ## A lost password
//!
//! Whoever has the console has the box. The boot menu's "new password for nsroot" (the word `bascule.recover` on the
//! kernel's command line) makes one, shows it on the console, and the journal tells of it: `password_recovered`. On a
//! machine that one is root on, `sudo bascule shell` needs no password.
//!
//! ## By hand
//!
//! ```text
//! bascule first-boot --config FILE --state DIR --drive FOLDER --console /dev/stderr
//! ```
//!
//! does the same anywhere: a folder with `user-data` stands for the drive. It ends with 0 also where a seed was
//! refused, because the box is to come up, and with 1 where the file or the state cannot be written. Run by root, it
//! writes with the rights of whoever owns the folder of FILE.
