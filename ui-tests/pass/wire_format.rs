//! A payload is a JSON object by argument name, `{}` when there are none.
#[dtq::task]
async fn nothing() {}
#[dtq::task]
async fn some(order: u64, note: Option<String>, pair: (u8, bool)) {
    let _ = (order, note, pair);
}

#[test]
fn works() {
    assert_eq!(serde_json::to_string(&nothing {}).unwrap(), "{}");
    let some = some { order: 1, note: None, pair: (2, true) };
    assert_eq!(serde_json::to_string(&some).unwrap(), r#"{"order":1,"note":null,"pair":[2,true]}"#);
    serde_json::from_str::<nothing>("{}").unwrap();
    assert!(serde_json::from_str::<nothing>("null").is_err());
}
