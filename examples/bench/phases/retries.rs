//! A storm of retries: each task fails twice.

use super::tasks::stubborn;
use super::{Span, worker};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;

const CHUNK: usize = 4096;
const ATTEMPTS: usize = 3;

pub(super) async fn run(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let client = setting.client()?;
    for start in (0..args.tasks).step_by(CHUNK) {
        stubborn::enqueue_many(start..args.tasks.min(start + CHUNK)).on(&client).await?;
    }
    let ledger = Ledger::new(args.tasks);
    let span = Span::begin(setting)?;
    let worker = worker(setting, args.concurrency, &ledger).await?;
    ledger.all_ran().await;
    worker.stop().await;
    let spent = span.end(setting)?;
    // Per attempt: the first two end with a retry.
    Ok(vec![spent.line("retries", args, args.tasks * ATTEMPTS).reconciled(ledger.reconcile())])
}
