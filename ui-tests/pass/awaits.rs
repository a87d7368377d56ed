//! Bodies that await, borrow across awaits, return early, and recurse through their own calls.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
async fn crawl(
    ctx: &Context,
    #[state] seen: &std::sync::Mutex<Vec<String>>,
    url: String,
    depth: u8,
) -> Result<(), TaskError> {
    if depth == 0 {
        return Ok(());
    }
    let part = &url[..1];
    tokio::task::yield_now().await;
    seen.lock().unwrap().push(part.to_owned());
    crawl::enqueue(format!("{url}{}", ctx.attempt()), depth - 1).await?;
    crawl::enqueue_many([(url, 1)]).await?;
    Ok(())
}

#[test]
fn works() {
    drop(crawl::call(String::new(), 1));
}
