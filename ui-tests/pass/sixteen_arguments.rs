//! More arguments than traits are implemented for.
#![deny(warnings)]
#[dtq::task]
#[allow(clippy::too_many_arguments)]
async fn many(
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    e: u8,
    f: u8,
    g: u8,
    h: u8,
    i: u8,
    j: u8,
    k: u8,
    l: u8,
    m: u8,
    n: u8,
    o: u8,
    p: u8,
    q: String,
) -> String {
    let _ = (a, b, c, d, e, f, g, h, i, j, k);
    let _ = (l, m, n, o, p);
    q
}

#[test]
fn works() {
    drop(many::call(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, String::new()));
    drop(many::enqueue_many([(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, String::new())]));
}
