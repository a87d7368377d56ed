//! What the user silenced for the function stays silent in what is made of it; unused arguments of public tasks are no fault.
#![deny(warnings, clippy::pedantic)]
#![allow(clippy::unused_async)]

#[allow(clippy::type_complexity, clippy::needless_pass_by_value)]
#[dtq::task]
pub async fn allowed(
    list: Vec<(Option<Vec<(u8, String, Option<Vec<u8>>)>>, Result<Vec<Option<Vec<u8>>>, String>)>,
) -> usize {
    list.len()
}

#[dtq::task]
#[expect(clippy::type_complexity, reason = "this is what comes from the other side")]
pub async fn expected(
    list: Vec<(Option<Vec<(u8, String, Option<Vec<u8>>)>>, Result<Vec<Option<Vec<u8>>>, String>)>,
) -> usize {
    list.len()
}

#[dtq::task]
pub async fn unused(order: u64, _note: u8, __more: u8) -> u64 {
    order
}

#[dtq::task(
    idempotency_key = "{_order}",
    unique(key = "{_order}", period = "10m", on_conflict = "replace"),
    concurrency = 2
)]
pub async fn unused_in_keys(_order: u64) {}

#[test]
fn they_are_tasks() {
    assert_eq!(unused::call(1, 2, 3).args().order, 1);
    let _ = (allowed::call(Vec::new()), expected::call(Vec::new()), unused_in_keys::call(1));
}
