//! `idempotency_key` and `unique`: templates over arguments of many types, and every setting of both.
#![deny(warnings)]
use std::fmt;
use std::time::Duration;

use dtq::prelude::*;
use dtq::{Idempotency, OnConflict, Unique, Until};

#[derive(serde::Serialize, serde::Deserialize)]
struct OrderId(u64);

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "o{}", self.0)
    }
}

#[dtq::task(idempotency_key = "order-{order}", unique = "order-{order}")]
async fn both(order: OrderId, cents: u64) {
    let _ = (order.0, cents);
}
#[dtq::task(idempotency_key(key = "{a}/{b}", keep = "1h"))]
fn kept(a: String, b: i8) {
    let _ = (a, b);
}
#[dtq::task(unique(key = "{{{r#type}}}", until = "started", on_conflict = "replace",))]
async fn started(ctx: &Context, r#type: char) {
    let _ = (ctx, r#type);
}
#[dtq::task(unique(period = "10m", on_conflict = "reschedule", key = "all"))]
async fn everything() {}
#[dtq::task(unique(key = "{until}{key}{__key}", until = "finished", on_conflict = "error"))]
async fn odd_names(until: u8, key: u8, __key: u8) {
    let _ = (until, key, __key);
}
macro_rules! keyed {
    ($name:ident, $template:expr, $arg:ident) => {
        #[dtq::task(unique = $template)]
        async fn $name($arg: u8) {
            let _ = $arg;
        }
    };
}
keyed!(made, "n-{n}", n);
#[dtq::task]
async fn neither() {}

#[test]
fn works() {
    let call = both::call(OrderId(17), 500);
    assert_eq!(call.args().idempotency(), Some(Idempotency::new("order-o17")));
    assert_eq!(call.args().unique(), Some(Unique::new("order-o17")));
    assert_eq!((both::DEF.idempotency_key, both::DEF.unique), (Some("order-{order}"), Some("order-{order}")));
    let kept = kept::call("x".into(), -3);
    let hour = Duration::from_secs(3600);
    assert_eq!(kept.args().idempotency(), Some(Idempotency::new("x/-3").keep(hour)));
    let started = Unique::new("{é}").until(Until::Started).on_conflict(OnConflict::Replace);
    assert_eq!(started::call('é').args().unique(), Some(started));
    let period = Until::Period(Duration::from_secs(600));
    let everything = Unique::new("all").until(period).on_conflict(OnConflict::Reschedule);
    assert_eq!(everything::call().args().unique(), Some(everything));
    let odd = Unique::new("123").on_conflict(OnConflict::Error);
    assert_eq!(odd_names::call(1, 2, 3).args().unique(), Some(odd));
    assert_eq!(made::call(7).args().unique(), Some(Unique::new("n-7")));
    assert_eq!((neither::call().args().idempotency(), neither::call().args().unique()), (None, None));
}
