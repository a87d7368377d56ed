//! Arrays whose length is a constant or an expression, and tuples in tuples.
#![deny(warnings)]
const LENGTH: usize = 4;

#[dtq::task]
async fn charge(block: [u8; LENGTH], pair: [(u8, [bool; 2]); 1 + 1], deep: ((u8,), ((), (u8, u8)))) -> usize {
    let _ = (pair, deep);
    block.len()
}

#[test]
fn works() {
    drop(charge::call([0; 4], [(1, [true, false]); 2], ((1,), ((), (2, 3)))));
}
