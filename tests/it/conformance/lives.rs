//! What a requeued task keeps of its earlier lives, and what begins anew.

use std::time::Duration;

use dtq::store::Verdict;
use dtq::types::{Attempt, Delivery, ErrorKind, Requeued, Status, TaskId};
use dtq_tests::{LEASE, World, failure, task};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Lets an attempt fail, with another one to follow.
async fn fails(w: &World, held: &Delivery) -> Delivery {
    w.retry(held, Duration::ZERO).await;
    w.advance(Duration::from_secs(1));
    w.claim_one().await
}

async fn lives_of(w: &World, id: &TaskId) -> Requeued {
    w.record(id).await.requeued.expect("it was requeued")
}

/// A task that was requeued once, after an attempt, and runs again.
async fn in_its_second_life(w: &World, max_attempts: u32) -> Delivery {
    let first = w.running(task("a").max_attempts(max_attempts)).await;
    w.fail(&first).await;
    w.requeue(&first.lease.task).await;
    w.claim_one().await
}

pub(crate) async fn all_attempts_are_there_again_and_the_old_ones_stay_noted(w: &World) {
    let mut held = w.running(task("a").max_attempts(3)).await;
    let id = held.lease.task.clone();
    for life in 1..=3 {
        for attempt in 1..=3 {
            assert_eq!((held.lease.attempt, held.policy.max_attempts), (attempt, 3), "life {life}");
            if attempt < 3 {
                held = fails(w, &held).await;
            }
        }
        w.fail(&held).await;
        if life < 3 {
            w.requeue(&id).await;
            held = w.claim_one().await;
        }
    }
    let record = w.record(&id).await;
    let noted: Vec<_> = record.attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!(noted, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    assert_eq!((record.attempt, record.attempts_in_all()), (3, 9));
    let requeued = record.requeued.expect("it was requeued");
    assert_eq!((requeued.times, requeued.attempts), (2, 6));
    let letters = w.dead_letters().await;
    assert_eq!((letters.len(), letters[0].attempt), (1, 3));
    let stats = w.stats().await;
    assert_eq!((stats.dead_lettered, stats.unfinished()), (3, 0));
}

pub(crate) async fn a_lost_worker_counts_in_the_new_life(w: &World) {
    let held = in_its_second_life(w, 2).await;
    w.advance(LEASE + Duration::from_secs(1));
    let taken = w.sweep(1).await.remove(0);
    assert_eq!((taken.lease.attempt, taken.reclaimed), (2, true));
    w.advance(LEASE + Duration::from_secs(1));
    assert!(w.sweep(1).await.is_empty());
    let record = w.record(&held.lease.task).await;
    assert_eq!((record.status, record.attempt), (Status::DeadLettered, 2));
    assert_eq!(record.last_failure().expect("a reason").kind, ErrorKind::WorkerLost);
    assert_eq!(record.requeued.expect("kept").attempts, 1);
    w.requeue(&held.lease.task).await;
    assert_eq!(lives_of(w, &held.lease.task).await.attempts, 3);
}

pub(crate) async fn a_retry_keeps_count(w: &World) {
    let held = in_its_second_life(w, 5).await;
    let before = lives_of(w, &held.lease.task).await;
    let again = fails(w, &held).await;
    assert_eq!(lives_of(w, &held.lease.task).await, before);
    w.succeed(&again).await;
    assert_eq!(lives_of(w, &held.lease.task).await, before);
}

pub(crate) async fn a_snooze_a_release_and_a_takeover_keep_count(w: &World) {
    let held = in_its_second_life(w, 5).await;
    let before = lives_of(w, &held.lease.task).await;
    w.snooze(&held, Duration::from_secs(1)).await;
    assert_eq!(lives_of(w, &held.lease.task).await, before, "pending");
    w.advance(Duration::from_secs(2));
    let held = w.claim_one().await;
    w.release(&held).await;
    assert_eq!(lives_of(w, &held.lease.task).await, before, "released");
    w.claim_one().await;
    w.advance(LEASE + Duration::from_secs(1));
    let held = w.sweep(1).await.remove(0);
    assert_eq!(lives_of(w, &held.lease.task).await, before, "taken over");
    w.drop_task(&held).await;
    assert_eq!(lives_of(w, &held.lease.task).await, before, "cancelled");
}

pub(crate) async fn every_end_keeps_count(w: &World) {
    for status in Status::ALL {
        let first = w.bring_to(Status::DeadLettered).await;
        w.requeue(&first.id).await;
        let before = lives_of(w, &first.id).await;
        if status == Status::Cancelled {
            w.cancel(&first.id).await;
        } else {
            let held = w.claim_one_of(first.id.queue().as_str()).await;
            match status {
                Status::Succeeded => w.succeed(&held).await,
                Status::Retrying => w.retry(&held, DAY).await,
                Status::Pending => w.snooze(&held, DAY).await,
                Status::Queued => w.release(&held).await,
                Status::DeadLettered => w.fail(&held).await,
                _ => {}
            }
        }
        assert_eq!(lives_of(w, &first.id).await, before, "{status}");
        w.cancel(&first.id).await;
        for held in w.claim_with(dtq::store::Claim { queue: first.id.queue().clone(), ..dtq_tests::want(9) }).await.deliveries {
            w.drop_task(&held).await;
        }
    }
}

pub(crate) async fn a_time_to_live_begins_anew(w: &World) {
    let ttl = Duration::from_secs(600);
    let old = w.running(task("a").ttl(ttl)).await;
    w.fail(&old).await;
    w.advance(10 * ttl);
    w.requeue(&old.lease.task).await;
    w.advance(ttl / 2);
    let again = w.claim_one().await;
    assert_eq!(again.enqueued_at, old.enqueued_at, "the time of acceptance is what it was");
    w.retry(&again, Duration::ZERO).await;
    w.advance(ttl);
    assert!(w.claim(1).await.is_empty());
    assert_eq!(w.status(&old.lease.task).await, Status::Expired);
    w.requeue(&old.lease.task).await;
    w.advance(ttl + Duration::from_secs(1));
    assert!(w.claim(1).await.is_empty());
    assert_eq!(w.status(&old.lease.task).await, Status::Expired, "queued all the time");
    assert_eq!(lives_of(w, &old.lease.task).await.times, 2);
}

pub(crate) async fn a_life_has_no_end_of_the_one_before(w: &World) {
    let held = in_its_second_life(w, 2).await;
    w.release(&held).await;
    w.advance(100 * DAY);
    let again = w.claim_one().await;
    w.fail(&again).await;
    w.advance(29 * DAY);
    assert_eq!(w.dead_letters().await.len(), 1, "its 30 days begin with its latest death");
    w.advance(2 * DAY);
    assert_eq!(w.get(&held.lease.task).await, None);
    assert_eq!(w.dead_letters().await, []);
}

pub(crate) async fn the_history_is_bounded_over_all_lives_and_the_count_is_not(w: &World) {
    let mut held = w.running(task("a").max_attempts(2)).await;
    let id = held.lease.task.clone();
    for life in 1..=15_u32 {
        held = fails(w, &held).await;
        let verdict = Verdict::Failed { failure: failure(&format!("life {life}")) };
        w.settle_to(&held, verdict, Status::DeadLettered).await;
        w.requeue(&id).await;
        held = w.claim_one().await;
    }
    let record = w.record(&id).await;
    assert_eq!(record.attempts.len(), Attempt::KEPT);
    assert_eq!(record.last_failure().expect("the latest").message, "life 15");
    assert_eq!((lives_of(w, &id).await.times, record.attempts_in_all()), (15, 31));
}

pub(crate) async fn no_record_is_left_of_one_whose_retention_is_zero(w: &World) {
    let first = w.running(task("a").retention(Duration::ZERO)).await;
    w.fail(&first).await;
    w.requeue(&first.lease.task).await;
    let again = w.claim_one().await;
    w.settle_to(&again, Verdict::Succeeded { result: None }, Status::Succeeded).await;
    assert_eq!(w.get(&first.lease.task).await, None);
    let new = w.running(task("a").id(&first.lease.task)).await;
    let record = w.record(&new.lease.task).await;
    assert_eq!((record.attempts.len(), record.requeued), (0, None), "nothing of it is left to a task of the same id");
}

checks! { lives:
    all_attempts_are_there_again_and_the_old_ones_stay_noted,
    a_lost_worker_counts_in_the_new_life,
    a_retry_keeps_count,
    a_snooze_a_release_and_a_takeover_keep_count,
    every_end_keeps_count,
    a_time_to_live_begins_anew,
    a_life_has_no_end_of_the_one_before,
    the_history_is_bounded_over_all_lives_and_the_count_is_not,
    no_record_is_left_of_one_whose_retention_is_zero,
}
