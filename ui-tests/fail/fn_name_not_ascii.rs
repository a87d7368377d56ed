#[dtq::task]
async fn größe(order: u64) {
    let _ = order;
}

#[dtq::task]
async fn a_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on() {}

fn main() {
    drop(größe::call(1));
}
