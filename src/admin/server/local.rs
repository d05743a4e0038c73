//! The Unix socket: who may connect, by its permission bits, and what they may do, by what the kernel says of them.

use std::collections::HashSet;
use std::ffi::CString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::unistd::{Gid, Group, Uid, User, getgrouplist};

use crate::model::Role;
use crate::model::access::SocketRules;

/// Lets those connect who have a role: root and the own user alone; the one group that is named, where the socket can be
/// given to it; else everybody, of whom all others are refused with a sentence. `people`: whoever logs in to the machine.
pub(super) fn set_permissions(path: &Path, rules: &SocketRules, people: bool) {
    let mode = match (&rules.users[..], &rules.groups[..]) {
        _ if people => 0o666,
        ([], []) => 0o600,
        ([], [(group, _)]) => match group_id(group) {
            Some(gid) if std::os::unix::fs::chown(path, None, Some(gid.as_raw())).is_ok() => 0o660,
            _ => 0o666,
        },
        _ => 0o666,
    };
    if let Err(error) = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)) {
        tracing::warn!(path = %path.display(), %error, "the permissions of the local socket cannot be set");
    }
}

/// What somebody else than root and the own user may do. Asks the system's user data base, which may take its time.
pub(crate) fn role_of(uid: u32, gid: u32, rules: &SocketRules) -> Option<Role> {
    if rules.users.is_empty() && rules.groups.is_empty() {
        return None;
    }
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    let number = uid.to_string();
    let is_user = |name: &str| name == number || user.as_ref().is_some_and(|user| user.name == name);
    if let Some((_, role)) = rules.users.iter().find(|(name, _)| is_user(name)) {
        return Some(*role);
    }
    let mut groups = HashSet::from([gid]);
    if let Some(user) = &user
        && let Ok(name) = CString::new(user.name.as_str())
    {
        groups.extend(getgrouplist(&name, Gid::from_raw(gid)).into_iter().flatten().map(Gid::as_raw));
    }
    let of = |name: &str| group_id(name).is_some_and(|gid| groups.contains(&gid.as_raw()));
    rules.groups.iter().filter(|(name, _)| of(name)).map(|(_, role)| *role).max()
}

fn group_id(name: &str) -> Option<Gid> {
    match name.parse() {
        Ok(number) => Some(Gid::from_raw(number)),
        Err(_) => Group::from_name(name).ok().flatten().map(|group| group.gid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(users: &[(&str, Role)], groups: &[(&str, Role)]) -> SocketRules {
        let owned = |all: &[(&str, Role)]| all.iter().map(|(name, role)| ((*name).into(), *role)).collect();
        SocketRules { users: owned(users), groups: owned(groups) }
    }

    #[test]
    fn a_user_counts_before_their_groups_and_the_highest_group_counts() {
        let role = |rules: &SocketRules| role_of(65_533, 4_242, rules);
        assert_eq!(role(&rules(&[], &[])), None);
        assert_eq!(role(&rules(&[], &[("4242", Role::ReadOnly)])), Some(Role::ReadOnly));
        assert_eq!(role(&rules(&[], &[("4243", Role::ReadOnly), ("no-such-group", Role::Operator)])), None);
        let both = rules(&[("65533", Role::ReadOnly)], &[("4242", Role::Superuser)]);
        assert_eq!(role(&both), Some(Role::ReadOnly));
        assert_eq!(role_of(0, 0, &rules(&[("root", Role::Operator)], &[])), Some(Role::Operator));
    }

    #[test]
    fn the_socket_opens_to_those_who_have_a_role_and_closes_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let mode = |rules: &SocketRules| {
            set_permissions(&path, rules, false);
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode(&rules(&[], &[])), 0o600);
        let own = nix::unistd::getgid().to_string();
        assert_eq!(mode(&rules(&[], &[(&own, Role::Operator)])), 0o660);
        assert_eq!(mode(&rules(&[("65533", Role::Operator)], &[])), 0o666);
        assert_eq!(mode(&rules(&[], &[])), 0o600);
    }
}
