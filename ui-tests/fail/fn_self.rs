struct Charger;

impl Charger {
    #[dtq::task]
    async fn charge(&self, order: u64) {
        let _ = (self, order);
    }

    #[dtq::task]
    async fn consume(self: Box<Self>) {
        let _ = self;
    }
}

fn main() {}
