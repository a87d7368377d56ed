//! Schedules in the code of tasks, under worker processes that die, stand still and start again: each tick makes one task.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dtq::types::{Origin, TaskId};
use dtq_tests::{RedisServer, World, eventually};

use super::{Desk, Program, on_both_stores, run};

/// The tasks of each tick, by the second of the tick.
type Ticks = BTreeMap<u64, BTreeSet<TaskId>>;

impl Desk {
    fn ticking(&self, point: Option<&str>) -> Program {
        let mut command = Program::command_of(env!("CARGO_BIN_EXE_e2e_ticks"), &[]);
        command.env("DTQ_URL", &self.url).env("E2E_FOLDER", self.folder.path());
        Program::start(command.envs(point.map(|point| ("DTQ_FAIL_POINT", point))))
    }

    /// What ticks have run. An attempt may run again after its worker died: then it is the same task.
    fn ticks(&self) -> Ticks {
        let mut ticks = Ticks::new();
        for id in self.told().iter().filter_map(|line| line.parse::<TaskId>().ok()) {
            let (second, _) = id.uuid().get_timestamp().unwrap().to_unix();
            ticks.entry(second).or_default().insert(id);
        }
        ticks
    }

    /// Waits until so many ticks have run in all.
    async fn ran(&self, count: usize) {
        let ran = || async { (self.ticks().len() >= count).then_some(()) };
        eventually(&format!("{count} ticks have run"), ran).await;
    }

    /// Asserts that no tick was fired twice, and that none is missing among them, once those on their way have run.
    async fn each_once_and_none_missing(&self) {
        let none_missing = || async {
            let ticks = self.ticks();
            let (first, last) = (*ticks.keys().next()?, *ticks.keys().last()?);
            (last - first + 1 == u64::try_from(ticks.len()).unwrap()).then_some(())
        };
        eventually("no tick is missing", none_missing).await;
        for (second, tasks) in self.ticks() {
            assert_eq!(tasks.len(), 1, "the tick {second} was fired twice: {tasks:?}");
        }
    }
}

async fn each_tick_fires_once_while_workers_die_stand_still_and_return(w: &World) {
    let desk = Desk::new(w);
    let (first, second, third) = (desk.ticking(None), desk.ticking(None), desk.ticking(None));
    desk.ran(2).await;
    first.kill();
    second.signal("STOP");
    desk.ran(5).await;
    // Within the time of a tick: the same code starts twice, and what stood still goes on.
    let (fourth, fifth) = (desk.ticking(None), desk.ticking(None));
    second.signal("CONT");
    third.kill();
    desk.ran(9).await;
    desk.each_once_and_none_missing().await;
    drop((second, fourth, fifth));
}

async fn a_tick_that_a_worker_died_with_fires_once(w: &World, point: &str) {
    let desk = Desk::new(w);
    let doomed = desk.ticking(Some(point));
    doomed.logs(&format!("dtq: fail point {}", point.split(':').next().unwrap()), 1).await;
    let other = desk.ticking(None);
    doomed.kill();
    desk.ran(4).await;
    desk.each_once_and_none_missing().await;
    drop(other);
}

async fn a_worker_that_dies_before_it_fires(w: &World) {
    a_tick_that_a_worker_died_with_fires_once(w, "fire.before:2").await;
}

async fn a_worker_that_dies_with_the_answer_on_its_way(w: &World) {
    a_tick_that_a_worker_died_with_fires_once(w, "fire.applied:2").await;
}

async fn all_workers_stop_and_start_within_the_time_of_a_tick(w: &World) {
    let desk = Desk::new(w);
    for round in 1..=3 {
        let worker = desk.ticking(None);
        desk.ran(round * 2).await;
        worker.kill();
    }
    let _last = desk.ticking(None);
    desk.ran(8).await;
    desk.each_once_and_none_missing().await;
}

async fn a_pause_by_hand_outlasts_new_workers(w: &World) {
    let desk = Desk::new(w);
    let worker = desk.ticking(None);
    desk.ran(1).await;
    let schedules = desk.client.schedules();
    let listed = schedules.list().await.unwrap();
    let words: Vec<_> = listed.iter().map(ToString::to_string).collect();
    assert!(words[0].starts_with("default:ticks: ticks, every second; next "), "{words:?}");
    assert!(words[1].starts_with("seldom:seldom: seldom, at 02:30 on the 29th in February, Europe/Berlin; next 20"));
    assert!(listed.iter().all(|info| info.schedule.origin == Origin::Code));
    let id = &listed[0].schedule.spec.id;
    schedules.because("too loud").pause(id).await.unwrap();
    worker.kill();
    let worker = desk.ticking(None);
    worker.logs("worker starts", 1).await;
    let before = desk.client.schedules().get(id).await.unwrap().unwrap();
    assert!(before.schedule.paused);
    // It declares its schedules with each heartbeat.
    let beats = || async {
        let workers = desk.client.workers().await.unwrap();
        workers.iter().any(|worker| worker.seen_at.since(worker.started_at) > Duration::from_secs(3)).then_some(())
    };
    eventually("the new worker has beaten twice", beats).await;
    let after = desk.client.schedules().get(id).await.unwrap().unwrap();
    assert_eq!((after.schedule.paused, after.schedule.fired), (true, before.schedule.fired));
    let told = desk.ticks().len();
    desk.client.schedules().resume(id).await.unwrap();
    desk.ran(told + 1).await;
}

#[test]
fn the_list_of_tasks_tells_their_schedules() {
    let list = |arguments: &[&str]| run(&mut Program::command_of(env!("CARGO_BIN_EXE_e2e_ticks"), arguments)).out;
    let shown = list(&["tasks"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("_unused every second"), "{shown}");
    let seldom = list(&["tasks", "--json"]);
    let seldom = seldom.lines().find(|line| line.contains("\"seldom\"")).unwrap();
    assert!(seldom.contains(r#""schedule":"at 02:30 on the 29th in February, Europe/Berlin""#), "{seldom}");
}

#[tokio::test(flavor = "multi_thread")]
async fn schedules_of_the_code_return_by_themselves_when_everything_was_flushed() {
    let server = RedisServer::start().await;
    let desk = Desk::at(server.url());
    let worker = desk.ticking(None);
    desk.ran(2).await;
    let _: () = server.command(&["FLUSHALL"]);
    let began = std::time::Instant::now();
    let before = desk.ticks().len();
    desk.ran(before + 2).await;
    // With the next heartbeat, which comes every two seconds, and then with each tick.
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert_eq!(desk.client.schedules().list().await.unwrap().len(), 2);
    for (second, tasks) in desk.ticks() {
        assert_eq!(tasks.len(), 1, "the tick {second} was fired twice: {tasks:?}");
    }
    drop(worker);
}

on_both_stores! {
    each_tick_fires_once_while_workers_die_stand_still_and_return,
    a_worker_that_dies_before_it_fires,
    a_worker_that_dies_with_the_answer_on_its_way,
    all_workers_stop_and_start_within_the_time_of_a_tick,
    a_pause_by_hand_outlasts_new_workers,
}
