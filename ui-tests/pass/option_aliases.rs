//! `aliases = [..]`.
use dtq::prelude::*;

#[dtq::task(aliases = ["old", "billing:older"])]
async fn charge() {}
#[dtq::task(name = "refund.v2", aliases = ["refund",])]
async fn refund() {}
#[dtq::task]
async fn plain() {}

#[test]
fn works() {
    assert_eq!((charge::DEF.name, charge::DEF.aliases), ("charge", &["old", "billing:older"][..]));
    assert_eq!((refund::DEF.name, refund::DEF.aliases), ("refund.v2", &["refund"][..]));
    assert!(plain::DEF.aliases.is_empty());
}
