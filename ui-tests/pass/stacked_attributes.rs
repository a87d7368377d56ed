//! Other attribute macros above and below.

#[dtq::task]
#[expect(unused_variables)]
async fn expected(n: u8) {}

#[rustfmt::skip]
#[dtq::task]
#[allow(unused, reason = "a test")]
#[track_caller]
fn skipped(n: u8)  { let x = 1; }

#[test]
fn works() {
    drop((expected::call(1), skipped::call(1)));
}
