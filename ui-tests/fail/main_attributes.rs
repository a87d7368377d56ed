use dtq::prelude::*;

#[dtq::main]
#[tokio::main]
async fn main(#[state] app: &mut App) {
    let _ = app;
}
