//! Durations in every unit, for `timeout`, `ttl` and `retention`.
use dtq::prelude::*;
use std::time::Duration;

#[dtq::task(timeout = "250ms", ttl = "1d2h3m4s5ms", retention = "0s")]
async fn all_units() {}
#[dtq::task(timeout = "1h", ttl = "1h")]
async fn timeout_as_long_as_ttl() {}
#[dtq::task(ttl = "36525d")]
async fn a_century() {}

#[test]
fn works() {
    let def = all_units::DEF;
    assert_eq!((def.timeout, def.retention), (Some(Duration::from_millis(250)), Duration::ZERO));
    assert_eq!(def.ttl, Some(Duration::from_millis(93_784_005)));
    assert_eq!(timeout_as_long_as_ttl::DEF.timeout, timeout_as_long_as_ttl::DEF.ttl);
    assert_eq!(a_century::DEF.ttl, Some(Duration::from_secs(36_525 * 86_400)));
}
