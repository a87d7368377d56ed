//! Queues that take only so many tasks.

use std::time::Duration;

use dtq::store::{Accepted, Full, RETRY_AFTER, Refusal};
use dtq::types::{EventKind, LimitChanges, Status};
use dtq_tests::{LEASE, TaskBuilder, World, promptly, task, want};
use tokio::task::JoinSet;

const SECOND: Duration = Duration::from_secs(1);

fn full(answer: &Accepted) -> Option<Full> {
    assert!(!(answer.created && answer.refused.is_some()), "{answer:?}");
    match answer.refused {
        Some(Refusal::Full(full)) => Some(full),
        _ => None,
    }
}

async fn enqueue(w: &World, tasks: impl IntoIterator<Item = TaskBuilder>) -> Vec<Accepted> {
    w.enqueue_all(tasks.into_iter().map(TaskBuilder::build).collect()).await
}

/// True when one more task is taken.
async fn takes_one(w: &World) -> bool {
    enqueue(w, [task("one more")]).await[0].created
}

pub(crate) async fn what_is_ready_or_scheduled_counts_and_what_runs_does_not(w: &World) {
    w.set_limits(LimitChanges::new().depth(4)).await;
    w.enqueue_many(4, || task("a")).await;
    assert!(!takes_one(w).await);
    let held = w.claim(4).await;
    assert!(takes_one(w).await);
    w.enqueue(task("later").delay(SECOND * 60)).await;
    w.retry(&held[0], SECOND * 60).await;
    w.snooze(&held[1], SECOND * 60).await;
    let refused = enqueue(w, [task("a")]).await.remove(0);
    let about = full(&refused).expect("refused");
    assert_eq!((about.depth, about.limit, about.retry_after), (4, 4, RETRY_AFTER));
    assert!(w.get(&refused.id).await.is_none());
    assert_eq!(w.limits().await.depth, 4);
    w.cancel(&held[0].lease.task).await;
    assert!(takes_one(w).await);
}

pub(crate) async fn a_batch_is_taken_in_order_as_far_as_there_is_room(w: &World) {
    for (limit, batch) in [(10, 12), (200, 300)] {
        let depth = w.limits().await.depth;
        w.set_limits(LimitChanges::new().depth(limit)).await;
        let answers = enqueue(w, (0..batch).map(|_| task("a"))).await;
        let (taken, refused) = answers.split_at(usize::try_from(u64::from(limit) - depth).unwrap());
        assert!(taken.iter().all(|answer| answer.created));
        assert!(refused.iter().all(|answer| full(answer).is_some_and(|full| full.depth == u64::from(limit))));
        assert_eq!(w.stats().await.queued, u64::from(limit));
        for answer in [&taken[0], &taken[taken.len() - 1]] {
            assert_eq!(w.events_of(&answer.id).await, [EventKind::Queued]);
        }
        assert!(w.events_of(&refused[0].id).await.is_empty());
    }
}

pub(crate) async fn a_known_task_is_never_refused(w: &World) {
    w.set_limits(LimitChanges::new().depth(2)).await;
    let known = [task("a"), task("b")];
    enqueue(w, known.clone()).await;
    let again = enqueue(w, known.clone()).await;
    assert!(again.iter().all(|answer| !answer.created && answer.refused.is_none()));
    let copy = task("new");
    let [a, b] = known;
    let mixed = enqueue(w, [a, copy.clone(), b, copy.clone()]).await;
    let refused: Vec<_> = mixed.iter().map(|answer| answer.refused.is_some()).collect();
    assert_eq!(refused, [false, true, false, true]);
    w.claim(2).await;
    let taken = enqueue(w, [copy.clone(), copy]).await;
    assert_eq!((taken[0].created, taken[1].created), (true, false), "a refused id is free");
}

pub(crate) async fn what_is_in_the_queue_never_meets_the_limit_again(w: &World) {
    w.enqueue_many(6, || task("a")).await;
    let held = w.claim(6).await;
    w.enqueue_many(3, || task("b")).await;
    w.set_limits(LimitChanges::new().depth(0)).await;
    w.retry(&held[0], SECOND).await;
    w.snooze(&held[1], SECOND).await;
    w.release(&held[2]).await;
    w.advance(LEASE * 2);
    let all = w.drain(want(20)).await;
    let taken = w.drain(dtq::store::Claim { sweep: true, ..want(20) }).await;
    assert_eq!(all.len() + taken.len(), 9, "6 that ran, and 3 that waited");
    assert!(!takes_one(w).await);
}

pub(crate) async fn a_limit_is_lifted(w: &World) {
    w.set_limits(LimitChanges::new().depth(0)).await;
    assert!(!takes_one(w).await);
    w.set_limits(LimitChanges::new().no_depth()).await;
    assert!(takes_one(w).await);
    assert_eq!(w.limits().await.max_depth, None);
}

pub(crate) async fn it_tells_when_there_may_be_room(w: &World) {
    w.set_limits(LimitChanges::new().depth(20)).await;
    w.enqueue_many(20, || task("a")).await;
    assert_eq!(full(&enqueue(w, [task("x")]).await[0]).unwrap().retry_after, RETRY_AFTER, "nothing is known yet");
    for delivery in w.claim(10).await {
        w.succeed(&delivery).await;
    }
    w.enqueue_many(10, || task("a")).await;
    w.advance(SECOND * 40);
    // 10 in 40 s: room for 4 takes 16 s.
    let after = full(&enqueue(w, (0..4).map(|_| task("x"))).await[0]).unwrap().retry_after;
    assert!((16..=20).contains(&after.as_secs()), "{after:?}");
    // What was seen long ago tells nothing.
    w.advance(SECOND * 3600);
    assert_eq!(full(&enqueue(w, [task("x")]).await[0]).unwrap().retry_after, RETRY_AFTER);
    // Never longer than a minute.
    w.succeed(&w.claim(1).await[0]).await;
    w.enqueue(task("a")).await;
    w.advance(SECOND * 2);
    let after = full(&enqueue(w, (0..128).map(|_| task("x"))).await[0]).unwrap().retry_after;
    assert_eq!(after, SECOND * 60);
}

pub(crate) async fn many_producers_at_once_do_not_pass_it(w: &World) {
    w.set_limits(LimitChanges::new().depth(50)).await;
    let stores = [w.store(), w.second_store().await];
    let mut producers = JoinSet::new();
    for n in 0..8 {
        let store = stores[n % 2].clone();
        producers.spawn(async move {
            let mut taken = 0;
            for _ in 0..10 {
                let tasks = (0..3).map(|_| task("a").build()).collect();
                taken += store.enqueue(tasks).await.unwrap().iter().filter(|answer| answer.created).count();
            }
            taken
        });
    }
    let taken: usize = promptly("the producers", producers.join_all()).await.into_iter().sum();
    assert_eq!((taken, w.stats().await.queued), (50, 50));
}

pub(crate) async fn other_queues_take_what_comes(w: &World) {
    w.set_limits(LimitChanges::new().depth(0)).await;
    let answers = enqueue(w, [task("a"), task("a").queue("other")]).await;
    assert_eq!((answers[0].created, answers[1].created), (false, true));
    assert_eq!(w.status(&answers[1].id).await, Status::Queued);
}

checks! { depth:
    what_is_ready_or_scheduled_counts_and_what_runs_does_not,
    a_batch_is_taken_in_order_as_far_as_there_is_room,
    a_known_task_is_never_refused,
    what_is_in_the_queue_never_meets_the_limit_again,
    a_limit_is_lifted,
    it_tells_when_there_may_be_room,
    many_producers_at_once_do_not_pass_it,
    other_queues_take_what_comes,
}
