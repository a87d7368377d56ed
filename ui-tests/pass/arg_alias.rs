//! `#[arg(alias = ..)]`: several, with a default, never in what is written.
#[dtq::task]
async fn charge(
    #[arg(alias = "id")]
    #[arg(alias = "order id")]
    order: u64,
    #[arg(default, alias = "text")] note: String,
) {
    let _ = (order, note);
}

#[test]
fn works() {
    for json in [r#"{"order":1,"note":"x"}"#, r#"{"id":1,"text":"x"}"#, r#"{"order id":1,"note":"x"}"#] {
        let read: charge = crate::read(json).unwrap();
        assert_eq!((read.order, read.note.as_str()), (1, "x"));
        assert_eq!(crate::written(&read).unwrap(), r#"{"order":1,"note":"x"}"#);
    }
    let twice = crate::read::<charge>(r#"{"order":1,"id":2}"#);
    assert!(twice.is_err_and(|error| error.to_string().contains("duplicate field `order`")));
}
