//! Hearing of running tasks that were asked to stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dtq::store::{StopQuery, Stops, Store};
use dtq::types::{By, Delivery, TaskId};
use dtq_tests::{DEFAULT, World, promptly, queue, task};

const LONG: Duration = Duration::from_secs(60);

async fn ask(store: &Arc<dyn Store>, queues: &[&str], after: Option<String>, wait: Duration) -> Stops {
    let queues = queues.iter().map(|name| queue(name)).collect();
    store.stops(StopQuery { queues, after, wait }).await.unwrap()
}

async fn now(w: &World, after: Option<String>) -> Stops {
    ask(&w.store(), &[DEFAULT], after, Duration::ZERO).await
}

async fn asked(w: &World) -> Delivery {
    let delivery = w.running(task("a")).await;
    w.cancel(&delivery.lease.task).await;
    delivery
}

pub(crate) async fn nothing_is_heard_when_nothing_was_asked(w: &World) {
    assert!(now(w, None).await.tasks.is_empty());
    let queued = w.enqueue(task("a")).await;
    w.cancel(&queued).await;
    let running = w.running(task("a")).await;
    assert!(now(w, None).await.tasks.is_empty(), "neither was asked to stop: one never ran, one runs");
    w.succeed(&running).await;
}

pub(crate) async fn each_is_heard_of_once_from_where_one_read(w: &World) {
    let first = asked(w).await;
    let heard = now(w, None).await;
    assert_eq!(heard.tasks, std::slice::from_ref(&first.lease.task));
    w.cancel(&first.lease.task).await;
    assert!(now(w, heard.next.clone()).await.tasks.is_empty(), "asked again, it is no news");
    let second = asked(w).await;
    assert_eq!(now(w, heard.next).await.tasks, std::slice::from_ref(&second.lease.task));
    assert!(now(w, None).await.tasks.contains(&second.lease.task), "who asks anew hears of all");
}

pub(crate) async fn the_end_of_one_hides_no_later_one(w: &World) {
    let first = asked(w).await;
    let heard = now(w, None).await;
    w.succeed(&first).await;
    let second = asked(w).await;
    assert_eq!(now(w, heard.next).await.tasks, [second.lease.task]);
}

pub(crate) async fn only_the_queues_that_were_named_are_heard_of(w: &World) {
    let here = asked(w).await.lease.task;
    let there = w.running(task("a").queue("there")).await.lease.task;
    w.cancel(&there).await;
    let heard = ask(&w.store(), &["there"], None, Duration::ZERO).await;
    assert_eq!(heard.tasks, std::slice::from_ref(&there));
    let mut heard = ask(&w.store(), &[DEFAULT, "there"], None, Duration::ZERO).await.tasks;
    heard.sort_by_key(|id| id.queue().to_string());
    assert_eq!(heard, [here, there]);
}

/// Waits for news, then cancels through another handle; gives how long the news took.
async fn news(w: &World, canceller: Arc<dyn Store>) -> (Vec<TaskId>, TaskId, Duration) {
    let id = w.running(task("a")).await.lease.task;
    let next = now(w, None).await.next;
    let store = w.store();
    let waits = tokio::spawn(async move { ask(&store, &[DEFAULT, "other"], next, LONG).await.tasks });
    let began = Instant::now();
    let request = dtq::store::CancelRequest { id: id.clone(), by: By::new("a test", "x") };
    canceller.cancel(request).await.unwrap();
    let heard = promptly("the news", waits).await.unwrap();
    (heard, id, began.elapsed())
}

pub(crate) async fn a_cancellation_by_this_handle_wakes_who_waits(w: &World) {
    let (heard, id, _) = news(w, w.store()).await;
    assert_eq!(heard, [id]);
}

pub(crate) async fn a_cancellation_by_another_handle_wakes_who_waits(w: &World) {
    let (heard, id, took) = news(w, w.second_store().await).await;
    assert_eq!(heard, [id]);
    assert!(took < Duration::from_secs(5), "{took:?}");
}

pub(crate) async fn waiting_for_nothing_ends_at_its_time(w: &World) {
    w.running(task("a")).await;
    let began = Instant::now();
    let heard = promptly("waiting", ask(&w.store(), &[DEFAULT], None, Duration::from_millis(50))).await;
    assert!(heard.tasks.is_empty() && began.elapsed() >= Duration::from_millis(50));
}

/// However many were asked: all are named, or it is said that there may be more.
pub(crate) async fn none_of_many_is_lost_in_silence(w: &World) {
    const MANY: usize = 1500;
    w.enqueue_many(MANY, || task("a")).await;
    let all = w.drain(dtq_tests::want(128)).await;
    for delivery in &all {
        w.cancel(&delivery.lease.task).await;
    }
    let (mut heard, mut after, mut incomplete) = (0, None, false);
    loop {
        let stops = now(w, after).await;
        if stops.tasks.is_empty() {
            break;
        }
        heard += stops.tasks.len();
        incomplete |= stops.incomplete;
        after = stops.next;
    }
    assert!(heard == MANY || incomplete, "{heard} of {MANY}");
}

checks! {
    stops:
    nothing_is_heard_when_nothing_was_asked,
    each_is_heard_of_once_from_where_one_read,
    the_end_of_one_hides_no_later_one,
    only_the_queues_that_were_named_are_heard_of,
    a_cancellation_by_this_handle_wakes_who_waits,
    a_cancellation_by_another_handle_wakes_who_waits,
    waiting_for_nothing_ends_at_its_time,
    none_of_many_is_lost_in_silence,
}
