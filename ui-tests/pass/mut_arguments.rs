//! `mut` and leading underscores; no warning of an unused `mut`.
#![deny(warnings)]
#[dtq::task]
async fn count(mut n: u32, _unused: String, mut list: Vec<u32>) -> u32 {
    n += 1;
    list.push(n);
    n
}
#[dtq::task]
fn plain(mut n: u32) -> u32 {
    n += 1;
    n
}

#[test]
fn works() {
    drop(count::call(1, String::new(), vec![]));
    assert_eq!(plain(1), 2);
}
