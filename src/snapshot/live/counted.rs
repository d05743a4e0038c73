//! One of something that is counted while it lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts on a counter of `T` until it is dropped.
#[derive(Debug)]
#[must_use = "it counts no more once it is dropped"]
pub struct Counted<T> {
    of: Arc<T>,
    counter: fn(&T) -> &AtomicU32,
}

// === impl Counted ===

impl<T> Counted<T> {
    pub fn new(of: &Arc<T>, counter: fn(&T) -> &AtomicU32) -> Counted<T> {
        counter(of).fetch_add(1, Ordering::Relaxed);
        Counted { of: Arc::clone(of), counter }
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        (self.counter)(&self.of).fetch_sub(1, Ordering::Relaxed);
    }
}
