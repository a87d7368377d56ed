trait Charger {
    #[dtq::task]
    fn charge(&self, order: u64);
}

fn main() {}
