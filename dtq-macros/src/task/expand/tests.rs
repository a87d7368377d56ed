//! The generated code as people would read it, and its length.

use crate::snapshots::{self, lines_of_code};

/// The whole of api: context, state, options, two arguments.
const FULL: (&str, &str) = (
    r#"max_attempts = 5, queue = "high", timeout = "30s", backoff = exponential(base = "2s")"#,
    r"
    /// Charges one order.
    pub async fn charge(ctx: &Context, #[state] db: &Db, order: OrderId, cents: u64) -> Result<Receipt, ChargeError> {}
    ",
);

/// As little as a task can be.
const LEAST: (&str, &str) = ("", "fn sweep() {}");

/// What is generated beside the user's function.
fn expanded((options, function): (&str, &str)) -> String {
    snapshots::expanded(crate::task::task, options, function)
}

#[test]
fn a_full_task_expands_to_less_than_forty_lines() {
    let code = expanded(FULL);
    snapshots::matches("task/expand/full.expanded", &code);
    assert!(lines_of_code(&code) < 40, "{} lines:\n{code}", lines_of_code(&code));
}

#[test]
fn the_least_task_expands_to_less_than_thirty_lines() {
    let code = expanded(LEAST);
    snapshots::matches("task/expand/least.expanded", &code);
    assert!(lines_of_code(&code) < 30, "{} lines:\n{code}", lines_of_code(&code));
}
