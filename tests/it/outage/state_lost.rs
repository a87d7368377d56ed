//! A server that forgets while workers wait for its work: scripts, streams, groups, everything. These name raw keys.

use std::time::{Duration, Instant};

use dtq::ResultError;
use dtq::types::QueueStats;
use dtq_tests::{eventually, lasting, queue};

use super::{RETURN, Site, Use, assert_works, troubles};
use crate::program::PATIENCE;

const STREAM: &str = "dtq:{default}:stream:p5";

/// Has the server forget something under two workers that wait, then enqueues five tasks at once, as no worker has looked yet.
async fn forget(command: &[&str], most_lines: usize) -> Site {
    let site = Site::new().await;
    let workers = [site.worker(&[]).await, site.worker(&[]).await];
    let uses = workers.each_ref().map(Use::of);
    let _: redis::Value = site.server.command(command);
    let began = Instant::now();
    for (n, handle) in (0..).zip(site.desk.naps(0, 5, 1).await) {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), n);
        assert_eq!(site.desk.count(&format!("ran {n}")), 1);
    }
    assert!(began.elapsed() < RETURN, "{:?}", began.elapsed());
    assert_works(&site.desk, &workers[0]).await;
    // Their heartbeats find out, too.
    let listed = || async { (site.desk.client.workers().await.unwrap().len() == 2).then_some(()) };
    eventually("both workers are listed", listed).await;
    uses.iter().for_each(|watch| watch.assert_calm(most_lines));
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_forgotten_scripts_are_sent_again() {
    forget(&["SCRIPT", "FLUSH"], 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_a_deleted_stream_is_made_again() {
    forget(&["DEL", STREAM], 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_a_destroyed_group_is_made_again() {
    forget(&["XGROUP", "DESTROY", STREAM, "dtq"], 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_everything_may_be_flushed() {
    let site = forget(&["FLUSHALL"], 0).await;
    let _: () = site.server.command(&["FLUSHALL"]);
    assert_eq!(site.desk.client.stats(&queue("default")).await.unwrap(), QueueStats::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_the_end_of_a_task_that_was_flushed_is_told_and_does_no_harm() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let _: () = site.server.command(&["FLUSHALL"]);
    site.desk.release();
    program.logs("lease lost", 1).await;
    let error = slow.result(PATIENCE).await.unwrap_err();
    assert!(matches!(error, ResultError::NotKept { .. }), "{error}");
    assert_works(&site.desk, &program).await;
}

/// Nobody can tell any more who held it: it is handed out once more, and ends.
#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_a_task_that_runs_while_its_group_is_destroyed_ends() {
    let site = Site::new().await;
    let program = site.worker(&["--lease", "1s"]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let _: i64 = site.server.command(&["XGROUP", "DESTROY", STREAM, "dtq"]);
    site.desk.release();
    slow.result(PATIENCE).await.unwrap();
    assert!(site.desk.told().len() <= 2, "{:?}", site.desk.told());
    assert!(program.lines("could not be settled").is_empty(), "{}", program.log());
    assert_works(&site.desk, &program).await;
}

/// A task that runs while its server forgets its scripts at every moment is settled once, and so is every other.
#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_scripts_that_are_forgotten_again_and_again_are_no_trouble() {
    let site = Site::new().await;
    let workers = [site.worker(&[]).await, site.worker(&[]).await];
    let flushes = async {
        for _ in 0..40 {
            let _: () = site.server.command(&["SCRIPT", "FLUSH"]);
            lasting(Duration::from_millis(50)).await;
        }
    };
    let tasks = async {
        for round in 0..20 {
            for (n, handle) in (round * 10..).zip(site.desk.naps(round * 10, 10, 50).await) {
                assert_eq!(handle.result(PATIENCE).await.unwrap(), n);
                assert_eq!(site.desk.count(&format!("ran {n}")), 1);
            }
        }
    };
    tokio::join!(flushes, tasks);
    for program in &workers {
        assert_eq!(troubles(program), [""; 0]);
    }
}

/// The same for workers that have nothing to do: they must not spin.
#[tokio::test(flavor = "multi_thread")]
async fn raw_keys_idle_workers_do_not_spin_when_everything_is_forgotten_again_and_again() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let watch = Use::of(&program);
    for _ in 0..40 {
        let _: () = site.server.command(&["FLUSHALL"]);
        let _: () = site.server.command(&["SCRIPT", "FLUSH"]);
        lasting(Duration::from_millis(50)).await;
    }
    watch.assert_calm(0);
    assert_works(&site.desk, &program).await;
}
