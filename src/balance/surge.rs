//! The surge queue: who waits for a place under a limit, first come, first served.
//!
//! Most wait for any member; a persistent client whose own member is full waits for that one. When a place becomes free
//! it is granted to the first who could use it and has no grant yet, and only that one is woken. Whoever is the first of
//! its kind also looks when something else changes (a member comes up, a limit is raised); when it leaves, the next of
//! its kind looks. So nobody is overtaken, and nobody is woken for nothing.
//!
//! ```text
//!            place free                 tries: served ────────────▶ leaves ──▶ next of its kind looks
//! waiting ──────────────▶ granted ──────┤
//!    ▲                                  └ still full ──▶ waiting, in its old place
//!    └──────────── time over, client gone: leaves; a grant not used goes on to the next
//! ```

use std::collections::BTreeMap;

use crate::model::id::Name;

/// What somebody waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum For {
    Any,
    /// One service.
    Only(Name),
}

/// `W` wakes one who waits.
#[derive(Debug)]
pub struct Queue<W> {
    /// By ticket, which is the order of arrival.
    waiting: BTreeMap<u64, Waiting<W>>,
    next_ticket: u64,
}

#[derive(Debug)]
struct Waiting<W> {
    what: For,
    /// A place at this service was given to it.
    granted: Option<Name>,
    waker: W,
}

/// What is left to be done when somebody has left.
#[derive(Debug, PartialEq, Eq)]
pub struct Left<W> {
    /// A grant that it did not use: to be given to the next.
    pub unused: Option<Name>,
    /// The one that is the first of its kind now.
    pub next: Option<W>,
}

// === impl For ===

impl For {
    fn takes(&self, service: &str) -> bool {
        match self {
            For::Any => true,
            For::Only(name) => **name == *service,
        }
    }
}

// === impl Queue ===

impl<W: Clone> Queue<W> {
    /// Queues up; the ticket says for whom the other functions are called.
    pub fn enter(&mut self, what: For, waker: W) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting.insert(ticket, Waiting { what, granted: None, waker });
        ticket
    }

    /// Grants a free place at `service`. Whom to wake; `None`: nobody waits for it.
    pub fn grant(&mut self, service: &Name) -> Option<W> {
        self.grant_after(None, service)
    }

    /// Grants a place that `ticket` could not use to somebody behind it.
    pub fn grant_after(&mut self, ticket: Option<u64>, service: &Name) -> Option<W> {
        let behind = self.waiting.range_mut(ticket.map_or(0, |t| t + 1)..);
        let (_, first) = behind.into_iter().find(|(_, w)| w.granted.is_none() && w.what.takes(service))?;
        first.granted = Some(Name::clone(service));
        Some(first.waker.clone())
    }

    /// Whether a place at `service` was granted to somebody before `ticket`, who has yet to take it.
    pub fn is_granted_before(&self, ticket: u64, service: &str) -> bool {
        self.waiting.range(..ticket).any(|(_, w)| w.granted.as_deref() == Some(service))
    }

    /// It is about to try: a grant that comes from now on is another one. The grant it had.
    pub fn take_grant(&mut self, ticket: u64) -> Option<Name> {
        self.waiting.get_mut(&ticket)?.granted.take()
    }

    /// It waits for something else from now on, in its old place.
    pub fn waits_for(&mut self, ticket: u64, what: For) {
        if let Some(waiting) = self.waiting.get_mut(&ticket) {
            waiting.what = what;
        }
    }

    /// Whether it is the first of its kind.
    pub fn is_first(&self, ticket: u64) -> bool {
        let Some(own) = self.waiting.get(&ticket) else { return false };
        self.waiting.iter().find(|(_, w)| w.what == own.what).is_some_and(|(first, _)| *first == ticket)
    }

    /// Whether somebody waits who could use a place at `service`: a newcomer must not take it.
    pub fn is_waited_for(&self, service: &str) -> bool {
        self.waiting.values().any(|w| w.what.takes(service))
    }

    pub fn leave(&mut self, ticket: u64) -> Left<W> {
        let was_first = self.is_first(ticket);
        let Some(gone) = self.waiting.remove(&ticket) else { return Left { unused: None, next: None } };
        let next = self.waiting.values().find(|w| was_first && w.what == gone.what);
        Left { unused: gone.granted, next: next.map(|w| w.waker.clone()) }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl<W> Default for Queue<W> {
    fn default() -> Queue<W> {
        Queue { waiting: BTreeMap::new(), next_ticket: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> Name {
        text.into()
    }

    #[test]
    fn places_go_to_who_came_first_and_each_to_one() {
        let mut queue = Queue::default();
        let first = queue.enter(For::Any, 'a');
        queue.enter(For::Any, 'b');
        assert_eq!(queue.grant(&name("s1")), Some('a'));
        assert_eq!(queue.grant(&name("s1")), Some('b'));
        assert_eq!(queue.grant(&name("s1")), None);
        assert_eq!(queue.take_grant(first), Some(name("s1")));
        assert_eq!(queue.leave(first), Left { unused: None, next: Some('b') });
    }

    #[test]
    fn who_waits_for_one_service_is_passed_over_for_others() {
        let mut queue = Queue::default();
        queue.enter(For::Only(name("s1")), 'a');
        queue.enter(For::Any, 'b');
        queue.enter(For::Only(name("s1")), 'c');
        assert!(queue.is_waited_for("s1") && queue.is_waited_for("s2"));
        assert_eq!(queue.grant(&name("s2")), Some('b'));
        assert_eq!(queue.grant(&name("s2")), None);
        assert_eq!(queue.grant(&name("s1")), Some('a'));
        assert_eq!(queue.grant(&name("s1")), Some('c'));
    }

    #[test]
    fn an_unused_grant_is_told_and_the_next_of_a_kind_becomes_the_first() {
        let mut queue = Queue::default();
        let a = queue.enter(For::Only(name("s1")), 'a');
        let b = queue.enter(For::Any, 'b');
        let c = queue.enter(For::Any, 'c');
        assert!(queue.is_first(a) && queue.is_first(b) && !queue.is_first(c));
        queue.grant(&name("s1"));
        assert_eq!(queue.leave(a), Left { unused: Some(name("s1")), next: None });
        assert_eq!(queue.leave(c), Left { unused: None, next: None });
        assert_eq!(queue.leave(b), Left { unused: None, next: None });
        assert_eq!(queue.leave(b), Left { unused: None, next: None });
        assert!(queue.is_empty());
    }

    #[test]
    fn who_waits_for_something_else_keeps_its_place() {
        let mut queue = Queue::default();
        let a = queue.enter(For::Only(name("s1")), 'a');
        queue.enter(For::Any, 'b');
        queue.waits_for(a, For::Any);
        assert_eq!(queue.grant(&name("s2")), Some('a'));
    }

    proptest! {
        /// A model of members with places: whatever comes, goes and gives up in whatever order, those who are served are
        /// served in the order in which they came, and nobody waits while a place is free.
        #[test]
        fn nobody_is_overtaken_and_no_place_stays_empty(acts in prop::collection::vec(0u8..4, 1..200)) {
            let mut queue = Queue::default();
            let service = name("s");
            let (mut free, mut came, mut served) = (2u32, 0u64, Vec::new());
            let mut woken: VecDeque<u64> = VecDeque::new();
            let mut tickets: BTreeMap<u64, u64> = BTreeMap::new();
            for act in acts {
                match act {
                    // Somebody comes.
                    0 | 1 => {
                        if free > 0 && !queue.is_waited_for("s") {
                            free -= 1;
                            served.push(came);
                        } else {
                            tickets.insert(came, queue.enter(For::Any, came));
                        }
                        came += 1;
                    }
                    // A place becomes free.
                    2 if free < 2 => {
                        free += 1;
                        woken.extend(queue.grant(&service));
                    }
                    // The last in the queue gives up.
                    3 => if let Some((who, ticket)) = tickets.pop_last() {
                        let left = queue.leave(ticket);
                        woken.retain(|w| *w != who);
                        if left.unused.is_some() {
                            woken.extend(queue.grant(&service));
                        }
                    },
                    _ => {}
                }
                while let Some(who) = woken.pop_front() {
                    let Some(&ticket) = tickets.get(&who) else { continue };
                    queue.take_grant(ticket);
                    if free > 0 {
                        free -= 1;
                        served.push(who);
                        tickets.remove(&who);
                        queue.leave(ticket);
                    }
                }
                prop_assert!(served.is_sorted());
                prop_assert!(free == 0 || queue.is_empty(), "{} free, {} wait", free, queue.len());
            }
        }
    }
}
