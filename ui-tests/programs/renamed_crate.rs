//! dtq under another path: a string, a path, a facade; there is no other way to it in sight.
use dtq_ui_tests::deep::queue as q;

mod tasks {
    #[dtq_ui_tests::dtq::task(crate = "::dtq_ui_tests::dtq")]
    pub async fn by_string(a: u8) {
        let _ = a;
    }
    #[crate::q::task(crate = ::dtq_ui_tests::deep::queue)]
    pub async fn by_path(#[arg(default)] a: u8) {
        let _ = a;
    }
    #[crate::q::task(crate = crate::q, backoff = fixed("1s"))]
    pub fn by_crate() {}
}

fn main() {
    drop((tasks::by_string::call(1), tasks::by_path::call(1), tasks::by_crate::call()));
}
