struct Charger;

impl Charger {
    #[dtq::task(queue = "a b")]
    async fn charge(&self, order: u64) -> u64 {
        order
    }
}

fn main() {
    drop(Charger.charge(1));
}
