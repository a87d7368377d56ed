//! Tasks of every end, so that one can look at what is left of them.

use std::time::Duration;

use dtq::store::{Report, Verdict};
use dtq::types::{Delivery, Policy, Share, Status};

use crate::{LEASE, World, task, want};

/// Each panics when the store answers with an error, or not as it should.
#[allow(clippy::missing_panics_doc, reason = "said once above")]
impl World {
    /// Tells all that a running task can tell of itself: half done, `a line`, and the checkpoint `[7]`.
    pub async fn tell_all(&self, of: &Delivery) {
        let progress = Some((Share::of(0.5), "half".to_owned()));
        let (lines, checkpoint) = (vec!["a line".to_owned()], Some("[7]".into()));
        let report = Report { lease: of.lease.clone(), progress, lines, first_line: 0, checkpoint };
        assert_eq!(self.store().report(vec![report]).await.expect("report"), [true]);
    }

    /// Brings tasks to every end, some that told of themselves and some that did not, and lets the longest time pass for
    /// which anything of them is kept; then a worker looks for work, as idle ones do.
    pub async fn every_end_and_after(&self, retention: Duration) {
        for status in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
            for tells in [true, false] {
                let new = if status == Status::Failed { task("a").no_dead_letter() } else { task("a") };
                let held = self.running(new.retention(retention).ttl(LEASE)).await;
                if tells {
                    self.tell_all(&held).await;
                }
                self.end_as(&held, status).await;
            }
        }
        self.advance(Policy::DEAD_LETTER_RETENTION + Duration::from_secs(3600));
        self.claim_with(dtq::store::Claim { sweep: true, ..want(1) }).await;
    }

    async fn end_as(&self, held: &Delivery, status: Status) {
        match status {
            Status::Succeeded => self.succeed(held).await,
            Status::Cancelled => {
                self.cancel(&held.lease.task).await;
                self.settle_to(held, Verdict::Release, Status::Cancelled).await;
            }
            Status::Expired => {
                self.snooze(held, LEASE * 2).await;
                self.advance(LEASE);
                assert!(self.claim(1).await.is_empty());
            }
            _ => self.fail(held).await,
        }
    }
}
