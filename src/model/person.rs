//! People as users of the machine: whoever may log in to the appliance has a user number of their own on its console and
//! over SSH, without an account. The number follows from the name, so nothing has to be kept, and the kernel tells the
//! appliance over its Unix socket who calls.

use sha2::{Digest as _, Sha256};

/// The first number. Above what directories map their own people to by default (up to 2 000 200 000), below the half of
/// the numbers that some programs take for negative.
const FIRST: u32 = 0x7800_0000;
/// So many bits follow from the name.
const MASK: u32 = 0x07ff_ffff;

/// The user number of a name; case and spaces count for nothing. Two names may have one: then neither may log in.
pub fn number(name: &str) -> u32 {
    let digest = Sha256::new().chain_update(b"bascule person\0").chain_update(one_name(name)).finalize();
    let [a, b, c, d] = *digest.first_chunk::<4>().unwrap_or(&[0; 4]);
    FIRST | (u32::from_be_bytes([a, b, c, d]) & MASK)
}

/// Whether it is the number of a person.
pub fn is_number(uid: u32) -> bool {
    uid & !MASK == FIRST
}

/// As a directory compares names: without case, and with single spaces. Whatever is remembered of somebody goes by it, so
/// that another way to write a name is nobody else.
pub fn one_name(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_a_name_is_written_it_is_one_with_one_number() {
        assert_eq!(["ops", "OPS", " Ops ", "o\u{a0}ps"].map(one_name), ["ops", "ops", "ops", "o ps"]);
        assert_eq!(number("Ops"), number("ops "));
        assert_ne!(number("ops"), number("opt"));
    }

    #[test]
    fn numbers_of_people_are_nobody_elses() {
        for name in ["nsroot", "alice", "", "Jürgen Müller"] {
            assert!(is_number(number(name)), "{name}");
        }
        for other in [0, 640, 1_000, 65_534, 2_000_200_000, 0x8000_0000, u32::MAX] {
            assert!(!is_number(other), "{other}");
        }
        assert_eq!(number("nsroot"), NSROOT, "the account of the disk has it: appliance/image/customize");
    }

    const NSROOT: u32 = 2_115_492_223;
}
