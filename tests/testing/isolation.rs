//! Tests that run side by side see nothing of each other, nor of a real store.

use dtq::prelude::*;
use tokio::task::{spawn, spawn_blocking};

use super::shout;

async fn enqueue_everywhere(t: &TestApp) {
    shout::enqueue("in the test".into()).await.unwrap();
    spawn(async { shout::enqueue("in a spawned task".into()).await.map(drop) }).await.unwrap().unwrap();
    let handle = tokio::runtime::Handle::current();
    let blocking = move || handle.block_on(async { shout::enqueue("on a blocking thread".into()).await.map(drop) });
    spawn_blocking(blocking).await.unwrap().unwrap();
    spawner::enqueue().await.unwrap();
    t.drain().await.assert_all_succeeded();
    let texts: Vec<_> = t.enqueued::<shout>().into_iter().map(|call| call.args.text).collect();
    assert_eq!(texts, ["in the test", "in a spawned task", "on a blocking thread", "by what a handler spawned"]);
    assert!(!std::path::Path::new("dtq.db").exists(), "a real store was opened");
}

/// What a handler spawns is outside of its scope.
#[dtq::task(name = "testing_spawner")]
async fn spawner() -> Result<(), TaskError> {
    spawn(async { shout::enqueue("by what a handler spawned".into()).await.map(drop) }).await??;
    Ok(())
}

#[dtq::test]
async fn what_a_test_spawns_is_the_test_s_own(t: &TestApp) {
    enqueue_everywhere(t).await;
}

#[dtq::test(flavor = "multi_thread")]
async fn also_on_several_threads(t: &TestApp) {
    enqueue_everywhere(t).await;
}

/// Blocks its thread, which one that runs everything cannot spare.
#[dtq::task(name = "testing_in_place")]
async fn in_place() -> u8 {
    tokio::task::block_in_place(|| 7)
}

#[dtq::test(flavor = "multi_thread")]
async fn a_handler_may_block_in_place_on_several_threads(t: &TestApp) {
    in_place::enqueue().await.unwrap();
    assert_eq!(t.drain().await.assert_all_succeeded().results::<in_place>(), [7]);
}

#[tokio::test]
async fn two_apps_share_nothing() {
    let (a, b) = (TestApp::new(), TestApp::new());
    a.scope(async { shout::enqueue("a".into()).await.unwrap() }).await;
    b.assert_not_enqueued::<shout>(|_| true);
    b.advance("10m").await;
    b.drain().await.assert_nothing_ran();
    a.drain().await.assert_all_succeeded();
}

#[dtq::test]
async fn the_thread_is_free_again_after_a_test(t: &TestApp) {
    // A test within a test, as when one thread runs them one after the other.
    let inner = std::thread::spawn(|| {
        for _ in 0..2 {
            let failed = std::panic::catch_unwind(|| {
                dtq::__private::test(false, |t| {
                    Box::pin(async move {
                        shout::enqueue("inner".into()).await.unwrap();
                        assert_eq!(t.enqueued::<shout>().len(), 1);
                        panic!("as tests do");
                    })
                });
            });
            assert!(failed.is_err());
        }
    });
    inner.join().unwrap();
    t.assert_not_enqueued::<shout>(|_| true);
}

#[dtq::test]
#[should_panic(expected = "the test returned an error: Missing(\"a row\")")]
async fn an_error_fails_the_test(_: &TestApp) -> Result<(), Missing> {
    Err(Missing("a row"))
}

/// Not an error by any trait but `Debug`.
#[derive(Debug)]
struct Missing(#[allow(dead_code, reason = "shown")] &'static str);
