use dtq::prelude::*;

#[dtq::subscriber(stream("orders").group("billing"))]
async fn a_result_nobody_asks_for(_: String) -> u64 {
    7
}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn no_error(_: String) -> Result<(), String> {
    Ok(())
}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn never(_: String) -> ! {
    std::process::abort()
}

#[dtq::subscriber(stream("orders").group("billing"))]
unsafe fn generic<T>(_: T) -> Outcome {
    Outcome::Ack(())
}

fn main() {}
