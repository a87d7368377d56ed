//! `r#` is not part of any stored name.
#![deny(warnings)]
use dtq::Task;

#[dtq::task(crate = "::dtq")]
async fn r#match(r#type: String, #[arg(alias = "fn")] r#struct: u8) -> String {
    let _ = r#struct;
    r#type
}

#[test]
fn works() {
    assert_eq!(r#match::DEF.name, "match");
    assert_eq!(r#match::DEF.arguments, &["type", "struct"]);
    drop(r#match::call("x".into(), 1));
    let arguments = r#match { r#type: "x".into(), r#struct: 1 };
    assert_eq!(arguments.r#type.len() + usize::from(arguments.r#struct), 2);
}
