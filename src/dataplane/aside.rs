//! A future beside a busy one: polled only when it was itself woken, not each time the task is. What may end a connection
//! from outside sleeps behind three locks; asking it at every message would cost more than the message's bookkeeping.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

pub(crate) struct Aside<F> {
    future: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// Who is told of the bell, again: compared without its lock.
    told: Waker,
    /// Made of `bell`.
    waker: Waker,
}

struct Bell {
    rung: AtomicBool,
    task: Mutex<Waker>,
}

// === impl Aside ===

impl<F: Future> Aside<F> {
    pub fn new(future: F) -> Aside<F> {
        let told = Waker::noop().clone();
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), task: Mutex::new(told.clone()) });
        Aside { future: Box::pin(future), waker: Waker::from(Arc::clone(&bell)), bell, told }
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        if !self.told.will_wake(cx.waker()) {
            self.told.clone_from(cx.waker());
            self.bell.task.lock().clone_from(cx.waker());
        }
        // After the waker is in place: a bell that rings in between is seen here or wakes the task.
        if !self.bell.rung.load(Ordering::Acquire) || !self.bell.rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        self.future.as_mut().poll(&mut Context::from_waker(&self.waker))
    }
}

// === impl Bell ===

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.task.lock().wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_stands_aside_is_polled_once_and_then_only_when_it_was_woken() {
        let polls = Arc::new(Mutex::new(0));
        let (ring, rung) = tokio::sync::oneshot::channel::<()>();
        let counted = {
            let polls = Arc::clone(&polls);
            let mut rung = Box::pin(rung);
            std::future::poll_fn(move |cx| {
                *polls.lock() += 1;
                rung.as_mut().poll(cx)
            })
        };
        let mut aside = Aside::new(counted);
        for _ in 0..5 {
            assert!(std::future::poll_fn(|cx| Poll::Ready(aside.poll(cx))).await.is_pending());
        }
        assert_eq!(*polls.lock(), 1);
        tokio::spawn(async move { ring.send(()) });
        std::future::poll_fn(|cx| aside.poll(cx)).await.unwrap();
        assert_eq!(*polls.lock(), 2);
    }
}
