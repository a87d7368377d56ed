//! Rows in queues that are purged, paused or limited.

use std::time::Duration;

use dtq::store::{CancelOutcome, Verdict};
use dtq::types::{LimitChanges, Status};
use dtq_tests::{World, task};

use super::rows::{AT, RETENTIONS, ROW, assert_run_out, ids, neighbours, records, succeed_all};

pub(crate) async fn a_purge_takes_those_that_wait(w: &World) {
    for retention in RETENTIONS {
        for stops in [false, true] {
            let row = w.enqueue_many(ROW, || task("a").retention(retention)).await;
            let held = w.claim(AT).await;
            let before = records(w, &row[..AT]).await;
            let asked = if stops { AT as u64 } else { 0 };
            assert_eq!(w.purge(|purge| (purge.stop_running, purge.dry_run) = (stops, true)).await, (1, 4, asked));
            assert_eq!(w.purge(|purge| purge.stop_running = stops).await, (1, 4, asked));
            if stops {
                for delivery in &held {
                    w.settle_to(delivery, Verdict::Release, Status::Cancelled).await;
                }
            } else {
                assert_eq!(records(w, &row[..AT]).await, before);
                succeed_all(w, &held).await;
            }
            assert_run_out(w, &[]).await;
        }
    }
}

pub(crate) async fn a_paused_queue_gives_none_of_it(w: &World) {
    let row = w.enqueue_many(ROW, || task("a")).await;
    let held = w.claim(AT).await;
    w.pause("default").await;
    assert!(w.claim(ROW).await.is_empty());
    let late = w.enqueue_many(ROW, || task("a")).await;
    succeed_all(w, &held).await;
    assert!(w.claim(ROW).await.is_empty());
    w.resume("default").await;
    assert_run_out(w, &[&row[AT..], &late].concat()).await;
}

/// Under a limit of two, each that ends lets one more start, in order; a part of the row may run before there is a limit.
async fn under_a_limit(w: &World, retention: Duration, limit: LimitChanges, before: usize) {
    let row = w.enqueue_many(ROW, || task("a").retention(retention)).await;
    let mut held = w.claim(before).await;
    w.set_limits(limit).await;
    let mut started = before;
    loop {
        let more = w.claim(ROW).await;
        assert_eq!(ids(&more), row[started..started + more.len()]);
        started += more.len();
        held.extend(more);
        assert!(held.len() <= before.max(2));
        if held.is_empty() {
            break;
        }
        let verdicts = [Verdict::Succeeded { result: None }, Verdict::Cancelled { reason: "moot".into() }];
        let verdict = verdicts[started % 2].clone();
        let status = verdict.target(true);
        w.settle_to(&held.remove(0), verdict, status).await;
    }
    assert_eq!((started, w.stats().await.unfinished()), (ROW, 0));
}

pub(crate) async fn a_limit_of_their_kind_holds_some_back(w: &World) {
    for retention in RETENTIONS {
        for before in [0, 1, 5] {
            under_a_limit(w, retention, LimitChanges::new().task("a", 2), before).await;
            w.set_limits(LimitChanges::new().no_task("a")).await;
        }
    }
}

pub(crate) async fn a_limit_of_the_queue_holds_some_back(w: &World) {
    for retention in RETENTIONS {
        for before in [0, 1, 5] {
            under_a_limit(w, retention, LimitChanges::new().concurrency(2), before).await;
            w.set_limits(LimitChanges::new().no_concurrency()).await;
        }
    }
}

pub(crate) async fn those_that_were_held_back_start_when_the_limit_goes(w: &World) {
    let row = w.enqueue_many(ROW, || task("a")).await;
    w.set_limits(LimitChanges::new().task("a", 1)).await;
    let held = w.claim(ROW).await;
    assert_eq!(held.len(), 1);
    assert_eq!(w.cancel(&row[AT]).await, CancelOutcome::Cancelled);
    w.set_limits(LimitChanges::new().no_task("a")).await;
    succeed_all(w, &held).await;
    assert_run_out(w, &neighbours(&row)[1..]).await;
}

checks! {
    rows_held_back:
    a_purge_takes_those_that_wait,
    a_paused_queue_gives_none_of_it,
    a_limit_of_their_kind_holds_some_back,
    a_limit_of_the_queue_holds_some_back,
    those_that_were_held_back_start_when_the_limit_goes,
}
