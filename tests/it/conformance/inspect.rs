//! Looking things up, and handles on one store.

use std::time::Duration;

use dtq::types::{QueueName, Status, TaskId};
use dtq_tests::{World, promptly, queue, task};

async fn queues(w: &World) -> Vec<QueueName> {
    w.store().queues().await.unwrap()
}

pub(crate) async fn a_task_that_never_was_has_no_record(w: &World) {
    assert_eq!(w.get(&TaskId::generate(queue("default"))).await, None);
    w.enqueue(task("a")).await;
    assert_eq!(w.get(&TaskId::generate(queue("default"))).await, None);
}

pub(crate) async fn a_record_is_found_only_in_its_own_queue(w: &World) {
    let id = w.enqueue(task("a").queue("a")).await;
    assert_eq!(w.get(&TaskId::new(queue("b"), id.uuid())).await, None);
}

pub(crate) async fn queues_are_listed_sorted_and_once(w: &World) {
    assert_eq!(queues(w).await, []);
    for name in ["b", "a", "C", "b", "a.1", "default"] {
        w.enqueue(task("x").queue(name)).await;
    }
    assert_eq!(queues(w).await, ["C", "a", "a.1", "b", "default"].map(queue));
}

pub(crate) async fn a_queue_stays_listed_when_it_is_empty(w: &World) {
    let delivery = w.running(task("a").retention(Duration::ZERO)).await;
    w.succeed(&delivery).await;
    w.advance(Duration::from_secs(40 * 86_400));
    assert_eq!(queues(w).await, [queue("default")]);
}

pub(crate) async fn a_queue_that_was_only_asked_about_is_not_listed(w: &World) {
    w.claim(1).await;
    w.stats_of("asked").await;
    assert_eq!(queues(w).await, []);
}

pub(crate) async fn a_queue_of_delayed_tasks_only_is_listed(w: &World) {
    w.enqueue(task("a").queue("later").delay(Duration::from_secs(60))).await;
    assert_eq!(queues(w).await, [queue("later")]);
}

pub(crate) async fn the_time_of_acceptance_never_changes(w: &World) {
    let first = w.running(task("a")).await;
    let accepted = w.record(&first.lease.task).await.enqueued_at;
    w.advance(Duration::from_secs(10));
    w.retry(&first, Duration::ZERO).await;
    w.advance(Duration::from_secs(10));
    let second = w.claim_one().await;
    assert_eq!(second.enqueued_at, accepted);
    w.succeed(&second).await;
    assert_eq!(w.record(&first.lease.task).await.enqueued_at, accepted);
}

pub(crate) async fn a_finished_record_still_has_its_arguments(w: &World) {
    let id = w.bring(Status::Succeeded, task("a").payload("{\"kept\":true}")).await.id;
    assert_eq!(w.record(&id).await.payload.as_ref(), b"{\"kept\":true}");
}

pub(crate) async fn a_healthy_store_passes_its_probe(w: &World) {
    w.store().probe().await.unwrap();
    w.second_store().await.probe().await.unwrap();
}

pub(crate) async fn a_second_handle_sees_the_same_tasks(w: &World) {
    let second = w.second_store().await;
    let id = w.enqueue(task("a").payload("[1]")).await;
    assert_eq!(second.get(&id).await.unwrap(), w.get(&id).await);
    let delivery = second.claim(dtq_tests::want(1)).await.unwrap().deliveries.remove(0);
    assert_eq!(delivery.lease.task, id);
    w.succeed(&delivery).await;
    assert_eq!(second.get(&id).await.unwrap().unwrap().status, Status::Succeeded);
}

pub(crate) async fn a_dedicated_handle_sees_the_same_tasks(w: &World) {
    let dedicated = w.store().dedicated().await.unwrap();
    let id = w.enqueue(task("a")).await;
    assert_eq!(dedicated.get(&id).await.unwrap().unwrap().status, Status::Queued);
}

pub(crate) async fn a_dedicated_handle_works_while_the_main_runtime_is_blocked(w: &World) {
    let held = w.running(task("a")).await;
    let (store, lease) = (w.store(), held.lease.clone());
    let (blocked, is_blocked) = std::sync::mpsc::channel::<()>();
    let (answer, answered) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let dedicated = store.dedicated().await.unwrap();
            for () in &is_blocked {}
            let renewal =
                dtq::store::Renewal { worker: dtq_tests::worker("w1"), leases: vec![lease], lease: dtq_tests::LEASE };
            let renewed = promptly("renewing", dedicated.renew(renewal)).await.unwrap();
            answer.send(renewed).unwrap();
        });
    });
    // Every worker thread of this runtime is kept busy until the answer is there, and so is this one.
    let (release, held_back) = std::sync::mpsc::channel::<()>();
    let held_back = std::sync::Arc::new(std::sync::Mutex::new(held_back));
    for _ in 0..tokio::runtime::Handle::current().metrics().num_workers() {
        let (blocked, held_back) = (blocked.clone(), held_back.clone());
        tokio::spawn(async move {
            drop(blocked);
            let _ = held_back.lock().unwrap().recv();
        });
    }
    drop(blocked);
    let renewed = answered.recv_timeout(Duration::from_secs(20));
    drop(release);
    assert_eq!(renewed.expect("the dedicated handle was starved"), [dtq::store::Renewed::Held]);
    thread.join().unwrap();
}

checks! {
    inspect:
    a_task_that_never_was_has_no_record,
    a_record_is_found_only_in_its_own_queue,
    queues_are_listed_sorted_and_once,
    a_queue_stays_listed_when_it_is_empty,
    a_queue_that_was_only_asked_about_is_not_listed,
    a_queue_of_delayed_tasks_only_is_listed,
    the_time_of_acceptance_never_changes,
    a_finished_record_still_has_its_arguments,
    a_healthy_store_passes_its_probe,
    a_second_handle_sees_the_same_tasks,
    a_dedicated_handle_sees_the_same_tasks,
    a_dedicated_handle_works_while_the_main_runtime_is_blocked,
}
