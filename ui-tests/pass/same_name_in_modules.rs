//! Two functions of one name compile; whether a worker takes them is for the registry, so one has a name of its own.
mod a {
    #[dtq::task]
    pub async fn sync() {}
}
mod b {
    #[dtq::task(name = "b.sync")]
    pub async fn sync(x: u8) {
        let _ = x;
    }
}

#[test]
fn works() {
    use dtq::Task;
    drop((a::sync::call(), b::sync::call(1)));
    assert_eq!((a::sync::DEF.name, b::sync::DEF.name), ("sync", "b.sync"));
    assert!(a::sync::DEF.module.ends_with("::a"));
}
