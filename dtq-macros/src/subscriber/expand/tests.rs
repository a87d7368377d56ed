//! The generated code as people would read it, and its length.

use crate::snapshots::{self, lines_of_code};

#[test]
fn a_full_subscriber_expands_to_less_than_forty_lines() {
    let code = snapshots::expanded(
        crate::subscriber::subscriber,
        r#"claiming("orders").group("billing").min_idle("60s").trim(), max_attempts = 5, dead_letter = "orders.dead", timeout = "30s""#,
        r"
        /// Books one order.
        pub async fn on_order(order: Json<Order>, meta: &Message, #[state] db: &Db) -> Result<Outcome, BookError> {}
        ",
    );
    snapshots::matches("subscriber/expand/full.expanded", &code);
    assert!(lines_of_code(&code) < 40, "{} lines:\n{code}", lines_of_code(&code));
}
