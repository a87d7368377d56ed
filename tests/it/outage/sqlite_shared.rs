//! Several processes on one SQLite file, and some that are killed in the midst of a write.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use dtq_tests::{World, eventually, lasting, promptly, queue};
use rusqlite::Connection;

use super::troubles;
use crate::child::{Process, Role};
use crate::program::{Desk, PATIENCE};

pub(super) fn assert_sound(path: &Path) {
    let conn = Connection::open(path).unwrap();
    let verdict: String = conn.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

/// So many worker processes, a producer that enqueues all the while, and somebody who looks.
async fn share(processes: usize) {
    let w = World::sqlite().await;
    let desk = Desk::new(&w);
    let mut workers = Vec::new();
    for _ in 0..processes {
        workers.push(desk.worker(&["--concurrency", "8"]).await);
    }
    let done = tokio::sync::Notify::new();
    let looks = async {
        let mut looks = 0;
        while tokio::time::timeout(Duration::from_millis(20), done.notified()).await.is_err() {
            desk.client.stats(&queue("default")).await.unwrap();
            looks += 1;
        }
        looks
    };
    let produce = async {
        let mut handles = Vec::new();
        for step in 0..200 {
            handles.extend(desk.naps(step * 10, 10, 0).await);
        }
        for handle in &handles {
            handle.result(PATIENCE).await.unwrap();
        }
        done.notify_one();
    };
    let (looks, ()) = promptly("all tasks end", async { tokio::join!(looks, produce) }).await;
    assert!(looks > 10);
    let told = desk.told();
    assert_eq!((told.len(), told.iter().collect::<HashSet<_>>().len()), (2000, 2000), "each once");
    for program in &workers {
        assert_eq!(troubles(program), [""; 0]);
    }
    assert_eq!(desk.client.stats(&queue("default")).await.unwrap().unfinished(), 0);
    assert!(std::fs::metadata(w.file().with_file_name("dtq.db-wal")).unwrap().len() < 32 << 20, "the log is bounded");
    assert_sound(&w.file());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_run_two_thousand_tasks_once_each() {
    share(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_processes_run_two_thousand_tasks_once_each() {
    share(8).await;
}

/// Producers and workers, killed again and again while they write.
#[tokio::test(flavor = "multi_thread")]
async fn processes_killed_in_the_midst_of_writes_leave_a_sound_file_with_every_accepted_task() {
    let w = World::sqlite().await;
    let desk = Desk::new(&w);
    let mut accepted = Vec::new();
    let mut random = 1_u64;
    for _ in 0..12 {
        let worker = desk.worker(&["--lease", "500ms"]).await;
        let naps = desk.naps(0, 30, 1).await;
        let mut producer = Process::start(&w, Role::Produce);
        accepted.extend((0..5).map(|_| producer.next().expect("another task")));
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lasting(Duration::from_micros(random >> 48)).await;
        worker.kill();
        accepted.extend(producer.kill());
        accepted.extend(naps.iter().map(|handle| handle.id().to_string()));
        assert_sound(&w.file());
    }
    for id in &accepted {
        assert!(desk.client.get(&id.parse().unwrap()).await.unwrap().is_some(), "{id} was accepted");
    }
    let _last = desk.worker(&["--lease", "500ms"]).await;
    let began = Instant::now();
    eventually("nothing is left", || async {
        (desk.client.stats(&queue("default")).await.unwrap().unfinished() == 0).then_some(())
    })
    .await;
    assert!(began.elapsed() < PATIENCE);
    assert_sound(&w.file());
}
