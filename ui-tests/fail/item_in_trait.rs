trait Charger {
    #[dtq::task]
    async fn charge(order: u64) {
        let _ = order;
    }
}

fn main() {}
