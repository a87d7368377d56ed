use dtq::prelude::*;

#[dtq::subscriber(stream("orders").group("billing"))]
struct NoFunction;

async fn plain(_: String) {}

struct Handlers;

fn main() {
    let mut app = App::new();
    app.subscribe::<Handlers>();
    let _ = plain;
}
