//! Every visibility, used from where it reaches.
#![deny(warnings)]
mod outer {
    pub mod inner {
        #[dtq::task]
        pub async fn public(a: u8) {
            let _ = a;
        }
        #[dtq::task]
        pub(crate) async fn of_crate(a: u8) {
            let _ = a;
        }
        #[dtq::task]
        pub(super) async fn of_super(a: u8) {
            let _ = a;
        }
        #[dtq::task]
        pub(in crate::outer) async fn of_path(a: u8) {
            let _ = a;
        }
        #[dtq::task]
        async fn private(a: u8) {
            let _ = a;
        }
        pub fn use_private() -> u8 {
            drop(private::call(1));
            private { a: 1 }.a
        }
    }
    pub fn use_these() -> u8 {
        drop((inner::of_super::call(1), inner::of_path::call(1)));
        inner::of_super { a: 1 }.a + inner::of_path { a: 1 }.a
    }
}

fn main() {
    use outer::inner::{of_crate, public};
    drop((public::call(1), of_crate::call(1), public(1), of_crate(1)));
    assert_eq!(public { a: 2 }.a + of_crate { a: 2 }.a + outer::use_these() + outer::inner::use_private(), 7);
}
