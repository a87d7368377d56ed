//! `#[dtq::test]`: what is enqueued, ready and run is the test's own.
use std::time::Duration;

use dtq::prelude::*;

/// Who takes the money.
struct Gateway(u64);

#[dtq::task(max_attempts = 3, backoff = fixed("10s"))]
async fn charge(ctx: &Context, #[state] gateway: &Gateway, order: u64, cents: u64) -> Result<u64, TaskError> {
    match ctx.attempt() {
        1 if cents == 13 => Err(TaskError::new("declined")),
        _ => Ok(gateway.0 + order),
    }
}

/// Names of tasks may repeat among these cases.
fn set_up(app: &mut App) {
    app.only_registered().register::<charge>().state(Gateway(100));
}

async fn place_order(order: u64) {
    charge::enqueue(order, 500).delay(Duration::from_secs(600)).await.unwrap();
}

#[dtq::test]
async fn order_is_charged(t: &TestApp) {
    t.set_up(set_up);
    place_order(17).await;
    t.assert_enqueued::<charge>(|a| a.order == 17);
    t.advance("10m").await;
    let drained = t.drain().await;
    drained.assert_all_succeeded();
    assert_eq!(drained.results::<charge>(), [117]);
}

#[dtq::test]
async fn may_return_a_result(t: &TestApp) -> Result<(), EnqueueError> {
    t.set_up(set_up);
    charge::enqueue(1, 13).await?;
    t.drain().await.assert_ran::<charge>(1);
    t.advance(Duration::from_secs(10)).await;
    t.drain().await.assert_all_succeeded();
    Ok(())
}

#[dtq::test(flavor = "multi_thread", crate = dtq)]
#[should_panic(expected = "the test gave none")]
async fn other_attributes_are_the_tests(t: &TestApp) {
    t.set_up(|app| {
        app.only_registered().register::<charge>();
    });
    charge::enqueue(1, 2).await.unwrap();
    t.drain().await.assert_all_succeeded();
}
