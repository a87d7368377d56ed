mod tasks {
    #[dtq::task]
    async fn charge(order: u64) {
        let _ = order;
    }
}

fn main() {
    drop(tasks::charge::call(1));
}
