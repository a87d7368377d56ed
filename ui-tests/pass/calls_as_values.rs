//! Calls are values: kept, stored in collections, passed to generic functions, looked into.
#![deny(warnings)]
use dtq::prelude::*;
use std::time::Duration;

#[dtq::task]
async fn charge(order: u64, note: String) {
    let _ = (order, note);
}

fn urgent<T: Task>(call: Call<T>) -> Call<T> {
    call.priority(9)
}
fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn works() {
    let calls: Vec<Call<charge>> = (0..3).map(|n| urgent(charge::call(n, String::new()))).collect();
    assert_eq!(calls.iter().map(|call| call.args().order).sum::<u64>(), 3);
    let call = charge::call(1, "x".into()).queue("other").delay(Duration::from_secs(1)).ttl(Duration::from_secs(5));
    let call = is_send(call.max_attempts(2).timeout(Duration::from_secs(1)));
    assert!(format!("{call:?}").contains("charge"));
    drop(is_send(charge::enqueue(1, "x".into()).into_future()));
    let fields = charge { order: 3, note: "y".into() };
    let charge { order, note } = fields;
    drop(Call::new(charge { order, note }));
}
