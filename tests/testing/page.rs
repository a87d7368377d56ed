use dtq::prelude::*;
use std::time::Duration;

struct Gateway {
    fee: u64,
}

/// Charges one order.
#[dtq::task(max_attempts = 3, backoff = fixed("1m"))]
async fn charge(ctx: &Context, #[state] gateway: &Gateway, order: u64, cents: u64) -> Result<u64, TaskError> {
    if order == 13 && ctx.attempt() == 1 {
        return Err(TaskError::new("the gateway is away"));
    }
    Ok(cents + gateway.fee)
}

/// What is to be tested: the customer has ten minutes to call it off.
async fn place_order(order: u64) -> Result<(), EnqueueError> {
    charge::enqueue(order, 500).delay(Duration::from_secs(600)).await?;
    Ok(())
}

#[dtq::test]
async fn an_order_is_charged_after_ten_minutes(t: &TestApp) -> Result<(), EnqueueError> {
    t.state(Gateway { fee: 2 }); // for handlers with `#[state]`
    place_order(17).await?;
    let call = t.assert_enqueued::<charge>(|a| a.order == 17); // `a` has the arguments as fields
    assert_eq!(call.delay, Some(Duration::from_secs(600)));
    t.drain().await.assert_nothing_ran(); // not yet
    t.advance("10m").await;
    let drained = t.drain().await;
    drained.assert_all_succeeded();
    assert_eq!(drained.results::<charge>(), [502]);
    Ok(())
}

#[dtq::test]
async fn a_gateway_that_was_away_is_asked_again(t: &TestApp) {
    t.state(Gateway { fee: 2 });
    charge::enqueue(13, 500).await.unwrap();
    let drained = t.run_to_end().await; // moves the clock from retry to retry
    drained.assert_all_succeeded().assert_ran::<charge>(2);
}
