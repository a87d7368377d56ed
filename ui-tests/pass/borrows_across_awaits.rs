//! What is borrowed from context, state and arguments lives across awaits, loops and inner async blocks.
#![deny(warnings)]
use dtq::prelude::*;
use std::sync::Mutex;

#[dtq::task]
async fn charge(ctx: &Context, #[state] log: &Mutex<Vec<String>>, names: Vec<String>) -> Result<usize, TaskError> {
    let first = names.first().map(String::as_str).unwrap_or_default();
    let mut total = 0;
    for name in &names {
        let inner = async { name.len() + ctx.attempt() as usize };
        total += inner.await;
        log.lock().map_err(|_| TaskError::permanent("poisoned"))?.push(name.clone());
        std::future::ready(()).await;
    }
    let both = (first, &names, log);
    std::future::ready(()).await;
    Ok(total + both.0.len())
}

#[test]
fn works() {
    let log = Mutex::new(vec![]);
    let future = charge(&Context::detached(), &log, vec!["a".into()]).into_future_now();
    assert_eq!((future, log.into_inner().unwrap().len()), (Some(3), 1));
}

/// Polls a future once: nothing in it waits.
trait Now: Future<Output = Result<usize, TaskError>> + Sized {
    fn into_future_now(self) -> Option<usize> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(self).poll(&mut context) {
            std::task::Poll::Ready(answer) => answer.ok(),
            std::task::Poll::Pending => None,
        }
    }
}
impl<F: Future<Output = Result<usize, TaskError>>> Now for F {}
