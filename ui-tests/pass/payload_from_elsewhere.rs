//! What other languages send: any order, unknown fields, nested objects, numbers at their limits, escapes.
use std::collections::BTreeMap;

#[dtq::task]
async fn charge(a: u64, b: i128, c: f64, d: BTreeMap<String, Vec<Option<bool>>>, e: Option<String>, f: char) {
    let _ = (a, b, c, d, e, f);
}

#[test]
fn works() {
    let read: charge = crate::read(
        r#" { "f" : "é", "d":{"k":[true,null]}, "more": {"x":[1,{"y":2}]}, "c": 1e3,
              "b": -170141183460469231731687303715884105728, "a": 18446744073709551615 } "#,
    )
    .unwrap();
    assert_eq!((read.a, read.b, read.c, read.e, read.f), (u64::MAX, i128::MIN, 1000.0, None, 'é'));
    assert_eq!(read.d["k"], [Some(true), None]);
    let value = serde_json::json!({"a":1,"b":2,"c":3,"d":{},"e":"x","f":"f"});
    let read: charge = crate::read(&value.to_string()).unwrap();
    assert_eq!(read.e.as_deref(), Some("x"));
    for wrong in ["[1,2]", "null", "7", r#"{"a":"1"}"#, r#"{"a":-1}"#, "{"] {
        assert!(crate::read::<charge>(wrong).is_err(), "{wrong}");
    }
}
