//! `#[arg(default)]` takes the place of what is missing, not of what is wrong.
#[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)]
struct Level(u8);

impl Default for Level {
    fn default() -> Self {
        Self(7)
    }
}

#[dtq::task]
async fn charge(#[arg(default)] level: Level, #[arg(default)] notes: Vec<String>, order: u64) {
    let _ = (level, notes, order);
}

#[test]
fn works() {
    let read = crate::read::<charge>;
    let old = read(r#"{"order":1}"#).unwrap();
    assert_eq!((old.level, old.notes.len(), old.order), (Level(7), 0, 1));
    assert!(read(r#"{"order":1,"level":"x"}"#).is_err_and(|error| error.to_string().contains("argument `level`")));
    assert!(read("{}").is_err_and(|error| error.to_string().contains("missing field `order`")));
}
