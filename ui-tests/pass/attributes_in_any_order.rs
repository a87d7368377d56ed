//! Attributes above, below and between, on functions and parameters, with `cfg_attr` around them.
#![deny(warnings)]
#[allow(unused_variables)]
#[dtq::task]
#[must_use = "a number"]
async fn above_and_below(order: u64) -> u64 {
    1
}
#[cfg_attr(all(), dtq::task(queue = "x"))]
async fn by_cfg_attr() {}
#[dtq::task]
#[cfg_attr(all(), must_use, inline)]
#[cfg_attr(any(), deprecated)]
fn conditional() -> u8 {
    1
}
#[expect(unused_mut, reason = "shown")]
#[dtq::task(priority = 1)]
#[doc(alias = "bill")]
async fn lint(#[expect(unused_variables)] order: u64, mut n: u8) {
    let _ = n;
}

#[test]
fn works() {
    use dtq::Task;
    assert_eq!(by_cfg_attr::DEF.queue, "x");
    drop((above_and_below::call(1), lint::call(1, 2), lint(1, 2)));
    let (_, _) = (conditional(), conditional::call());
}
