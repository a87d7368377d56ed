use dtq::prelude::*;

async fn advances(t: &dtq::TestApp) {
    t.advance(10).await;
}

fn main() {}
