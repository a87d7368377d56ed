//! Conditions on state and context, twice on one parameter, with documentation, in a plain function.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
fn charge(
    #[cfg(any())] ctx: &Context,
    #[cfg(not(any()))]
    #[state]
    db: &String,
    #[cfg(any())]
    #[state]
    cache: &Missing,
    /// The order.
    #[cfg(not(any()))]
    #[cfg_attr(all(), cfg(not(any())))]
    order: u64,
    #[cfg_attr(all(), cfg_attr(all(), arg(default)))] note: String,
) -> usize {
    let _ = order;
    db.len() + note.len()
}

#[test]
fn works() {
    assert_eq!((charge::STATE.len(), charge::DEF.arguments), (1, &["order", "note"][..]));
    assert_eq!(charge(&"ab".to_owned(), 1, "c".to_owned()), 3);
    assert_eq!(crate::read::<charge>(r#"{"order":1}"#).unwrap().note, "");
}
