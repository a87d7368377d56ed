//! What failed assertions say.

use std::time::Duration;

use dtq::prelude::*;

use super::{charge, said, shout, with_rates};

#[dtq::test]
async fn a_call_that_does_not_fit_is_told_with_those_there_are(t: &TestApp) {
    charge::enqueue(18, 500).await.unwrap();
    charge::enqueue(19, 500).delay(Duration::from_secs(600)).queue("high").await.unwrap();
    shout::enqueue("a".into()).await.unwrap();
    assert_eq!(
        said(|| t.assert_enqueued::<charge>(|a| a.order == 17)),
        "no enqueued call of `testing_charge` fits the condition; enqueued: 2 calls\n  \
         - {\"order\":18,\"cents\":500}\n  \
         - {\"order\":19,\"cents\":500}, in queue \"high\", delayed by 10m\n  \
         other tasks: `testing_shout` (1)"
    );
    assert_eq!(
        said(|| t.assert_not_enqueued::<charge>(|a| a.order == 18)),
        "1 call of `testing_charge` should not have been enqueued:\n  - {\"order\":18,\"cents\":500}"
    );
}

/// Its name is one letter from another's.
#[dtq::task(name = "testing_charged")]
async fn charged() {}

#[dtq::test]
async fn a_task_of_a_similar_name_may_be_meant(t: &TestApp) {
    assert_eq!(
        said(|| t.assert_enqueued::<charge>(|_| true)),
        "no call of `testing_charge` was enqueued\n  nothing was: a call does nothing until it is awaited, and a thread \
         that the test did not start through its runtime enqueues elsewhere"
    );
    charged::enqueue_many([(), ()]).await.unwrap();
    assert_eq!(
        said(|| t.assert_enqueued::<charge>(|_| true)),
        "no call of `testing_charge` was enqueued\n  what was: `testing_charged` (2)\n  did you mean `testing_charged`?"
    );
}

#[dtq::test]
async fn what_did_not_succeed_is_told_with_its_error_and_what_comes_next(t: &TestApp) {
    with_rates(t);
    charge::enqueue(1, 13).await.unwrap();
    charge::enqueue(2, 0).await.unwrap();
    charge::enqueue(3, 1).await.unwrap();
    shout::enqueue("a".into()).ttl(Duration::from_secs(1)).delay(Duration::from_secs(9)).await.unwrap();
    let drained = t.drain().await;
    let said = said(|| drained.assert_all_succeeded().attempts().len());
    assert_eq!(
        said,
        "2 of 3 tasks did not succeed:\n  \
         - testing_charge {\"order\":1,\"cents\":13}: retrying after attempt 1 of 3: error: declined at attempt 1 (comes \
         again after t.advance(\"10s\"))\n  \
         - testing_charge {\"order\":2,\"cents\":0}: dead_lettered after attempt 1 of 3: permanent: nothing to charge\n  \
         - testing_charge {\"order\":3,\"cents\":1}: succeeded"
    );
    t.advance("10s").await;
    let text = t.drain().await.to_string();
    assert!(text.contains("testing_shout {\"text\":\"a\"}: expired: its ttl passed before it was started"), "{text}");
}

#[dtq::test]
async fn a_drain_that_runs_nothing_says_why(t: &TestApp) {
    let drained = t.drain().await;
    let empty = said(|| drained.assert_all_succeeded().attempts().len());
    assert_eq!(empty, "nothing ran: no task is in the store; was the call awaited?");
    shout::enqueue("a".into()).delay(Duration::from_secs(600)).await.unwrap();
    let drained = t.drain().await;
    assert_eq!(
        said(|| drained.assert_all_succeeded().attempts().len()),
        "nothing ran: the next task is due in 10m: call t.advance(\"10m\") before t.drain()"
    );
    assert_eq!(
        said(|| drained.assert_ran::<shout>(1).attempts().len()),
        "`testing_shout` ran 0 times, where 1 were expected:\n  nothing ran: the next task is due in 10m: call \
         t.advance(\"10m\") before t.drain()"
    );
}

#[dtq::test]
#[should_panic(
    expected = "messages.rs:92:7: task `testing_charge` takes #[state] of type testing::Rates, but the test \
                           gave none: call t.state(..) with one before"
)]
async fn state_that_is_missing_is_told_of_with_task_and_type(t: &TestApp) {
    charge::enqueue(1, 1).await.unwrap();
    t.drain().await.assert_all_succeeded();
}

#[dtq::test]
#[should_panic(expected = "\"10 parsecs\" is not a duration such as \"30s\" or \"1h30m\"")]
async fn text_that_is_no_duration_is_refused(t: &TestApp) {
    t.advance("10 parsecs").await;
}

/// Waits for what nobody does.
#[dtq::task(name = "testing_waits")]
async fn waits() {
    std::future::pending::<()>().await;
}

#[dtq::test]
#[should_panic(
    expected = "handlers still run after 50ms of real time: `testing_waits`; do they wait for what this test \
                           does not do?"
)]
async fn a_handler_that_hangs_is_named(t: &TestApp) {
    waits::enqueue().await.unwrap();
    t.drain_within(Duration::from_millis(50)).await.assert_nothing_ran();
}

/// Comes again for ever.
#[dtq::task(name = "testing_snoozes")]
async fn snoozes() -> Outcome {
    Outcome::Snooze(Duration::from_secs(1))
}

#[dtq::test]
#[should_panic(expected = "after 1000 steps of the clock tasks still come again; does one snooze for ever?")]
async fn a_task_without_an_end_is_told_of(t: &TestApp) {
    snoozes::enqueue().await.unwrap();
    t.run_to_end().await.assert_nothing_ran();
}

#[dtq::test]
async fn results_of_another_type_are_told_of(t: &TestApp) {
    shout::enqueue("a".into()).await.unwrap();
    let drained = t.drain().await;
    let said = said(|| drained.attempts()[0].result::<u64>());
    assert!(said.starts_with("the result of `testing_shout` is of another type: invalid type: string"), "{said}");
}
