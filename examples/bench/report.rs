//! Lines for people and for programs.

use std::time::Duration;

use serde::Serialize;

/// One phase.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    phase: &'static str,
    store: &'static str,
    tasks: usize,
    seconds: f64,
    per_second: f64,
    server_cpu_us_per_task: Option<f64>,
    floor_server_cpu_us_per_task: Option<f64>,
    pub(crate) bytes_per_queued_task: Option<f64>,
    pub(crate) lost: usize,
    pub(crate) duplicates: usize,
}

impl Line {
    pub(crate) fn new(
        phase: &'static str,
        store: &'static str,
        tasks: usize,
        time: Duration,
        cpu: Option<f64>,
        floor: Option<f64>,
    ) -> Self {
        let seconds = time.as_secs_f64();
        Self {
            phase,
            store,
            tasks,
            seconds,
            per_second: tasks as f64 / seconds,
            server_cpu_us_per_task: cpu,
            floor_server_cpu_us_per_task: floor,
            bytes_per_queued_task: None,
            lost: 0,
            duplicates: 0,
        }
    }
}

pub(crate) fn print(lines: &[Line], json: bool) {
    if json {
        for line in lines {
            println!("{}", serde_json::to_string(line).unwrap_or_default());
        }
        return;
    }
    println!(
        "{:<8} {:<7} {:>8} {:>9} {:>10} {:>14} {:>14} {:>12} {:>5} {:>10}",
        "phase",
        "store",
        "tasks",
        "seconds",
        "per second",
        "server us/task",
        "floor us/task",
        "bytes/queued",
        "lost",
        "duplicates"
    );
    let figure = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.1}"));
    for line in lines {
        println!(
            "{:<8} {:<7} {:>8} {:>9.2} {:>10.0} {:>14} {:>14} {:>12} {:>5} {:>10}",
            line.phase,
            line.store,
            line.tasks,
            line.seconds,
            line.per_second,
            figure(line.server_cpu_us_per_task),
            figure(line.floor_server_cpu_us_per_task),
            figure(line.bytes_per_queued_task),
            line.lost,
            line.duplicates
        );
    }
}
