//! Docs, other attributes above and below, deprecation, parameter docs and lint levels.
#![deny(warnings, missing_docs)]

/// A module.
pub mod tasks {
    /// Charges one order.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(1, 1);
    /// ```
    #[allow(clippy::needless_pass_by_value)]
    #[dtq::task]
    #[must_use]
    #[inline]
    pub async fn charge(
        /// The order.
        order: u64,
        #[allow(unused_variables)] note: String,
    ) -> u64 {
        order
    }

    #[doc(hidden)]
    #[dtq::task]
    #[cold]
    pub fn hidden() {}

    /// Old.
    #[dtq::task]
    #[deprecated = "use charge"]
    pub async fn old(order: u64) {
        let _ = order;
    }

    /// Older.
    #[deprecated(since = "1.0.0", note = "use charge")]
    #[dtq::task]
    #[cfg_attr(all(), allow(unused_mut), doc = "More.")]
    pub async fn older(mut order: u64) {
        let _ = order;
    }
}

#[test]
fn works() {
    drop(tasks::charge::call(1, String::new()));
    #[allow(deprecated)]
    drop((tasks::old::call(1), tasks::older(2)));
}
