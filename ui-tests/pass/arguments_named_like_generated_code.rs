//! Arguments may have any name, those of generated code's own variables too.
#![deny(warnings)]
#[dtq::task]
async fn charge(__to: u8, __payload: u8, __from: u8, __calls: u8, __returned: u8, self_: u8, r#fn: u8, dtq: u8) -> u8 {
    __to + __payload + __from + __calls + __returned + self_ + r#fn + dtq
}

#[test]
fn works() {
    drop(charge::enqueue_many([(1, 2, 3, 4, 5, 6, 7, 8)]));
    let json = crate::written(&charge {
        __to: 1,
        __payload: 2,
        __from: 3,
        __calls: 4,
        __returned: 5,
        self_: 6,
        r#fn: 7,
        dtq: 8,
    });
    assert_eq!(
        json.unwrap(),
        r#"{"__to":1,"__payload":2,"__from":3,"__calls":4,"__returned":5,"self_":6,"fn":7,"dtq":8}"#
    );
}
