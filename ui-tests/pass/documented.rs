//! Documentation of functions and arguments in every form; undocumented ones in private places.
#![deny(warnings, missing_docs, rustdoc::all)]
/// Documented.
pub mod tasks {
    /** Charges, in a block comment. */
    #[dtq::task]
    pub async fn block(
        /** The order. */
        order: u64,
    ) {
        let _ = order;
    }
    #[doc = concat!("Made", " up")]
    #[dtq::task]
    pub async fn computed(#[doc = "The order."] order: u64, undocumented: u8) {
        let _ = (order, undocumented);
    }
    /// ```
    /// assert!(true);
    /// ```
    #[dtq::task]
    pub async fn example_first() {}
    ///
    /// After an empty line.
    #[dtq::task]
    pub async fn empty_first() {}
}

#[test]
fn works() {
    drop((
        tasks::block::call(1),
        tasks::computed::call(1, 2),
        tasks::example_first::call(),
        tasks::empty_first::call(),
    ));
}
