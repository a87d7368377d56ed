//! Leases that are kept while a handler works, and lost while it cannot know.

use std::sync::Arc;
use std::time::Duration;

use dtq::prelude::*;
use dtq::store::{Claim, Store};
use dtq::types::{EventKind, Status};
use dtq::{Worker, WorkerConfig};
use dtq_tests::{World, eventually, want, worker as named};
use tokio::sync::oneshot;

use super::{Bench, PATIENCE, Probe, RealTime, on_both_stores};

/// Long enough for a machine whose cores are taken by other tests.
const SHORT: Duration = Duration::from_millis(1800);

/// Works for three leases, in one of the ways that keep a runtime's threads busy.
#[dtq::task]
async fn hogs(ctx: &Context, #[state] probe: &Probe, how: String) -> u32 {
    probe.note("runs");
    match how.as_str() {
        "sleep" => std::thread::sleep(3 * SHORT),
        "busy" => {
            let began = std::time::Instant::now();
            while began.elapsed() < 3 * SHORT {
                // Gives way to other processes, not to its own runtime.
                std::thread::yield_now();
            }
        }
        "in place" => tokio::task::block_in_place(|| std::thread::sleep(3 * SHORT)),
        _ => tokio::time::sleep(3 * SHORT).await,
    }
    probe.note("done");
    ctx.attempt()
}

#[dtq::task(max_attempts = 2)]
async fn outlives_its_lease(ctx: &Context, #[state] probe: &Probe) -> String {
    probe.note("runs");
    if ctx.attempt() == 1 {
        ctx.cancellation().cancelled().await;
        probe.note("told");
    }
    format!("attempt {}", ctx.attempt())
}

/// A worker on a thread and a runtime of its own, which has one thread only.
struct Apart {
    stop: oneshot::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Apart {
    fn start(store: Arc<dyn Store>, app: App, config: WorkerConfig) -> Self {
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            runtime.block_on(async {
                let worker = Worker::new(Client::with_store(store), app, config).unwrap().start().await.unwrap();
                stopped.await.unwrap();
                worker.stop().await;
            });
        });
        Self { stop, thread }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        tokio::task::spawn_blocking(|| self.thread.join().unwrap()).await.unwrap();
    }
}

/// One handler for three leases (and three times the silence that ends a worker) on a worker with one thread, while others
/// look for lost tasks.
async fn hog(w: &World, how: &str) {
    let b = Bench::new(w);
    // A store of its own: its connection lives on the runtime that is kept busy.
    let config = Bench::config().lease(SHORT).heartbeat(SHORT / 4);
    let apart = Apart::start(w.second_store().await, b.app(), config);
    let handle = hogs::enqueue(how.into()).on(&b.client).await.unwrap();
    let time = RealTime::of(w);
    eventually("the handler is done", || async {
        time.tick();
        if b.probe.count("runs") > 0 {
            let look = Claim { worker: named("other"), lease: SHORT, sweep: true, ..want(1) };
            assert!(w.claim_with(look).await.deliveries.is_empty(), "a healthy worker's task was taken over");
        }
        (b.probe.count("done") > 0).then_some(())
    })
    .await;
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 1);
    assert_eq!(b.probe.count("runs"), 1);
    apart.stop().await;
}

async fn an_async_handler_keeps_its_lease(w: &World) {
    hog(w, "async").await;
}

async fn a_handler_that_blocks_every_thread_keeps_its_lease(w: &World) {
    hog(w, "sleep").await;
}

async fn a_handler_in_a_busy_loop_keeps_its_lease(w: &World) {
    hog(w, "busy").await;
}

async fn a_handler_that_blocks_in_place_keeps_its_lease(w: &World) {
    hog(w, "in place").await;
}

async fn the_old_owner_of_a_task_that_was_taken_over_is_told_and_its_end_refused(w: &World) {
    let b = Bench::new(w);
    // No room for a second task: this worker does not look for lost ones itself.
    let config = Bench::config().lease(SHORT).cancel_grace(Duration::from_millis(50)).concurrency(1);
    let worker = b.worker_with(config).await;
    let handle = outlives_its_lease::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("runs", 1).await;
    // As if the worker's machine had been asleep: the store's clock has passed the lease before any renewal.
    let other = eventually("the task is taken over", || async {
        w.advance(2 * SHORT);
        let look = Claim { worker: named("other"), sweep: true, ..want(1) };
        w.claim_with(Claim { lease: SHORT, ..look }).await.deliveries.pop()
    })
    .await;
    assert_eq!((&other.lease.task, other.lease.attempt, other.reclaimed), (handle.id(), 2, true));
    b.probe.noted("told", 1).await;
    eventually("the first end is refused", || async {
        w.events_of(handle.id()).await.contains(&EventKind::DuplicateAbsorbed).then_some(())
    })
    .await;
    let record = w.record(handle.id()).await;
    assert_eq!((record.attempt, record.result), (2, None), "the new owner's attempt is untouched");
    worker.stop().await;
}

async fn a_task_of_a_worker_that_vanished_is_run_by_another(w: &World) {
    let b = Bench::new(w);
    let handle = outlives_its_lease::enqueue().on(&b.client).await.unwrap();
    assert_eq!(w.claim_one().await.lease.attempt, 1);
    w.advance(2 * dtq_tests::LEASE);
    let worker = b.worker().await;
    let result = eventually("it is taken over", || async {
        // A store may look for run-out leases only every quarter of a lease.
        w.advance(dtq_tests::LEASE / 4);
        let record = w.record(handle.id()).await;
        (record.status == Status::Succeeded).then_some(record.result)
    })
    .await;
    assert_eq!(result.unwrap().as_ref(), br#""attempt 2""#);
    worker.stop().await;
}

on_both_stores! {
    an_async_handler_keeps_its_lease,
    a_handler_that_blocks_every_thread_keeps_its_lease,
    a_handler_in_a_busy_loop_keeps_its_lease,
    a_handler_that_blocks_in_place_keeps_its_lease,
    the_old_owner_of_a_task_that_was_taken_over_is_told_and_its_end_refused,
    a_task_of_a_worker_that_vanished_is_run_by_another,
}
