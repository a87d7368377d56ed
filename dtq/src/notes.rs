//! What an attempt tells of itself: progress, lines for its log, checkpoints. Telling only writes to memory; the worker's
//! reporter takes it from here to the store, a few times a second, for all its attempts together.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::codec;
use crate::error::{Marked, TaskError};
use crate::store::Report;
use crate::types::{Lease, LogLine, Progress, Share, cut};

/// Bytes of an encoded checkpoint at most.
const LARGEST_CHECKPOINT: usize = 64 * 1024;

/// Where the attempts of one worker leave what is to be written.
#[derive(Debug, Default)]
pub(crate) struct Notebook {
    pages: Mutex<Vec<Arc<Page>>>,
    filled: Notify,
    /// Somebody waits for the writing.
    urgent: Notify,
    /// Fires when nobody writes any more.
    closed: CancellationToken,
}

impl Notebook {
    /// The pages with something to write, once there are some.
    pub(crate) async fn filled(&self) -> Vec<Arc<Page>> {
        loop {
            let pages = std::mem::take(&mut *locked(&self.pages));
            if !pages.is_empty() {
                return pages;
            }
            self.filled.notified().await;
        }
    }

    /// Resolves when writing should not be put off.
    pub(crate) async fn urged(&self) {
        self.urgent.notified().await;
    }

    /// Nothing is written from now on, so nobody should wait for it.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    fn add(&self, page: &Arc<Page>) {
        locked(&self.pages).push(page.clone());
        self.filled.notify_one();
    }
}

/// What became of a page that was to be written.
#[derive(Debug, Clone)]
pub(crate) enum Written {
    /// It is in the store.
    Kept,
    /// The lease is not current: nothing of this attempt will be kept any more.
    Lost,
    /// The store refuses it, for this reason.
    Refused(String),
}

/// What one attempt tells.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// `None` without a worker: then it stays in memory.
    lease: Option<Lease>,
    state: Mutex<State>,
    written: Notify,
}

#[derive(Debug, Default)]
struct State {
    progress: Option<(Share, String)>,
    lines: VecDeque<String>,
    /// The number of the first of `lines`.
    first_line: u64,
    checkpoint: Option<Bytes>,
    /// The last checkpoint that was told, written or not.
    latest: Option<Bytes>,
    /// It is among the notebook's pages.
    waits: bool,
    /// How often something was told, and up to which time the store knows.
    told: u64,
    known: u64,
    /// What was sent last was not kept; after a loss, nothing is sent any more.
    ended: Option<Written>,
}

impl Page {
    /// Takes out what is to be written, and what to call [`Page::done`] with.
    pub(crate) fn take(&self) -> Option<(Report, u64)> {
        let lease = self.lease.clone()?;
        let mut state = locked(&self.state);
        state.waits = false;
        let lines: Vec<_> = state.lines.drain(..).collect();
        let first_line = state.first_line;
        state.first_line += lines.len() as u64;
        let (progress, checkpoint) = (state.progress.take(), state.checkpoint.take());
        Some((Report { lease, progress, lines, first_line, checkpoint }, state.told))
    }

    /// Notes what became of what was told up to that time.
    pub(crate) fn done(&self, told: u64, written: Written) {
        let mut state = locked(&self.state);
        state.known = told;
        state.ended = Some(written).filter(|written| !matches!(written, Written::Kept));
        drop(state);
        self.written.notify_waiters();
    }

    /// True when it needs no place among the notebook's pages yet.
    fn tell(&self, change: impl FnOnce(&mut State)) -> bool {
        let mut state = locked(&self.state);
        if matches!(state.ended, Some(Written::Lost)) {
            return true;
        }
        change(&mut state);
        state.told += 1;
        std::mem::replace(&mut state.waits, true)
    }
}

/// An attempt's way to its page, which is made when it is used first. Its lease stands in its context.
#[derive(Debug)]
pub(crate) struct Notes {
    /// `None` without a worker.
    notebook: Option<Arc<Notebook>>,
    page: OnceLock<Arc<Page>>,
    /// What an earlier attempt left.
    resumed: Option<Bytes>,
}

impl Notes {
    pub(crate) fn of(notebook: Arc<Notebook>, resumed: Option<Bytes>) -> Self {
        Self { notebook: Some(notebook), page: OnceLock::new(), resumed }
    }

    /// Of a context without a worker.
    pub(crate) fn detached() -> Self {
        Self { notebook: None, page: OnceLock::new(), resumed: None }
    }

    pub(crate) fn progress(&self, lease: &Lease, fraction: f64, message: String) {
        let progress = (Share::of(fraction), cut(message, Progress::MAX_MESSAGE));
        self.tell(lease, |state| state.progress = Some(progress));
    }

    pub(crate) fn log(&self, lease: &Lease, text: String) {
        let text = cut(text, LogLine::MAX_TEXT);
        self.tell(lease, |state| {
            state.lines.push_back(text);
            // The store would not keep it either.
            if state.lines.len() > LogLine::KEPT {
                state.lines.pop_front();
                state.first_line += 1;
            }
        });
    }

    pub(crate) fn checkpoint<T: Serialize + ?Sized>(&self, lease: &Lease, value: &T) -> Result<(), Marked> {
        let encoded =
            codec::encode(value).map_err(|why| permanent(format!("a checkpoint cannot be encoded: {why}")))?;
        let (size, limit) = (encoded.len(), LARGEST_CHECKPOINT);
        if size > limit {
            return Err(permanent(format!(
                "a checkpoint takes {size} bytes, the limit is {limit}; store large data elsewhere and keep a reference"
            )));
        }
        self.tell(lease, |state| {
            state.latest = Some(encoded.clone());
            state.checkpoint = Some(encoded);
        });
        Ok(())
    }

    pub(crate) fn last_checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, Marked> {
        let own = self.page.get().and_then(|page| locked(&page.state).latest.clone());
        let Some(encoded) = own.as_ref().or(self.resumed.as_ref()) else { return Ok(None) };
        let decoded = codec::decode(encoded);
        decoded.map(Some).map_err(|why| permanent(format!("the last checkpoint is not of the type asked for: {why}")))
    }

    fn tell(&self, lease: &Lease, change: impl FnOnce(&mut State)) {
        let page = self.page.get_or_init(|| {
            let lease = self.notebook.is_some().then(|| lease.clone());
            Arc::new(Page { lease, ..Page::default() })
        });
        if !page.tell(change)
            && let Some(notebook) = &self.notebook
        {
            notebook.add(page);
        }
    }

    /// Waits until all that was told so far is written, or will never be.
    pub(crate) async fn written(&self) -> Written {
        let (Some(page), Some(notebook)) = (self.page.get(), &self.notebook) else { return Written::Kept };
        let told = locked(&page.state).told;
        loop {
            let mut written = std::pin::pin!(page.written.notified());
            // Before the look: what is written after it must wake us.
            written.as_mut().enable();
            {
                let state = locked(&page.state);
                if let Some(ended) = &state.ended {
                    return ended.clone();
                }
                if state.known >= told {
                    return Written::Kept;
                }
            }
            notebook.urgent.notify_one();
            tokio::select! {
                () = written => {}
                () = notebook.closed.cancelled() => return Written::Refused("the worker has stopped".into()),
            }
        }
    }
}

fn permanent(message: String) -> Marked {
    TaskError::permanent(message).into()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{QueueName, TaskId};

    fn lease() -> Lease {
        Lease { task: TaskId::generate(QueueName::default()), attempt: 1, token: "t".into() }
    }

    #[tokio::test]
    async fn what_is_told_often_is_one_report_with_the_last_value() {
        let notebook = Arc::new(Notebook::default());
        let (notes, lease) = (Notes::of(notebook.clone(), None), lease());
        for n in 0..1000 {
            notes.progress(&lease, f64::from(n) / 1000.0, format!("step {n}"));
            notes.log(&lease, format!("line {n}"));
        }
        let pages = notebook.filled().await;
        assert_eq!(pages.len(), 1);
        let (report, told) = pages[0].take().unwrap();
        assert_eq!(report.progress.unwrap(), (Share::of(0.999), "step 999".into()));
        assert_eq!((report.first_line, report.lines.len(), told), (900, 100, 2000));
        assert_eq!(report.lines[0], "line 900");
        notes.log(&lease, "one more".into());
        let (report, _) = notebook.filled().await[0].take().unwrap();
        assert_eq!((report.first_line, report.lines), (1000, vec!["one more".to_owned()]));
    }

    #[tokio::test]
    async fn waiting_for_the_writing_ends_with_it_or_with_the_lease() {
        let notebook = Arc::new(Notebook::default());
        let (notes, lease) = (Notes::of(notebook.clone(), None), lease());
        assert!(matches!(notes.written().await, Written::Kept), "nothing was told");
        notes.checkpoint(&lease, &1).unwrap();
        let (page, told) = {
            let pages = notebook.filled().await;
            let told = pages[0].take().unwrap().1;
            (pages[0].clone(), told)
        };
        let (written, ()) = tokio::join!(notes.written(), async { page.done(told, Written::Kept) });
        assert!(matches!(written, Written::Kept));
        page.done(told, Written::Lost);
        notes.checkpoint(&lease, &2).unwrap();
        assert!(matches!(notes.written().await, Written::Lost));
        assert!(locked(&notebook.pages).is_empty(), "nothing more is to be written");
    }

    #[test]
    fn checkpoints_are_bounded_and_given_back() {
        let notes = Notes::detached();
        assert_eq!(notes.last_checkpoint::<u32>().unwrap(), None);
        notes.checkpoint(&lease(), &7_u32).unwrap();
        assert_eq!(notes.last_checkpoint::<u32>().unwrap(), Some(7));
        assert!(notes.last_checkpoint::<String>().unwrap_err().to_string().contains("not of the type"));
        let large = "x".repeat(LARGEST_CHECKPOINT);
        assert!(notes.checkpoint(&lease(), &large).unwrap_err().to_string().contains("the limit is 65536"));
    }
}
