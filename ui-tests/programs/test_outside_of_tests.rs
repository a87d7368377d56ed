//! A program that is no test leaves `#[dtq::test]` functions out, as it does `#[test]` ones.
use dtq::prelude::*;

#[dtq::task]
async fn charge(order: u64) {
    let _ = order;
}

#[dtq::test]
async fn order_is_charged(t: &TestApp) -> Result<(), EnqueueError> {
    charge::enqueue(17).await?;
    t.drain().await.assert_all_succeeded();
    Ok(())
}

fn main() {
    let t = TestApp::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(t.scope(async {
        charge::enqueue(18).await.unwrap();
        t.drain().await.assert_all_succeeded();
    }));
}
