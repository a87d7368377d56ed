//! `#[arg(..)]`: what a stored payload may lack and may be called.
use dtq::prelude::*;

#[dtq::task]
async fn charge(
    #[arg(alias = "order_id", alias = "id")] order: u64,
    #[arg(default)] note: String,
    #[arg(default, alias = "amount")] cents: u64,
    maybe: Option<u8>,
) {
    let _ = (order, note, cents, maybe);
}

#[test]
fn works() {
    fn read<T: Task>(json: &str) -> T {
        crate::read(json).unwrap()
    }
    let old: charge = read(r#"{"order_id":17,"amount":5}"#);
    assert_eq!((old.order, old.note.as_str(), old.cents, old.maybe), (17, "", 5, None));
    let new: charge = read(r#"{"order":18,"note":"x","cents":6,"maybe":1,"more":[]}"#);
    assert_eq!((new.order, new.note.as_str(), new.cents, new.maybe), (18, "x", 6, Some(1)));
}
