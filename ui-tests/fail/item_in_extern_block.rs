unsafe extern "C" {
    #[dtq::task]
    fn charge(order: u64);
}

fn main() {}
