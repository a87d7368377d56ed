//! A payload is a JSON object by argument name, `{}` when there are none.
#[dtq::task]
async fn nothing() {}
#[dtq::task]
async fn some(order: u64, note: Option<String>, pair: (u8, bool)) {
    let _ = (order, note, pair);
}

#[test]
fn works() {
    assert_eq!(crate::written(&nothing {}).unwrap(), "{}");
    let some = some { order: 1, note: None, pair: (2, true) };
    assert_eq!(crate::written(&some).unwrap(), r#"{"order":1,"note":null,"pair":[2,true]}"#);
    crate::read::<nothing>("{}").unwrap();
    assert!(crate::read::<nothing>("null").is_err());
}
