//! Takes what attempts tell of themselves to the store: for all of a worker in one call, a few times a second at most.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::outage::{Outage, Trouble};
use crate::notes::{Notebook, Page, Written};
use crate::store::{BATCH, Report, Store};

/// Between two calls, unless an attempt waits for its end.
const PAUSE: Duration = Duration::from_millis(250);

pub(super) struct Reporter<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) notebook: &'a Notebook,
    pub(super) trouble: &'a Arc<Trouble>,
    pub(super) stop: &'a CancellationToken,
}

/// A page on its way. Whoever waits for it is told also when it is dropped there.
struct Sent {
    page: Arc<Page>,
    told: u64,
    answered: AtomicBool,
}

impl Sent {
    fn answer(&self, written: Written) {
        self.answered.store(true, Ordering::Relaxed);
        self.page.done(self.told, written);
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if !self.answered.load(Ordering::Relaxed) {
            self.answer(Written::Refused("it was not sent".into()));
        }
    }
}

impl Reporter<'_> {
    /// Reports until the worker has stopped.
    pub(super) async fn run(&self) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = self.report() => {}
        }
    }

    async fn report(&self) {
        let mut outage = Outage::new("report what tasks tell", self.trouble);
        loop {
            let pages = self.notebook.filled().await;
            let taken = pages.into_iter().filter_map(|page| {
                let (report, told) = page.take()?;
                Some((report, Sent { page, told, answered: AtomicBool::new(false) }))
            });
            let (reports, sent): (Vec<Report>, Vec<Sent>) = taken.unzip();
            for (reports, sent) in reports.chunks(BATCH).zip(sent.chunks(BATCH)) {
                self.send(reports, sent, &mut outage).await;
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = self.notebook.urged() => {}
            }
        }
    }

    async fn send(&self, reports: &[Report], sent: &[Sent], outage: &mut Outage) {
        if self.try_send(reports, sent, outage).await.is_ok() {
            return;
        }
        // One that the store cannot take must not spoil the others.
        for (report, sent) in reports.iter().zip(sent) {
            let alone = self.try_send(std::slice::from_ref(report), std::slice::from_ref(sent), outage).await;
            if let Err(error) = alone {
                tracing::warn!(id = %report.lease.task, %error, "what a task told of itself was refused by the store");
                sent.answer(Written::Refused(error.to_string()));
            }
        }
    }

    /// Sends until the store has taken or refused it. Sending again is safe: no line is written twice.
    async fn try_send(&self, reports: &[Report], sent: &[Sent], outage: &mut Outage) -> crate::store::Result<()> {
        loop {
            match self.store.report(reports.to_vec()).await {
                Ok(answers) => {
                    outage.over();
                    for (sent, kept) in sent.iter().zip(answers) {
                        sent.answer(if kept { Written::Kept } else { Written::Lost });
                    }
                    return Ok(());
                }
                Err(error) if !error.is_of_the_call() => tokio::time::sleep(outage.failed(&error)).await,
                Err(error) => {
                    outage.over();
                    return Err(error);
                }
            }
        }
    }
}
