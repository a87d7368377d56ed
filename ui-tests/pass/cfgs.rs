//! A function that is configured away takes everything with it.
#![deny(warnings)]

struct NotThere;
#[cfg(any())]
#[dtq::task]
async fn above(x: Missing) {}
#[dtq::task]
#[cfg(any())]
async fn below(x: Missing) {}
#[dtq::task]
#[cfg_attr(all(), cfg(any()), deprecated)]
async fn by_attr(x: Missing) {}
#[dtq::task]
#[cfg_attr(all(), cfg_attr(all(), cfg(any())))]
async fn nested(x: Missing) {}
#[dtq::task]
#[cfg(not(any()))]
async fn kept() {}
#[dtq::task]
#[cfg_attr(any(), cfg(any()))]
async fn kept_too() {}

#[cfg(not(any()))]
#[dtq::task]
async fn one_of_two() {}
#[cfg(any())]
#[dtq::task]
async fn one_of_two(x: Missing) {}
#[dtq::task]
#[cfg(any())]
async fn two(x: Missing) {}
#[dtq::task]
#[cfg(not(any()))]
async fn two() {}

mod above {}
struct Below;

#[test]
fn works() {
    let _ = (NotThere, Below);
    drop((kept::call(), kept_too::call(), one_of_two::call(), two::call()));
}
