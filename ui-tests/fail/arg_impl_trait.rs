#[dtq::task]
async fn charge(order: impl Into<u64>, all: Vec<impl Send>) {
    let _ = (order, all);
}

fn main() {}
