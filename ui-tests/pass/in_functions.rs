//! Inside other functions, closures, blocks and consts, where two may share a name.
#![deny(warnings)]
fn first() {
    #[dtq::task(name = "first.step")]
    async fn step(a: u8) {
        let _ = a;
    }
    drop((step::call(1), step(1)));
}
fn second() {
    #[dtq::task(name = "second.step")]
    async fn step(a: String) -> String {
        a
    }
    let in_closure = || {
        #[dtq::task]
        fn deeper() {}
        drop(deeper::call());
    };
    in_closure();
    drop((step::call(String::new()), step(String::new())));
}
const _: () = {
    #[dtq::task]
    async fn in_const() {}
};

#[test]
fn works() {
    first();
    second();
}
