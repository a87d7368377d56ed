//! What is refused: tasks that cannot run, calls that cannot be sent, workers that cannot start.

use std::time::Duration;

use dtq::__private::{Ended, Fields, Payload, Read, Written};
use dtq::prelude::*;
use dtq::types::{ErrorKind, QueueName, Status, TaskId};
use dtq::{EnqueueError, Limits, TaskDef, Worker, WorkerConfig, WorkerError};
use dtq_tests::{World, queue, task};

use super::{Bench, failures, on_both_stores};

#[dtq::task]
async fn takes_a_number(n: u8) -> u8 {
    n
}

/// A task made by hand, of the same name as the one above.
#[derive(Debug)]
struct Twin;

impl Task for Twin {
    type Output = ();
    const DEF: TaskDef = TaskDef::new("takes_a_number").declared_at("elsewhere", "elsewhere.rs", 7);

    fn write(&self, _: &mut Fields) -> Written {
        Ok(())
    }

    fn read(_: &mut Payload<'_>) -> Read<Self> {
        Ok(Self)
    }

    async fn handler(_: Context, _: Self) -> Ended {
        Ended::Done(None)
    }
}

async fn arguments_that_do_not_decode_are_a_permanent_failure(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for (payload, words) in [
        (r#"{"n":"seven"}"#, "expected u8"),
        (r#"{"n":300}"#, "expected u8"),
        (r#"{"m":1}"#, "missing field `n`"),
        ("not json", "expected ident"),
        ("", "EOF"),
    ] {
        let handle = b.client.handle::<u8>(w.enqueue(task("takes_a_number").payload(payload)).await);
        let record = b.reaches(&handle, Status::DeadLettered).await;
        let (attempt, kind, message) = failures(&record)[0];
        assert_eq!((attempt, kind), (1, ErrorKind::Undecodable));
        assert!(
            message.contains("the stored arguments do not fit the function") && message.contains(words),
            "{message}"
        );
    }
    worker.stop().await;
}

async fn a_task_that_nobody_registered_is_a_permanent_failure(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = b.client.handle::<u8>(w.enqueue(task("of.another.program")).await);
    let record = b.reaches(&handle, Status::DeadLettered).await;
    let (attempt, kind, message) = failures(&record)[0];
    assert_eq!((attempt, kind), (1, ErrorKind::UnknownTask));
    assert!(message.contains(r#"no task named "of.another.program" is registered"#), "{message}");
    worker.stop().await;
}

async fn a_worker_does_not_start_with_missing_state_or_two_tasks_of_one_name(w: &World) {
    let b = Bench::new(w);
    let start = |app| Worker::new(b.client.clone(), app, WorkerConfig::new());
    let error = start(App::new()).unwrap_err();
    assert!(matches!(error, WorkerError::Registry(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("Probe") && text.contains("app.state(..)"), "{text}");
    let mut app = b.app();
    app.register::<Twin>();
    let text = start(app).unwrap_err().to_string();
    assert!(text.contains(r#"two tasks are named "takes_a_number""#), "{text}");
    assert!(text.contains("elsewhere.rs:7") && text.contains("refuse.rs:"), "{text}");
    let mut app = b.app();
    app.register::<takes_a_number>();
    assert!(start(app).is_ok(), "the same task twice is one");
}

async fn a_worker_does_not_start_with_settings_that_cannot_work(w: &World) {
    let b = Bench::new(w);
    let start = |config| Worker::new(b.client.clone(), b.app(), config);
    for (config, words) in [
        (WorkerConfig::new().concurrency(0), "concurrency is 0"),
        (WorkerConfig::new().lease(Duration::from_millis(99)), "between 100ms and 1day"),
        (WorkerConfig::new().weighted_queues([(queue("a"), 0)]), "weight 0"),
    ] {
        let text = start(config).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
    let worker = start(WorkerConfig::new()).unwrap();
    assert!(worker.registry().queues().contains(&queue("default")), "without queues it reads those that tasks name");
}

async fn a_call_that_breaks_a_rule_is_not_sent(w: &World) {
    let b = Bench::new(w);
    let call = || takes_a_number::enqueue(1).on(&b.client);
    let other = TaskId::generate(queue("other"));
    let refused = [
        (call().queue("a queue").await, "queue"),
        (call().queue("").await, "queue"),
        (call().priority(10).await, "priority is not usable: priorities go from 0 (last) to 9 (first)"),
        (call().max_attempts(0).await, "max_attempts is not usable: it must be at least 1"),
        (call().timeout(Duration::ZERO).await, "timeout is not usable: it must be longer than zero"),
        (call().delay(Duration::from_secs(367 * 24 * 3600)).await, "a delay of 367d is longer than the limit of 366d"),
        (call().delay(Duration::MAX).await, "longer than the limit"),
        (call().id(other).await, "does not belong to queue \"default\""),
    ];
    for (answer, words) in refused {
        let text = answer.unwrap_err().to_string();
        assert!(text.contains(words), "{text:?} should contain {words:?}");
    }
    assert_eq!(w.stats().await.unfinished(), 0);
    assert_eq!(w.store().queues().await.unwrap(), Vec::<QueueName>::new());
}

async fn a_client_may_have_limits_of_its_own(w: &World) {
    let limits = Limits { max_payload: 7, max_delay: Duration::from_secs(1), ..Limits::default() };
    let client = Client::with_limits(w.store(), limits);
    takes_a_number::enqueue(7).on(&client).await.unwrap();
    let error = takes_a_number::enqueue(77).on(&client).await.unwrap_err();
    assert!(matches!(error, EnqueueError::PayloadTooLarge { size: 8, limit: 7, .. }), "{error:?}");
    let error = takes_a_number::enqueue(7).delay(Duration::from_secs(2)).on(&client).await.unwrap_err();
    assert!(matches!(error, EnqueueError::DelayTooLong { .. }), "{error:?}");
}

async fn a_batch_with_one_bad_call_is_not_sent_at_all(w: &World) {
    let client = Client::with_limits(w.store(), Limits { max_payload: 7, ..Limits::default() });
    let error = takes_a_number::enqueue_many([1, 2, 200]).on(&client).await.unwrap_err();
    assert!(matches!(error, EnqueueError::PayloadTooLarge { .. }), "{error:?}");
    assert_eq!(w.stats().await.queued, 0);
    assert!(w.store().queues().await.unwrap().is_empty());
}

on_both_stores! {
    arguments_that_do_not_decode_are_a_permanent_failure,
    a_task_that_nobody_registered_is_a_permanent_failure,
    a_worker_does_not_start_with_missing_state_or_two_tasks_of_one_name,
    a_worker_does_not_start_with_settings_that_cannot_work,
    a_call_that_breaks_a_rule_is_not_sent,
    a_client_may_have_limits_of_its_own,
    a_batch_with_one_bad_call_is_not_sent_at_all,
}
