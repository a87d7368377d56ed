//! One `use` brings the function and its type; a glob and a re-export do, too.
#![deny(warnings)]
mod tasks {
    #[dtq::task]
    pub async fn charge(order: u64) {
        let _ = order;
    }
}
mod prelude {
    pub use crate::tasks::charge;
}
mod glob {
    use crate::prelude::*;
    pub fn both() {
        drop((charge(1), charge::call(1)));
    }
}
use tasks::charge;

fn main() {
    drop((charge(1), charge::call(1)));
    glob::both();
}
