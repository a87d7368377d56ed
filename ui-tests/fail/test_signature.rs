use dtq::prelude::*;

#[dtq::test]
async fn opaque(_: &TestApp) -> impl Sized {}

#[dtq::test]
async fn never(_: &TestApp) -> ! {
    panic!()
}

#[dtq::test]
async fn marked(#[state] _t: &TestApp) {}

fn main() {}
