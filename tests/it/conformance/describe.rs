//! What a store says of itself.

use std::time::Duration;

use dtq_tests::World;

pub(crate) async fn it_tells_what_it_is_and_its_version(w: &World) {
    let store = w.store().describe().await.unwrap();
    assert!(["SQLite", "Redis", "Valkey"].contains(&store.product), "{store:?}");
    assert!(store.version.starts_with(|first: char| first.is_ascii_digit()), "{store:?}");
    assert!(!store.settings.is_empty() && store.settings.iter().all(|(_, value)| !value.is_empty()), "{store:?}");
}

pub(crate) async fn its_clock_is_the_one_that_it_decides_by(w: &World) {
    let before = w.store().describe().await.unwrap().now;
    w.advance(Duration::from_secs(3600));
    let after = w.store().describe().await.unwrap().now;
    w.assert_passed(after.since(before), Duration::from_secs(3600));
}

checks!(describe: it_tells_what_it_is_and_its_version, its_clock_is_the_one_that_it_decides_by);
