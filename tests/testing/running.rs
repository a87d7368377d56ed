//! What a drain runs, and what it reports.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{ErrorKind, NewTask, Status};

use super::{charge, order, shout, with_rates};

#[dtq::test]
async fn a_drain_runs_what_is_ready_and_what_that_enqueues(t: &TestApp) {
    with_rates(t);
    // Its handler waits for the task that it enqueues.
    order::enqueue(17).await.unwrap();
    shout::enqueue("a".into()).await.unwrap();
    let drained = t.drain().await;
    drained.assert_all_succeeded().assert_ran::<order>(1).assert_ran::<charge>(1);
    assert_eq!(drained.results::<order>(), [19]);
    assert_eq!(drained.results::<shout>(), ["A"]);
    let call = t.assert_enqueued::<charge>(|a| a.order == 17);
    assert_eq!((call.cents, call.id.queue().as_str()), (1, "testing"));
    t.drain().await.assert_nothing_ran();
}

#[dtq::test]
async fn a_report_holds_every_attempt(t: &TestApp) {
    with_rates(t);
    let handle = charge::enqueue(1, 13).await.unwrap();
    let drained = t.run_to_end().await;
    let attempts: Vec<_> = drained.of::<charge>().iter().map(|ran| (ran.attempt, ran.status)).collect();
    assert_eq!(attempts, [(1, Status::Retrying), (2, Status::Retrying), (3, Status::DeadLettered)]);
    let last = &drained.attempts()[2];
    assert_eq!((&last.id, last.max_attempts), (handle.id(), 3));
    let failure = last.failure.clone().unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Error, "declined at attempt 3"));
    assert_eq!(drained.attempts()[0].due_in, Some(Duration::from_secs(10)));
    assert_eq!(handle.status().await.unwrap(), Some(Status::DeadLettered));
    assert_eq!(drained.next_due(), None);
}

/// Stays until it is called off.
#[dtq::task(name = "testing_stays")]
async fn stays(ctx: &Context) {
    ctx.cancellation().cancelled().await;
}

#[dtq::test]
async fn a_task_can_be_called_off_while_it_runs(t: &TestApp) {
    let handle = stays::enqueue().await.unwrap();
    let cancel = async {
        while handle.status().await.unwrap() != Some(Status::Running) {
            tokio::task::yield_now().await;
        }
        handle.cancel("enough").await.unwrap();
    };
    let (drained, ()) = tokio::join!(t.drain(), cancel);
    assert_eq!(drained.attempts()[0].status, Status::Succeeded, "a finish wins over a cancellation");
}

#[dtq::test]
async fn names_that_no_task_has_end_as_in_a_worker(t: &TestApp) {
    let id = TaskId::generate(QueueName::default());
    let task = NewTask::new(id.clone(), "testing_nobody", "{}");
    t.client().enqueue_raw(vec![task]).await.unwrap();
    let drained = t.drain().await;
    let ran = &drained.attempts()[0];
    assert_eq!((ran.status, ran.failure.as_ref().unwrap().kind), (Status::DeadLettered, ErrorKind::UnknownTask));
    assert!(ran.to_string().contains("no task named \"testing_nobody\""), "{ran}");
}

#[dtq::task(name = "testing_echo")]
async fn echo(text: String) -> String {
    text
}

#[dtq::test]
async fn priority_comes_first(t: &TestApp) {
    for (text, priority) in [("low", 1), ("high", 9), ("normal", 5)] {
        echo::enqueue(text.into()).priority(priority).await.unwrap();
    }
    let texts: Vec<String> = t.enqueued::<echo>().into_iter().map(|call| call.args.text).collect();
    assert_eq!(texts, ["low", "high", "normal"], "what was enqueued is told in that order");
    assert_eq!(t.drain().await.results::<echo>(), ["high", "normal", "low"]);
}

#[dtq::test]
async fn more_than_a_worker_runs_at_once_runs_all_the_same(t: &TestApp) {
    echo::enqueue_many((0..1_000).map(|n| n.to_string())).await.unwrap();
    t.drain().await.assert_all_succeeded().assert_ran::<echo>(1_000);
}

#[dtq::test]
async fn the_same_id_twice_is_one_call(t: &TestApp) {
    let id = TaskId::generate(QueueName::default());
    for _ in 0..2 {
        shout::enqueue("a".into()).id(id.clone()).await.unwrap();
    }
    assert_eq!(t.enqueued::<shout>().len(), 1);
    t.drain().await.assert_ran::<shout>(1);
}

#[dtq::test]
async fn once_holds_from_attempt_to_attempt(t: &TestApp) {
    pays::enqueue().await.unwrap();
    let drained = t.run_to_end().await;
    assert_eq!(drained.assert_all_succeeded().results::<pays>(), [1], "the receipt of the first attempt");
}

#[dtq::task(name = "testing_pays")]
async fn pays(ctx: &Context) -> Result<u32, TaskError> {
    let work = || async { Ok::<_, TaskError>(ctx.attempt()) };
    let receipt = ctx.once("pay", Duration::from_secs(60), work).await?;
    if ctx.attempt() < 2 { Err(TaskError::new("later")) } else { Ok(receipt) }
}
