//! Which probe starts when: the pure half of the runner. It is told the time and answers with what to start.
//!
//! Every check has one place, under its name. In it stand at most one job that waits for its time and at most one
//! attempt that is on its way, so two probes of one check never overlap, and however many services, scenarios or
//! records refer to a check it is probed once.
//!
//! | in the place | event | then |
//! |---|---|---|
//! | – | job | waiting |
//! | waiting | job | waiting, the later definition and time |
//! | waiting | due, a permit is free | under way |
//! | waiting | due, more than its interval ago | void: this machine is too busy to judge the peer |
//! | under way | job of the same definition | under way + waiting |
//! | under way | job of another definition | aborted; waiting |
//! | under way | ended | – (or waiting, where a job came meanwhile) |
//! | any | cancel | –, aborted |

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Job, Traffic, Way};
use crate::model::check::Check;
use crate::model::id::Name;

/// What is due.
#[derive(Debug)]
pub(super) enum Start {
    /// Take a sample, now.
    Probe(Attempt),
    /// Too late for a sample that means anything.
    Void(Attempt),
}

/// One attempt; [`Plan::ended`] must be told when it is over.
#[derive(Debug)]
pub(super) struct Attempt {
    /// Unique within the plan.
    pub serial: u64,
    pub check: Arc<Check>,
    pub traffic: Option<Arc<dyn Traffic>>,
    pub way: Way,
    pub due: Instant,
}

/// `A` is what aborts an attempt.
#[derive(Debug)]
pub(super) struct Plan<A> {
    places: HashMap<Name, Place<A>>,
    /// Waiting jobs whose check has no attempt under way, by time; the serial breaks ties in order of arrival.
    queue: BTreeSet<(Instant, u64, Name)>,
    under_way: usize,
    limit: usize,
    serial: u64,
    /// When the one who starts will look again by itself.
    looks_at: Option<Instant>,
}

#[derive(Debug)]
struct Place<A> {
    waiting: Option<(Job, u64)>,
    under_way: Option<UnderWay<A>>,
}

#[derive(Debug)]
struct UnderWay<A> {
    serial: u64,
    check: Arc<Check>,
    /// Counts so much against the limit: as many as it has targets while it probes, nothing once it only reports.
    weight: usize,
    abort: Option<A>,
}

// === impl Plan ===

impl<A> Plan<A> {
    /// At most `limit` (at least one) probes are under way at once.
    pub(super) fn new(limit: usize) -> Plan<A> {
        Plan {
            places: HashMap::new(),
            queue: BTreeSet::new(),
            under_way: 0,
            limit: limit.max(1),
            serial: 0,
            looks_at: None,
        }
    }

    /// Replaces what waits under the check's name. What comes back must be aborted.
    pub(super) fn schedule(&mut self, job: Job) -> Option<A> {
        let name = job.check.name.clone();
        let stale = self.places.get(&name).and_then(|place| place.under_way.as_ref());
        let aborted = match stale {
            Some(attempt) if !is_same_probe(&attempt.check, &job.check) => self.cancel(&name),
            _ => None,
        };
        self.serial += 1;
        let (due, serial) = (job.due, self.serial);
        let place = self.places.entry(name.clone()).or_insert(Place { waiting: None, under_way: None });
        if let Some((former, serial)) = place.waiting.replace((job, serial)) {
            self.queue.remove(&(former.due, serial, name.clone()));
        }
        if place.under_way.is_none() {
            self.queue.insert((due, serial, name));
        }
        aborted
    }

    /// Forgets the check of this name. What comes back must be aborted.
    pub(super) fn cancel(&mut self, name: &Name) -> Option<A> {
        let place = self.places.remove(name)?;
        if let Some((job, serial)) = place.waiting {
            self.queue.remove(&(job.due, serial, name.clone()));
        }
        let attempt = place.under_way?;
        self.under_way -= attempt.weight;
        attempt.abort
    }

    /// Forgets every check that `keep` does not name.
    pub(super) fn retain(&mut self, keep: impl Fn(&Name) -> bool) -> Vec<A> {
        let gone: Vec<Name> = self.places.keys().filter(|name| !keep(name)).cloned().collect();
        gone.iter().filter_map(|name| self.cancel(name)).collect()
    }

    /// The next thing to do at `now`; to be called until it answers `None`.
    pub(super) fn start(&mut self, now: Instant) -> Option<Start> {
        let &(due, _, _) = self.queue.first()?;
        if due > now {
            return None;
        }
        let late_by = now - due;
        let name = &self.queue.first()?.2;
        let interval = self.places[name].waiting.as_ref()?.0.check.schedule.interval;
        let is_void = late_by >= interval;
        if !is_void && self.under_way >= self.limit {
            return None;
        }
        let (due, _, name) = self.queue.pop_first()?;
        let place = self.places.get_mut(&name)?;
        let (job, serial) = place.waiting.take()?;
        let Job { check, traffic, way, .. } = job;
        let weight = if is_void { 0 } else { check.probe.parts().len() };
        self.under_way += weight;
        place.under_way = Some(UnderWay { serial, check: check.clone(), weight, abort: None });
        let attempt = Attempt { serial, check, traffic, way, due };
        Some(if is_void { Start::Void(attempt) } else { Start::Probe(attempt) })
    }

    /// Keeps what aborts the attempt. Gives it back where the attempt is no longer wanted.
    pub(super) fn can_abort(&mut self, name: &Name, serial: u64, abort: A) -> Option<A> {
        match self.places.get_mut(name).and_then(|place| place.under_way.as_mut()) {
            Some(attempt) if attempt.serial == serial => {
                attempt.abort = Some(abort);
                None
            }
            _ => Some(abort),
        }
    }

    /// Whether the attempt is still wanted: neither cancelled nor replaced.
    pub(super) fn is_wanted(&self, name: &Name, serial: u64) -> bool {
        let under_way = self.places.get(name).and_then(|place| place.under_way.as_ref());
        under_way.is_some_and(|attempt| attempt.serial == serial)
    }

    /// The probe of the attempt is over, its report is not yet delivered: another probe may start.
    pub(super) fn probed(&mut self, name: &Name, serial: u64) {
        if let Some(attempt) = self.places.get_mut(name).and_then(|place| place.under_way.as_mut())
            && attempt.serial == serial
        {
            self.under_way -= std::mem::take(&mut attempt.weight);
        }
    }

    /// The attempt is over and reported.
    pub(super) fn ended(&mut self, name: &Name, serial: u64) {
        if !self.is_wanted(name, serial) {
            return;
        }
        self.probed(name, serial);
        let Some(place) = self.places.get_mut(name) else { return };
        place.under_way = None;
        match &place.waiting {
            Some((job, serial)) => {
                self.queue.insert((job.due, *serial, name.clone()));
            }
            None => {
                self.places.remove(name);
            }
        }
    }

    /// [`Plan::wake_at`], by one who will look again then.
    pub(super) fn sleep_until(&mut self) -> Option<Instant> {
        self.looks_at = self.wake_at();
        self.looks_at
    }

    /// Whether what has changed since [`Plan::sleep_until`] cannot wait until then. A job that is due later than others
    /// wakes nobody.
    pub(super) fn is_sooner(&self) -> bool {
        match (self.wake_at(), self.looks_at) {
            (Some(at), Some(looks_at)) => at < looks_at,
            (at, None) => at.is_some(),
            (None, Some(_)) => false,
        }
    }

    /// When [`Plan::start`] may have something to do by time alone; `None` where only another event can bring that.
    fn wake_at(&self) -> Option<Instant> {
        let &(due, _, ref name) = self.queue.first()?;
        if self.under_way < self.limit {
            return Some(due);
        }
        // Without a free permit the earliest job can only become void.
        let interval =
            self.places[name].waiting.as_ref().map_or(Duration::ZERO, |(job, _)| job.check.schedule.interval);
        Some(due + interval)
    }
}

/// Whether an attempt under `a` says something about `b`. Ids in the origin change with every configuration.
fn is_same_probe(a: &Check, b: &Check) -> bool {
    a.probe == b.probe && a.schedule == b.schedule
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::check::{Origin, Probe, Schedule, Target};

    pub(in super::super) fn check(name: &str, port: u16) -> Arc<Check> {
        let schedule = Schedule {
            interval: Duration::from_millis(1_000),
            timeout: Duration::from_millis(500),
            rise: 1,
            fall: 1,
            ..Schedule::default()
        };
        let probe = Probe::Tcp { target: Target::new(([127, 0, 0, 1], port).into()) };
        Arc::new(Check { name: name.into(), origin: Origin::User, probe, schedule })
    }

    struct World {
        plan: Plan<u64>,
        t0: Instant,
    }

    impl World {
        fn new(limit: usize) -> World {
            World { plan: Plan::new(limit), t0: Instant::now() }
        }

        fn at(&self, ms: u64) -> Instant {
            self.t0 + Duration::from_millis(ms)
        }

        fn job(&mut self, name: &str, port: u16, due_ms: u64) -> Option<u64> {
            let due = self.at(due_ms);
            self.plan.schedule(Job { check: check(name, port), due, traffic: None, way: Way::default() })
        }

        /// Everything that starts at `ms`, as `NAME` or `NAME void`; serials by name.
        fn start(&mut self, ms: u64) -> Vec<(String, u64)> {
            let now = self.at(ms);
            let mut started = Vec::new();
            while let Some(start) = self.plan.start(now) {
                let (attempt, suffix) = match start {
                    Start::Probe(attempt) => (attempt, ""),
                    Start::Void(attempt) => (attempt, " void"),
                };
                assert_eq!(self.plan.can_abort(&attempt.check.name, attempt.serial, attempt.serial), None);
                started.push((format!("{}{suffix}", attempt.check.name), attempt.serial));
            }
            started
        }
    }

    fn names(started: &[(String, u64)]) -> Vec<&str> {
        started.iter().map(|(name, _)| &**name).collect()
    }

    #[test]
    fn jobs_start_in_the_order_of_their_time_and_never_early() {
        let mut w = World::new(9);
        w.job("b", 1, 20);
        w.job("a", 1, 10);
        w.job("c", 1, 30);
        assert_eq!(w.plan.wake_at(), Some(w.at(10)));
        assert_eq!(names(&w.start(9)), [""; 0]);
        assert_eq!(names(&w.start(20)), ["a", "b"]);
        assert_eq!(w.plan.wake_at(), Some(w.at(30)));
    }

    #[test]
    fn a_check_is_probed_once_however_often_it_is_scheduled() {
        let mut w = World::new(9);
        w.job("a", 1, 10);
        w.job("a", 1, 12);
        assert_eq!(names(&w.start(11)), [""; 0], "the later time replaces the former");
        let started = w.start(12);
        assert_eq!(names(&started), ["a"]);
        // The next job comes due while the attempt is under way: it waits for its end.
        assert_eq!(w.job("a", 1, 20), None);
        assert_eq!(names(&w.start(30)), [""; 0]);
        assert_eq!(w.plan.wake_at(), None);
        w.plan.ended(&"a".into(), started[0].1);
        assert_eq!(names(&w.start(30)), ["a"]);
    }

    #[test]
    fn a_changed_definition_aborts_the_attempt_of_the_former_one() {
        let mut w = World::new(9);
        w.job("a", 1, 0);
        let former = w.start(0)[0].1;
        assert_eq!(w.job("a", 2, 5), Some(former));
        assert!(!w.plan.is_wanted(&"a".into(), former));
        let latter = w.start(5);
        assert_eq!(names(&latter), ["a"]);
        // The late end of the aborted one does not end its successor.
        w.plan.ended(&"a".into(), former);
        assert!(w.plan.is_wanted(&"a".into(), latter[0].1));
    }

    #[test]
    fn never_more_than_the_limit_are_under_way() {
        let mut w = World::new(2);
        for name in ["a", "b", "c"] {
            w.job(name, 1, 0);
        }
        let started = w.start(0);
        assert_eq!(names(&started), ["a", "b"]);
        assert_eq!(w.plan.wake_at(), Some(w.at(1_000)), "the third becomes void then");
        w.plan.probed(&"a".into(), started[0].1);
        assert_eq!(names(&w.start(1)), ["c"], "a probe that waits to be reported holds no permit");
        w.plan.ended(&"a".into(), started[0].1);
        assert_eq!(w.plan.under_way, 2);
        assert_eq!(w.plan.cancel(&"b".into()), Some(started[1].1));
        assert_eq!(w.plan.under_way, 1);
    }

    #[test]
    fn a_job_that_cannot_start_within_its_interval_is_void() {
        let mut w = World::new(1);
        w.job("a", 1, 0);
        w.job("b", 1, 0);
        assert_eq!(names(&w.start(0)), ["a"]);
        assert_eq!(names(&w.start(999)), [""; 0]);
        let void = w.start(1_000);
        assert_eq!(names(&void), ["b void"]);
        // It is over once it is reported, and takes no permit meanwhile.
        w.plan.ended(&"b".into(), void[0].1);
        assert!(!w.plan.places.contains_key("b"));
        assert_eq!(w.plan.under_way, 1);
    }

    #[test]
    fn what_is_no_longer_configured_is_forgotten_and_aborted() {
        let mut w = World::new(9);
        w.job("a", 1, 0);
        w.job("b", 1, 0);
        w.job("c", 1, 50);
        let started = w.start(0);
        assert_eq!(w.plan.retain(|name| &**name == "b"), [started[0].1]);
        assert_eq!(w.plan.wake_at(), None);
        assert_eq!(w.plan.cancel(&"b".into()), Some(started[1].1));
        assert_eq!((w.plan.under_way, w.plan.places.len(), w.plan.queue.len()), (0, 0, 0));
    }

    #[test]
    fn only_what_cannot_wait_wakes_the_one_who_starts() {
        let mut w = World::new(1);
        w.job("a", 1, 10);
        assert!(w.plan.is_sooner(), "nobody sleeps yet");
        w.plan.sleep_until();
        w.job("b", 1, 20);
        assert!(!w.plan.is_sooner(), "it is due later");
        w.job("c", 1, 5);
        assert!(w.plan.is_sooner());
        let started = w.start(5);
        w.plan.sleep_until();
        assert!(!w.plan.is_sooner(), "without a permit nothing can start");
        w.plan.probed(&"c".into(), started[0].1);
        assert!(w.plan.is_sooner(), "a permit is free");
    }
}
