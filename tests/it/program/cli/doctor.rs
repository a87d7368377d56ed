//! `doctor`: what it finds, and what it says to do.

use dtq::types::{Status, WorkerInfo};
use dtq_tests::{info, queue, task};

use super::*;

/// A store with which nothing is wrong.
async fn sound_redis() -> World {
    World::redis_with(&["--appendonly", "yes"]).await
}

async fn a_sound_store_is_fine(w: &World) {
    let desk = Desk::new(w);
    w.bring(Status::Queued, task("a")).await;
    w.beat(info("w1"), std::time::Duration::from_secs(3600)).await;
    let told = desk.json(&["doctor"]);
    let checks: Vec<_> = told.iter().map(|look| look["check"].as_str().unwrap()).collect();
    assert_eq!(checks, ["store", "version", "clock", "settings", "workers", "queues"]);
    assert!(told.iter().all(|look| look["level"] == "ok" && look["remedy"].is_null()), "{told:?}");
    assert_eq!(desk.answer(&["doctor", "--quiet"]), "");
    desk.same_in_a_users_program(&["doctor", "--quiet"]);
}

async fn a_queue_that_nobody_reads_is_found(w: &World) {
    let desk = Desk::new(w);
    w.bring(Status::Queued, task("a")).await;
    w.bring(Status::Pending, task("a").queue("left-alone")).await;
    w.bring(Status::Succeeded, task("a").queue("empty")).await;
    w.beat(WorkerInfo { queues: vec![queue("default")], ..info("w1") }, std::time::Duration::from_secs(3600)).await;
    let ended = desk.dtq(&["doctor", "--quiet"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(1), ""), "{ended:?}");
    let found = lines(
        "
        WRONG  queues        no live worker reads \"left-alone\", and 1 task of it is not finished
                             -> start a worker with --queues left-alone
        ",
    );
    assert_eq!(ended.out, found);
}

async fn tasks_that_no_live_worker_knows_are_found(w: &World) {
    let desk = Desk::new(w);
    w.enqueue_many(2, || task("chrage")).await;
    w.enqueue(task("charge")).await;
    w.beat(WorkerInfo { tasks: vec!["charge".into()], ..info("w1") }, std::time::Duration::from_secs(3600)).await;
    let ended = desk.dtq(&["doctor", "--quiet", "--json"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let look = objects(&ended.out).remove(0);
    assert_eq!(look["check"], "tasks", "{look}");
    let says = "no live worker of queue \"default\" knows these tasks, which wait in it: chrage";
    assert_eq!(look["says"], says);
    assert!(look["remedy"].as_str().unwrap().contains("aliases"), "{look}");
}

async fn dead_letters_are_pointed_out(w: &World) {
    let desk = Desk::new(w);
    w.bring(Status::DeadLettered, task("a")).await;
    let told = desk.json(&["doctor"]);
    let look = told.iter().find(|look| look["check"] == "dead letters").unwrap();
    let says = "1 in queue \"default\": `dtq dlq group --queue default` tells why";
    assert_eq!((&look["level"], &look["says"]), (&"note".into(), &says.into()));
}

mod sqlite {
    use dtq_tests::World;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn dead_letters_are_pointed_out() {
        super::dead_letters_are_pointed_out(&World::sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tasks_that_no_live_worker_knows_are_found() {
        super::tasks_that_no_live_worker_knows_are_found(&World::sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_sound_store_is_fine() {
        super::a_sound_store_is_fine(&World::sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_queue_that_nobody_reads_is_found() {
        super::a_queue_that_nobody_reads_is_found(&World::sqlite().await).await;
    }
}

mod redis {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn dead_letters_are_pointed_out() {
        super::dead_letters_are_pointed_out(&sound_redis().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tasks_that_no_live_worker_knows_are_found() {
        super::tasks_that_no_live_worker_knows_are_found(&sound_redis().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_sound_store_is_fine() {
        super::a_sound_store_is_fine(&sound_redis().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_queue_that_nobody_reads_is_found() {
        super::a_queue_that_nobody_reads_is_found(&sound_redis().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn settings_that_endanger_tasks_are_found_with_what_to_do() {
        for (arguments, words) in [
            (&["--appendonly", "no"][..], ["append-only persistence is off", "Set appendonly yes"]),
            (
                &["--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"],
                ["maxmemory-policy is allkeys-lru", "CONFIG SET maxmemory-policy noeviction"],
            ),
        ] {
            let w = World::redis_with(arguments).await;
            let ended = Desk::new(&w).dtq(&["doctor", "--json", "--quiet"]);
            assert_eq!(ended.code, Some(1), "{ended:?}");
            let look = objects(&ended.out).remove(0);
            assert_eq!(look["check"], "settings", "{look}");
            for word in words {
                assert!(look["says"].as_str().unwrap().contains(word), "{word:?} is not in {look}");
            }
            assert!(look["remedy"].is_string(), "{look}");
        }
    }
}

#[test]
fn a_store_that_is_away_is_a_finding_without_its_password() {
    let ended = run(dtq(&["doctor", "--json"]).env("DTQ_URL", "redis://me:hunter2@127.0.0.1:1/"));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let look = objects(&ended.out).remove(0);
    assert_eq!((&look["level"], &look["check"]), (&"wrong".into(), &"store".into()), "{look}");
    assert!(look["says"].as_str().unwrap().contains("127.0.0.1:1"), "{look}");
    assert!(!format!("{ended:?}").contains("hunter2"), "{ended:?}");
}
