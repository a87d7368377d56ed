//! What is promised to the shop's customers.

use dtq::prelude::*;
use dtq::types::Status;

use crate::tasks::{Gateway, charge, mail, place};

#[dtq::test]
async fn an_order_is_charged_after_ten_minutes_and_a_receipt_mailed(t: &TestApp) {
    t.state(Gateway::default());
    place(17, 500).await.unwrap();
    t.assert_enqueued::<charge>(|a| a.order == 17 && a.cents == 500);
    t.drain().await.assert_nothing_ran();
    t.advance("10m").await;
    t.drain().await.assert_all_succeeded();
    t.assert_enqueued::<mail>(|a| a.order == 17 && a.receipt == "17: 500 cents");
}

#[dtq::test]
async fn an_order_can_be_called_off(t: &TestApp) -> Result<(), Box<dyn std::error::Error>> {
    t.state(Gateway::default());
    let order = place(17, 500).await?;
    t.advance("9m").await;
    t.client().cancel(&order, "changed my mind").await?;
    t.advance("1m").await;
    t.drain().await.assert_ran::<charge>(0);
    t.assert_not_enqueued::<mail>(|_| true);
    Ok(())
}

#[dtq::test]
async fn nobody_pays_twice(t: &TestApp) {
    t.state(Gateway::default());
    place(13, 500).await.unwrap();
    let drained = t.run_to_end().await;
    drained.assert_all_succeeded().assert_ran::<charge>(2);
    assert_eq!(drained.results::<charge>(), ["13: 500 cents"]);
}

#[dtq::test]
async fn a_refused_card_is_not_asked_again(t: &TestApp) {
    t.state(Gateway::refusing([7]));
    place(7, 500).await.unwrap();
    let drained = t.run_to_end().await;
    drained.assert_ran::<charge>(1);
    assert_eq!(drained.of::<charge>()[0].status, Status::DeadLettered);
    t.assert_not_enqueued::<mail>(|a| a.order == 7);
}
