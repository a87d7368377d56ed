//! Servers that lose things, refuse, or fall silent.

use std::time::Duration;

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::store::{
    CancelOutcome, Claim, Fired, Heartbeat, OnceEnd, OnceRequest, OnceState, Settled, Settlement, Store, StoreError,
    TICK_HELD, Verdict,
};
use dtq::types::{Status, WorkerInfo};
use dtq_tests::{
    LEASE, NIGHTLY, RedisServer, World, eventually, every, failure, firing, info, promptly, queue, task, want, worker,
};

const MINUTE: Duration = Duration::from_secs(60);

/// Everything a user does must work again.
async fn assert_works(w: &World) {
    let id = w.enqueue(task("afterwards")).await;
    let delivery = w.claim_one().await;
    assert_eq!(delivery.lease.task, id);
    w.succeed(&delivery).await;
    assert_eq!(w.status(&id).await, Status::Succeeded);
}

async fn world_with_work() -> World {
    let w = World::redis().await;
    let done = w.running(task("before")).await;
    w.succeed(&done).await;
    w
}

#[tokio::test]
async fn raw_keys_work_goes_on_after_flushall() {
    let w = world_with_work().await;
    let held = w.running(task("held")).await;
    let _: () = w.server().command(&["FLUSHALL"]);
    assert_works(&w).await;
    assert_eq!(w.settle(&held, Verdict::Succeeded { result: None }).await, Settled::Stale);
    assert_eq!(w.store().queues().await.unwrap(), [queue("default")], "the queue is listed again");
    assert_eq!(w.stats().await.unfinished(), 0);
}

#[tokio::test]
async fn raw_keys_tasks_enqueued_after_flushall_and_before_any_claim_are_not_skipped() {
    let w = world_with_work().await;
    let _: () = w.server().command(&["FLUSHALL"]);
    w.enqueue_many(5, || task("a")).await;
    assert_eq!(w.claim(10).await.len(), 5);
}

#[tokio::test]
async fn raw_keys_work_goes_on_after_script_flush() {
    let w = world_with_work().await;
    for _ in 0..5 {
        let _: () = w.server().command(&["SCRIPT", "FLUSH"]);
        assert_works(&w).await;
    }
}

#[tokio::test]
async fn raw_keys_work_goes_on_when_a_stream_was_deleted() {
    let w = world_with_work().await;
    w.enqueue(task("lost by the operator")).await;
    let _: i64 = w.server().command(&["DEL", "dtq:{default}:stream:p5"]);
    assert_works(&w).await;
}

#[tokio::test]
async fn raw_keys_queued_tasks_are_handed_out_when_the_group_was_destroyed() {
    let w = world_with_work().await;
    let ids = w.enqueue_many(5, || task("a")).await;
    let _: i64 = w.server().command(&["XGROUP", "DESTROY", "dtq:{default}:stream:p5", "dtq"]);
    let got: Vec<_> = w.claim(10).await.into_iter().map(|delivery| delivery.lease.task).collect();
    assert_eq!(got, ids);
}

#[tokio::test]
async fn raw_keys_a_running_task_is_not_lost_when_the_group_was_destroyed() {
    let w = world_with_work().await;
    let held = w.running(task("a")).await;
    let _: i64 = w.server().command(&["XGROUP", "DESTROY", "dtq:{default}:stream:p5", "dtq"]);
    let mut again = w.claim(10).await;
    w.advance(LEASE * 2);
    again.extend(w.sweep(10).await);
    assert!(!again.is_empty(), "nobody runs {} any more", held.lease.task);
}

#[tokio::test]
async fn raw_keys_a_waiter_outlives_flushall() {
    let w = world_with_work().await;
    let store = w.store();
    let waiter = tokio::spawn(async move {
        eventually("a task arrives", || async {
            let wait = dtq::store::Wait { queues: vec![queue("default")], timeout: Duration::from_secs(60) };
            // It may be told of the loss, once.
            let _ = store.wait(wait).await;
            store.claim(want(1)).await.unwrap().deliveries.pop()
        })
        .await
    });
    let _: () = w.server().command(&["FLUSHALL"]);
    w.enqueue(task("a")).await;
    promptly("the waiter wakes", waiter).await.unwrap();
}

#[tokio::test]
async fn raw_keys_work_goes_on_after_connections_were_killed() {
    let w = world_with_work().await;
    for _ in 0..5 {
        let _: i64 = w.server().command(&["CLIENT", "KILL", "TYPE", "normal"]);
        eventually("the store is reachable again", || async { w.store().probe().await.ok() }).await;
        assert_works(&w).await;
    }
}

/// Asserts a refusal that may pass, and that names the operation.
fn assert_refused(error: &StoreError, operation: &str, code: &str) {
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    assert!(error.is_transient());
    let text = error.to_string();
    assert!(text.starts_with(operation) && text.to_uppercase().contains(code), "{text}");
}

#[tokio::test]
async fn raw_keys_out_of_memory_is_a_transient_refusal() {
    let w = world_with_work().await;
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "1"]);
    let error = w.store().enqueue(vec![task("a").build()]).await.unwrap_err();
    assert_refused(&error, "enqueue", "OOM");
    assert_eq!(w.stats().await.queued, 0);
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_works(&w).await;
}

#[tokio::test]
async fn raw_keys_a_tick_that_a_full_server_refused_fires_later_and_once() {
    let w = World::redis().await;
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "1"]);
    let error = w.store().fire(firing(&w.tick().await, 1, MINUTE)).await.unwrap_err();
    assert_refused(&error, "fire", "OOM");
    assert_eq!(w.stats().await.queued, 0);
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "0"]);
    w.advance(TICK_HELD);
    assert_eq!(w.fire(firing(&w.tick().await, 1, MINUTE)).await, Fired::Applied);
    assert_eq!(w.ready().await.len(), 1);
    assert!(w.is_silent().await);
}

#[tokio::test]
async fn raw_keys_a_retry_is_not_lost_when_memory_runs_out() {
    let w = world_with_work().await;
    let held = w.running(task("a")).await;
    let verdict = Verdict::Retry { delay: Duration::ZERO, failure: failure("x") };
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "1"]);
    let settlement = Settlement { delivery: held.clone(), verdict: verdict.clone() };
    let first = w.store().settle(vec![settlement]).await;
    let status = w.status(&held.lease.task).await;
    match first {
        Ok(answers) => assert_eq!((answers[0], status), (Settled::Applied(Status::Retrying), Status::Retrying)),
        Err(error) => {
            assert_refused(&error, "settle", "OOM");
            assert_eq!(status, Status::Running, "a refused call changes nothing");
        }
    }
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(w.settle(&held, verdict).await, Settled::Applied(Status::Retrying));
    assert_eq!(w.claim_one().await.lease.attempt, 2);
}

#[tokio::test]
async fn raw_keys_a_success_is_not_half_written_when_memory_runs_out() {
    let w = world_with_work().await;
    let held = w.running(task("a")).await;
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "1"]);
    let verdict = Verdict::Succeeded { result: Some("1".into()) };
    let settlement = Settlement { delivery: held.clone(), verdict: verdict.clone() };
    if w.store().settle(vec![settlement]).await.is_err() {
        assert_eq!(w.status(&held.lease.task).await, Status::Running);
    }
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(w.settle(&held, verdict).await, Settled::Applied(Status::Succeeded));
    assert_eq!(w.stats().await.succeeded, 2);
}

#[tokio::test]
async fn raw_keys_tasks_are_called_off_and_tell_of_themselves_when_memory_runs_out() {
    let w = world_with_work().await;
    let (held, waits) = (w.running(task("a")).await, w.enqueue(task("b")).await);
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "1"]);
    w.tell_all(&held).await;
    assert_eq!(w.cancel(&waits).await, CancelOutcome::Cancelled, "whoever wants memory back may call tasks off");
    assert_eq!(w.cancel(&held.lease.task).await, CancelOutcome::Requested);
    w.settle_to(&held, Verdict::Release, Status::Cancelled).await;
}

#[tokio::test]
async fn raw_keys_work_that_is_done_once_goes_on_when_memory_runs_out() {
    let w = world_with_work().await;
    let held = w.running(task("a")).await;
    let _: () = w.server().command(&["CONFIG", "SET", "maxmemory", "1"]);
    let (lease, key) = (held.lease.clone(), "k".to_owned());
    let state = w.store().begin_once(OnceRequest { lease: lease.clone(), key: key.clone(), run: 1 }).await;
    assert_eq!(state.unwrap(), OnceState::Begun, "a task that cannot go on never frees its memory");
    let done = Some(("1".into(), Duration::from_secs(60)));
    assert!(w.store().end_once(OnceEnd { lease, key, run: 1, done }).await.unwrap());
    w.succeed(&held).await;
}

#[tokio::test]
async fn raw_keys_a_queue_that_takes_no_sign_of_life_does_not_silence_a_worker_in_others() {
    let w = World::redis().await;
    let silence = Duration::from_secs(60);
    let wish = |name: &str| Claim { worker: worker(name), silence, sweep: true, ..want(1) };
    w.enqueue(task("a")).await;
    let held = w.claim_with(wish("w1")).await.deliveries.remove(0);
    let _: () = w.server().command(&["SET", "dtq:{another}:beats", "of another program"]);
    for _ in 0..8 {
        w.advance(silence / 5);
        let reader = WorkerInfo { queues: vec![queue("another"), queue("default")], ..info("w1") };
        let holding = reader.queues.clone();
        w.store().heartbeat(Heartbeat { worker: reader, ttl: silence, holding }).await.unwrap_err();
        w.beat(info("w2"), silence).await;
    }
    assert!(w.claim_with(wish("w2")).await.deliveries.is_empty());
    assert_eq!(w.store().workers().await.unwrap().len(), 2);
    w.succeed(&held).await;
}

#[tokio::test]
async fn raw_keys_a_read_only_server_is_a_transient_refusal() {
    let w = world_with_work().await;
    let held = w.running(task("a")).await;
    let _: () = w.server().command(&["REPLICAOF", "127.0.0.1", "1"]);
    assert_refused(&w.store().enqueue(vec![task("a").build()]).await.unwrap_err(), "enqueue", "READONLY");
    assert_refused(&w.store().claim(want(1)).await.unwrap_err(), "claim", "READONLY");
    let settlement = Settlement { delivery: held.clone(), verdict: Verdict::Release };
    assert_refused(&w.store().settle(vec![settlement]).await.unwrap_err(), "settle", "READONLY");
    let _: () = w.server().command(&["REPLICAOF", "NO", "ONE"]);
    w.succeed(&held).await;
    assert_works(&w).await;
}

#[tokio::test]
async fn raw_keys_too_few_replicas_are_a_transient_refusal() {
    let w = world_with_work().await;
    let _: () = w.server().command(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    assert_refused(&w.store().enqueue(vec![task("a").build()]).await.unwrap_err(), "enqueue", "NOREPLICAS");
    let _: () = w.server().command(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    assert_works(&w).await;
}

#[tokio::test]
async fn raw_keys_a_silent_server_is_a_timeout_and_its_late_answers_confuse_nobody() {
    let server = RedisServer::start().await;
    let options = RedisOptions { response_timeout: Duration::from_millis(300), ..RedisOptions::default() };
    let store = RedisStore::connect(&server.url(), options).unwrap();
    store.enqueue(vec![task("a").build()]).await.unwrap();
    server.pause();
    let error = promptly("the call gives up", store.stats(&queue("default"))).await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    assert!(matches!(error, StoreError::Timeout { .. } | StoreError::Unreachable { .. }), "{error:?}");
    let new = task("b").build();
    assert!(promptly("the call gives up", store.enqueue(vec![new.clone()])).await.unwrap_err().is_transient());
    server.resume();
    let again = eventually("it answers", || async { store.enqueue(vec![new.clone()]).await.ok() }).await;
    assert_eq!(again[0].id, new.id);
    assert_eq!(store.stats(&queue("default")).await.unwrap().queued, 2);
}

#[tokio::test]
async fn raw_keys_a_server_that_is_gone_is_unreachable_for_now() {
    let server = RedisServer::start().await;
    let store = RedisStore::connect(&server.url(), RedisOptions::default()).unwrap();
    store.probe().await.unwrap();
    let port = server.port();
    drop(server);
    let error = promptly("the call gives up", store.enqueue(vec![task("a").build()])).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }) && error.is_transient(), "{error:?}");
    assert!(error.to_string().contains(&port.to_string()), "it names the address: {error}");
}
