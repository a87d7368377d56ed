//! Dead letters that are done with: discarded or purged.

use std::time::Duration;

use dtq::store::{RequeueFrom, Steer, Steered};
use dtq::types::{Status, TaskId};
use dtq_tests::{World, task};
use futures_util::future::join_all;

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn dead(w: &World) -> TaskId {
    let held = w.running(task("a")).await;
    w.fail(&held).await;
    held.lease.task
}

fn requeue() -> Steer {
    Steer::Requeue { from: RequeueFrom::DeadLetters, payload: None }
}

pub(crate) async fn a_discarded_letter_leaves_the_list_and_keeps_its_record(w: &World) {
    let id = dead(w).await;
    let before = w.record(&id).await;
    let (counts, events) = (w.stats().await, w.events_of(&id).await);
    w.advance(Duration::from_secs(5));
    assert_eq!(w.steer_one(&id, Steer::Discard).await, Steered::Done);
    assert_eq!(w.dead_letters().await, []);
    let after = w.record(&id).await;
    let at = after.discarded_at.expect("it is marked");
    w.assert_passed(at.since(before.finished_at.expect("it is dead")), Duration::from_secs(5));
    assert_eq!(dtq::types::Record { discarded_at: None, ..after }, before);
    assert_eq!((w.stats().await, w.events_of(&id).await), (counts, events));
}

pub(crate) async fn a_discarded_letter_is_discarded_once(w: &World) {
    let id = dead(w).await;
    w.steer_one(&id, Steer::Discard).await;
    let before = w.snapshot(&id).await;
    for action in [Steer::Discard, Steer::Purge, requeue()] {
        assert_eq!(w.steer_one(&id, action).await, Steered::Discarded);
    }
    assert_eq!(w.snapshot(&id).await, before);
}

pub(crate) async fn a_discarded_letter_can_be_requeued_by_id(w: &World) {
    let id = dead(w).await;
    w.steer_one(&id, Steer::Discard).await;
    w.requeue(&id).await;
    assert_eq!(w.record(&id).await.discarded_at, None);
    let again = w.claim_one().await;
    w.fail(&again).await;
    assert_eq!(w.dead_letters().await.len(), 1);
    assert_eq!(w.record(&id).await.discarded_at, None);
    assert_eq!(w.steer_one(&id, Steer::Discard).await, Steered::Done);
    assert_eq!(w.dead_letters().await, []);
}

pub(crate) async fn a_discarded_letter_goes_when_it_would_have_gone(w: &World) {
    let id = dead(w).await;
    w.advance(20 * DAY);
    w.steer_one(&id, Steer::Discard).await;
    w.advance(9 * DAY);
    assert!(w.get(&id).await.is_some());
    w.advance(2 * DAY);
    assert_eq!(w.get(&id).await, None);
    assert!(w.enqueue_again(task("a").id(&id)).await.created, "its id is free again");
}

pub(crate) async fn a_purged_letter_leaves_nothing(w: &World) {
    let id = dead(w).await;
    let counts = w.stats().await;
    assert_eq!(w.steer_one(&id, Steer::Purge).await, Steered::Done);
    assert_eq!((w.get(&id).await, w.dead_letters().await), (None, vec![]));
    assert_eq!(w.stats().await, counts, "the counts of the past stay");
    for action in [Steer::Discard, Steer::Purge, requeue()] {
        assert_eq!(w.steer_one(&id, action).await, Steered::NotFound);
    }
    let new = w.running(task("a").id(&id)).await;
    assert_eq!(w.record(&new.lease.task).await.attempts, [], "nothing of it is left to a task of the same id");
}

pub(crate) async fn only_dead_letters_can_be_discarded_or_purged(w: &World) {
    for status in Status::ALL.into_iter().filter(|&status| status != Status::DeadLettered) {
        let id = w.bring_to(status).await.id;
        let before = w.snapshot(&id).await;
        for action in [Steer::Discard, Steer::Purge] {
            assert_eq!(w.steer_one(&id, action).await, Steered::Unfit(status));
        }
        assert_eq!(w.snapshot(&id).await, before, "{status}");
    }
}

/// Letters whose list holds others around them.
pub(crate) async fn its_neighbours_stay(w: &World) {
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(dead(w).await);
    }
    w.steer_one(&ids[1], Steer::Discard).await;
    w.steer_one(&ids[2], Steer::Purge).await;
    w.steer_one(&ids[4], requeue()).await;
    let left: Vec<_> = w.dead_letters().await.into_iter().map(|letter| letter.id).collect();
    assert_eq!(left, [ids[0].clone(), ids[3].clone(), ids[5].clone()]);
}

pub(crate) async fn of_actions_that_race_one_wins_and_the_others_are_told(w: &World) {
    let other = w.second_store().await;
    for _ in 0..25 {
        let id = dead(w).await;
        let actions = [requeue(), Steer::Discard, Steer::Purge, requeue(), Steer::Purge, Steer::Discard];
        let act = |(n, action): (usize, Steer)| {
            let (id, store) = (id.clone(), if n % 2 == 0 { w.store() } else { other.clone() });
            async move {
                let (queue, by) = (id.queue().clone(), dtq::types::By::new("tests", "a race"));
                let (targets, words) = (vec![id.clone().into()], id.to_string());
                let steering = dtq::store::Steering { queue, targets, action, words, by };
                store.steer(steering).await.expect("steer").remove(0)
            }
        };
        let told = join_all(actions.clone().into_iter().enumerate().map(act)).await;
        let winners: Vec<_> = (0..told.len()).filter(|&n| told[n] == Steered::Done).collect();
        assert_eq!(winners.len(), 1, "{told:?}");
        let expected = match actions[winners[0]] {
            Steer::Discard => Steered::Discarded,
            Steer::Purge => Steered::NotFound,
            _ => Steered::Unfit(Status::Queued),
        };
        let losers = told.iter().filter(|&&it| it != Steered::Done);
        assert!(losers.clone().all(|&it| it == expected), "{told:?}");
        for held in w.claim(9).await {
            w.succeed(&held).await;
        }
        assert_eq!(w.dead_letters().await, []);
    }
}

checks! { discard:
    a_discarded_letter_leaves_the_list_and_keeps_its_record,
    a_discarded_letter_is_discarded_once,
    a_discarded_letter_can_be_requeued_by_id,
    a_discarded_letter_goes_when_it_would_have_gone,
    a_purged_letter_leaves_nothing,
    only_dead_letters_can_be_discarded_or_purged,
    its_neighbours_stay,
    of_actions_that_race_one_wins_and_the_others_are_told,
}
