//! The tasks: each run leaves its begin and its end in the ledger of its process.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{Deferral, NewTask, Policy, Priority};
use dtq::{Call, Task};
use tokio::time::sleep;

use crate::ledger::{End, Ledger};
use crate::plan::{Design, Planned};

/// Works for a while; the result names the run.
#[dtq::task]
async fn steady(ctx: &Context, #[state] ledger: &Ledger, ms: u64) -> String {
    let run = ledger.begin(ctx.task_id(), ctx.attempt());
    sleep(Duration::from_millis(ms)).await;
    run.ends(End::Ok)
}

/// The same as a plain function, which blocks its thread.
#[dtq::task]
fn plain(ctx: &Context, #[state] ledger: &Ledger, ms: u64) -> String {
    let run = ledger.begin(ctx.task_id(), ctx.attempt());
    std::thread::sleep(Duration::from_millis(ms));
    run.ends(End::Ok)
}

/// Fails in its first attempts.
#[dtq::task(backoff = exponential(base = "100ms", cap = "1s", jitter = 0.5))]
async fn flaky(ctx: &Context, #[state] ledger: &Ledger, ms: u64, failures: u32) -> Result<String, TaskError> {
    let run = ledger.begin(ctx.task_id(), ctx.attempt());
    sleep(Duration::from_millis(ms)).await;
    if ctx.attempt() <= failures {
        run.ends(End::Failed);
        return Err(TaskError::new("fails on purpose"));
    }
    Ok(run.ends(End::Ok))
}

/// Panics in its first attempts.
#[dtq::task(backoff = fixed("150ms"))]
async fn panics(ctx: &Context, #[state] ledger: &Ledger, ms: u64, panics: u32) -> String {
    let run = ledger.begin(ctx.task_id(), ctx.attempt());
    sleep(Duration::from_millis(ms)).await;
    assert!(ctx.attempt() > panics, "panics on purpose");
    run.ends(End::Ok)
}

/// Fails for good in its first attempt.
#[dtq::task]
async fn permanent(ctx: &Context, #[state] ledger: &Ledger, ms: u64) -> Result<String, TaskError> {
    let run = ledger.begin(ctx.task_id(), ctx.attempt());
    sleep(Duration::from_millis(ms)).await;
    run.ends(End::Permanent);
    Err(TaskError::permanent("fails for good on purpose"))
}

/// The task as it is enqueued.
pub(crate) fn new_task(planned: &Planned) -> anyhow::Result<NewTask> {
    let ms = planned.ms;
    let (task, payload) = match planned.design {
        Design::Steady | Design::Long | Design::Expiring => encoded(&steady::enqueue(ms))?,
        Design::Plain => encoded(&plain::enqueue(ms))?,
        Design::Flaky { failures } => encoded(&flaky::enqueue(ms, failures))?,
        Design::Hopeless { .. } => encoded(&flaky::enqueue(ms, u32::MAX))?,
        Design::Panics { panics: times } => encoded(&panics::enqueue(ms, times))?,
        Design::Permanent => encoded(&permanent::enqueue(ms))?,
    };
    Ok(NewTask {
        priority: Priority::new(planned.priority)?,
        deferral: planned.delay.map_or(Deferral::None, Deferral::After),
        policy: policy(planned),
        ..NewTask::new(planned.id.clone(), task, payload)
    })
}

fn encoded<T: Task>(call: &Call<T>) -> anyhow::Result<(String, Vec<u8>)> {
    Ok((T::DEF.name.to_owned(), call.args().to_payload().map_err(anyhow::Error::msg)?.into()))
}

fn policy(planned: &Planned) -> Policy {
    Policy {
        max_attempts: planned.design.max_attempts(),
        dead_letter: planned.design.dead_letter(),
        ttl: planned.ttl,
        ..Policy::DEFAULT
    }
}
