//! Rows that are sent again, in part, or mixed with other tasks: each task is made once, and none is lost.

use std::time::Duration;

use dtq::store::{BATCH, Claim, Refusal};
use dtq::types::{Deferral, LimitChanges, NewTask, Priority, QueueName, TaskId};
use dtq_tests::{World, in_rows, queue, task, want};

use super::rows::{RETENTIONS, assert_run_out, ids, records, succeed_all};

const MINUTE: Duration = Duration::from_secs(60);
/// Tasks of a row, and how many of them are sent first.
const WHOLE: usize = 12;
const FIRST: usize = 9;

fn row(retention: Duration) -> Vec<NewTask> {
    in_rows((0..WHOLE).map(|n| task("a").payload(n.to_string()).retention(retention).build()).collect())
}

fn ids_of(tasks: &[NewTask]) -> Vec<TaskId> {
    tasks.iter().map(|task| task.id.clone()).collect()
}

async fn created(w: &World, tasks: &[NewTask]) -> Vec<bool> {
    let answers = w.enqueue_all(tasks.to_vec()).await;
    assert_eq!(answers.iter().map(|answer| answer.id.clone()).collect::<Vec<_>>(), ids_of(tasks));
    answers.into_iter().map(|answer| answer.created).collect()
}

/// Sends parts of a row again after the first nine of it were brought somewhere.
async fn sent_again(w: &World, bring: impl AsyncFn(&World, &[TaskId])) {
    for retention in RETENTIONS {
        for part in [0..FIRST, 2..5, 6..WHOLE, 0..WHOLE, FIRST..WHOLE] {
            let row = row(retention);
            let all = ids_of(&row);
            assert_eq!(created(w, &row[..FIRST]).await, [true; FIRST]);
            bring(w, &all[..FIRST]).await;
            let before = records(w, &all).await;
            // Twice: what is made by the first copy is known to the second.
            let made: Vec<_> = before[part.clone()].iter().map(Option::is_none).collect();
            assert_eq!(created(w, &row[part.clone()]).await, made, "{part:?}");
            assert_eq!(created(w, &row[part.clone()]).await, vec![false; part.len()], "{part:?}");
            let after = records(w, &all).await;
            for (n, (before, after)) in before.iter().zip(&after).enumerate() {
                assert!(before.is_none() || before == after, "{n}: {after:?}");
                assert_eq!(after.is_some(), before.is_some() || part.contains(&n), "{n}");
            }
            all_run(w, &all).await;
        }
    }
}

/// Lets all that is left to do of a row succeed; each is handed out once, however it was left.
async fn all_run(w: &World, all: &[TaskId]) {
    let unfinished = |record: &Option<dtq::types::Record>| record.as_ref().is_some_and(|it| !it.status.is_terminal());
    let records = records(w, all).await;
    let mut expected: Vec<_> =
        all.iter().zip(&records).filter(|(_, it)| unfinished(it)).map(|(id, _)| id.clone()).collect();
    assert_eq!(w.stats().await.unfinished(), expected.len() as u64);
    w.advance(dtq_tests::LEASE * 2);
    let held = w.drain(Claim { sweep: true, ..want(BATCH) }).await;
    let mut handed_out = ids(&held);
    handed_out.sort();
    expected.sort();
    assert_eq!(handed_out, expected);
    for delivery in &held {
        let number = delivery.lease.task.uuid().as_bytes()[15];
        assert_eq!(delivery.payload.as_ref(), number.to_string().as_bytes());
    }
    succeed_all(w, &held).await;
    assert_eq!(w.stats().await.unfinished(), 0);
}

pub(crate) async fn while_all_are_queued(w: &World) {
    sent_again(w, async |_, _| {}).await;
}

pub(crate) async fn while_all_run(w: &World) {
    sent_again(w, async |w, all| assert_eq!(ids(&w.claim(FIRST).await), all)).await;
}

pub(crate) async fn after_some_ended(w: &World) {
    sent_again(w, async |w, _| {
        let held = w.claim(FIRST).await;
        succeed_all(w, &[0, 3, 4, 8].map(|n| held[n].clone())).await;
    })
    .await;
}

pub(crate) async fn after_all_ended(w: &World) {
    sent_again(w, async |w, _| succeed_all(w, &w.claim(FIRST).await).await).await;
}

pub(crate) async fn after_some_went_ways_of_their_own(w: &World) {
    sent_again(w, async |w, all| {
        let held = w.claim(5).await;
        w.retry(&held[0], MINUTE).await;
        w.snooze(&held[1], MINUTE).await;
        w.release(&held[2]).await;
        w.renew(&[&held[3].lease]).await;
        w.cancel(&all[7]).await;
    })
    .await;
}

pub(crate) async fn after_one_came_alone(w: &World) {
    let alone: [fn(&mut NewTask); 3] =
        [|_| {}, |it| it.deferral = Deferral::After(MINUTE), |it| it.idempotency = Some(it.id.to_string().into())];
    for change in alone {
        let row = row(Duration::ZERO);
        let mut one = row[4].clone();
        change(&mut one);
        assert_eq!(created(w, &[one]).await, [true]);
        assert_eq!(created(w, &row).await, (0..WHOLE).map(|n| n != 4).collect::<Vec<_>>());
        all_run(w, &ids_of(&row)).await;
    }
}

/// The last letters of a uuid end with `ff`: what comes behind begins another row.
pub(crate) async fn a_row_goes_as_far_as_its_letters(w: &World) {
    let first = row(Duration::ZERO)[0].id.uuid().as_u128() & !0xffff;
    let like = |n: u128| task("a").uuid(uuid::Uuid::from_u128(first + 0xb0fa + n)).retention(Duration::ZERO);
    let row: Vec<_> = (0..10).map(|n| like(n).build()).collect();
    assert_eq!(created(w, &row).await, [true; 10]);
    let held = w.claim(4).await;
    w.cancel(&row[5].id).await;
    assert_eq!(created(w, &row).await, (0..10).map(|n| n == 5).collect::<Vec<_>>());
    succeed_all(w, &held).await;
    let rest = [&row[4..5], &row[6..], &row[5..6]].concat();
    assert_run_out(w, &ids_of(&rest)).await;
}

pub(crate) async fn a_full_queue_takes_as_far_as_there_is_room(w: &World) {
    for retention in RETENTIONS {
        let row = row(retention);
        w.set_limits(LimitChanges::new().depth(5)).await;
        for known in [0, 5, 10] {
            let taken = known..(known + 5).min(WHOLE);
            for (n, answer) in w.enqueue_all(row.clone()).await.into_iter().enumerate() {
                assert_eq!(answer.created, taken.contains(&n), "{n} of {taken:?}");
                let refused = matches!(answer.refused, Some(Refusal::Full(full)) if full.limit == 5);
                assert_eq!(refused, n >= taken.end, "{n} of {taken:?}");
            }
            // What runs takes no room.
            assert_eq!(ids(&w.claim(WHOLE).await), ids_of(&row[taken]));
        }
        w.set_limits(LimitChanges::new().no_depth()).await;
        all_run(w, &ids_of(&row)).await;
    }
}

/// Tasks of a row that change half way are what they were submitted as.
pub(crate) async fn halfway_everything_changes(w: &World) {
    let changes: [fn(&mut NewTask); 6] = [
        |it| it.priority = Priority::new(9).unwrap(),
        |it| it.task = "b".into(),
        |it| it.deferral = Deferral::After(MINUTE),
        |it| it.policy.max_attempts = 2,
        |it| it.policy.retention = Duration::ZERO,
        |it| it.idempotency = Some(it.id.to_string().into()),
    ];
    for change in changes {
        for changed in [6..WHOLE, 0..6, 4..8, 5..6] {
            let mut row = row(MINUTE * 60);
            row[changed.clone()].iter_mut().for_each(change);
            assert_eq!(created(w, &row).await, [true; WHOLE]);
            for (new, record) in row.iter().zip(records(w, &ids_of(&row)).await) {
                let record = record.expect("a record");
                assert_eq!((&record.task, &record.policy), (&new.task, &new.policy));
                assert_eq!((record.priority, &record.payload), (new.priority, &new.payload));
                assert_eq!(record.due_at.is_some(), new.deferral != Deferral::None);
                assert_eq!(record.idempotency_key.is_some(), new.idempotency.is_some());
            }
            assert_eq!(created(w, &row).await, [false; WHOLE]);
            let mut expected: Vec<_> = row.iter().filter(|new| new.deferral == Deferral::None).collect();
            expected.sort_by_key(|new| 9 - new.priority.level());
            let expected: Vec<_> = expected.into_iter().map(|new| new.id.clone()).collect();
            let held = w.drain(want(5)).await;
            assert_eq!(ids(&held), expected, "{changed:?}");
            succeed_all(w, &held).await;
            w.advance(MINUTE);
            let late: Vec<_> =
                row.iter().filter(|new| new.deferral != Deferral::None).map(|new| new.id.clone()).collect();
            assert_eq!(w.stats().await.unfinished(), late.len() as u64);
            let held = w.drain(want(BATCH)).await;
            assert_eq!(held.len(), late.len());
            succeed_all(w, &held).await;
            assert_eq!(w.stats().await.unfinished(), 0);
        }
    }
}

pub(crate) async fn rows_with_gaps_backwards_and_with_twins(w: &World) {
    let orders: [fn(&mut Vec<NewTask>); 5] = [
        |row| row.reverse(),
        |row| row.retain(|it| it.id.uuid().as_bytes()[15] % 2 == 0),
        |row| row.retain(|it| it.id.uuid().as_bytes()[15] % 5 != 4),
        |row| row.rotate_left(5),
        |row| row.drain(..3).for_each(drop),
    ];
    for order in orders {
        let mut row = row(Duration::ZERO);
        order(&mut row);
        let sent = ids_of(&row);
        let twice = [&row[..], &row[2..6]].concat();
        let expected = [vec![true; row.len()], vec![false; 4]].concat();
        assert_eq!(created(w, &twice).await, expected);
        assert_run_out(w, &sent).await;
    }
}

pub(crate) async fn two_queues_have_rows_of_the_same_uuids(w: &World) {
    let rows = ["default", "other"].map(|name| {
        let to = |it: NewTask| NewTask { id: TaskId::new(queue(name), it.id.uuid()), ..it };
        move |row: &[NewTask]| row.iter().cloned().map(to).collect::<Vec<_>>()
    });
    let row = row(Duration::ZERO);
    let (ours, theirs) = (rows[0](&row), rows[1](&row));
    let mixed: Vec<_> = ours.iter().zip(&theirs).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    assert_eq!(created(w, &mixed).await, vec![true; 2 * WHOLE]);
    let held = w.claim_with(Claim { queue: QueueName::new("other").unwrap(), ..want(5) }).await.deliveries;
    assert_eq!(ids(&held), ids_of(&theirs[..5]));
    w.cancel(&theirs[7].id).await;
    succeed_all(w, &held).await;
    assert_run_out(w, &ids_of(&ours)).await;
    assert_eq!(created(w, &ours).await, [true; WHOLE], "nothing is remembered of them");
    assert_eq!(w.stats_of("other").await.queued, 6);
    let held = w.claim_with(Claim { queue: QueueName::new("other").unwrap(), ..want(BATCH) }).await.deliveries;
    assert_eq!(ids(&held), ids_of(&[&theirs[5..7], &theirs[8..]].concat()));
}

checks! {
    rows_again:
    while_all_are_queued,
    while_all_run,
    after_some_ended,
    after_all_ended,
    after_some_went_ways_of_their_own,
    after_one_came_alone,
    a_row_goes_as_far_as_its_letters,
    a_full_queue_takes_as_far_as_there_is_room,
    halfway_everything_changes,
    rows_with_gaps_backwards_and_with_twins,
    two_queues_have_rows_of_the_same_uuids,
}
