//! Short runs of the example that breaks a fleet and reconciles every accepted task.

use serde_json::Value;

use super::examples::example;
use super::{Ended, Program, run};

const TASKS: u64 = 400;

fn chaos(arguments: &str) -> Ended {
    let arguments: Vec<_> = arguments.split(' ').collect();
    // It starts redis-server, and sends signals.
    run(Program::command_of(&example("chaos"), &arguments).env("PATH", std::env::var("PATH").unwrap()))
}

/// The line it prints, and its exit code.
fn result(arguments: &str) -> (Value, Option<i32>) {
    let ended = chaos(&format!("{arguments} --tasks {TASKS} --seconds 6"));
    let line = serde_json::from_str(&ended.out);
    // What it says of itself is what helps when a check fails.
    eprintln!("{}", ended.err);
    (line.unwrap_or_else(|error| panic!("{error}: {ended:?}")), ended.code)
}

fn number(line: &Value, field: &str) -> u64 {
    line[field].as_u64().unwrap_or_else(|| panic!("{field} in {line}"))
}

fn sum(line: &Value, fields: &[&str]) -> u64 {
    fields.iter().map(|field| number(line, field)).sum()
}

/// Every task was accepted and every one is accounted for, whatever went wrong.
fn assert_nothing_is_lost(line: &Value, code: Option<i32>) {
    assert_eq!((number(line, "lost"), number(line, "unexplained")), (0, 0), "{line}");
    assert_eq!((code, &line["drained"]), (Some(0), &Value::Bool(true)), "{line}");
    assert_eq!(number(line, "accepted"), TASKS);
    assert_eq!(sum(line, &["executed_once", "executed_more", "never_executed"]), TASKS);
    assert_eq!(sum(line, &["succeeded", "dead_lettered", "failed", "cancelled", "expired"]), TASKS);
}

#[test]
fn a_broken_fleet_loses_nothing_on_sqlite() {
    let (line, code) = result("--store sqlite --seed 1");
    assert_nothing_is_lost(&line, code);
    assert!(number(&line, "kills") > 0 && number(&line, "stops") > 0, "{line}");
}

#[test]
fn a_broken_fleet_loses_nothing_on_redis() {
    let (line, code) = result("--store redis --persistence always --seed 1");
    assert_nothing_is_lost(&line, code);
    assert!(number(&line, "kills") > 0 && number(&line, "restarts") > 0 && number(&line, "cuts") > 0, "{line}");
}

#[test]
fn a_power_failure_takes_tasks_that_redis_had_not_synced_and_chaos_says_so() {
    let (line, code) = result("--store redis --persistence everysec --power-loss --seed 1");
    let (lost, unexplained) = (number(&line, "lost"), number(&line, "unexplained"));
    assert!(number(&line, "dropped_bytes") > 0, "{line}");
    assert_eq!((number(&line, "lost_to_power"), unexplained), (lost, 0), "{line}");
    assert_eq!(code, Some(if lost > 0 { 3 } else { 0 }), "{line}");
}

#[test]
fn a_seed_replays_its_plan() {
    let plan = |seed| chaos(&format!("--store redis --tasks 50 --seconds 6 --plan --seed {seed}")).out;
    let first = plan(1);
    assert!(first.contains(" Kill for ") && first.contains("Server Restart"), "{first}");
    assert_eq!(first.matches(" ms, priority ").count(), 50, "{first}");
    assert_eq!(first, plan(1));
    assert_ne!(first, plan(2));
}
