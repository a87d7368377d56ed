//! Encoded arguments held against a task: what is said of those that do not fit.

use std::collections::BTreeMap;

use dtq::Task;
use dtq::registry::Registration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
struct Address {
    city: String,
}

/// Takes some of everything.
#[dtq::task]
fn payload_deliver(
    order: u64,
    to: Address,
    #[arg(alias = "hints")] notes: Vec<String>,
    gift: Option<bool>,
    #[arg(default)] weight: u8,
) {
    drop((order, to.city, notes, gift, weight));
}

/// Takes nothing.
#[dtq::task]
fn payload_sweep_up() {}

/// Takes anything, and what JSON's usual numbers cannot hold.
#[dtq::task]
fn payload_weigh(grams: u128, extra: Value, by_id: BTreeMap<u64, i8>) {
    drop((grams, extra, by_id));
}

fn says<T: Task>(payload: &str) -> String {
    Registration::of::<T>().check_payload(payload.as_bytes()).map_or_else(|error| error.to_string(), |()| "fits".into())
}

#[test]
fn what_a_worker_decodes_fits() {
    for payload in [
        r#"{"order":1,"to":{"city":"Ulm"},"notes":[]}"#,
        r#"{"order":1,"to":{"city":"Ulm"},"hints":["a"],"gift":true,"weight":2}"#,
        r#" { "gift": null, "notes": [], "to": {"city": "Ulm", "zip": 1}, "order": 1 } "#,
    ] {
        assert_eq!(says::<payload_deliver>(payload), "fits", "{payload}");
    }
    assert_eq!(says::<payload_sweep_up>("{}"), "fits");
    assert_eq!(
        says::<payload_weigh>(r#"{"grams":340282366920938463463374607431768211455,"extra":[],"by_id":{"7":-1}}"#),
        "fits"
    );
}

#[test]
fn what_does_not_fit_is_told_by_the_argument() {
    for (payload, words) in [
        (r#"{"order":1,"to":{"city":"Ulm"},"notez":[]}"#, "unknown argument `notez`: did you mean `notes`?"),
        (
            r#"{"order":1,"colour":1}"#,
            "unknown argument `colour`: the task takes `order`, `to`, `notes`, `gift`, `weight`",
        ),
        (r#"{"order":1,"notes":[]}"#, "the argument `to` is missing"),
        (r#"{"order":1}"#, "the argument `to` is missing"),
        ("{}", "the argument `order` is missing"),
        (
            r#"{"order":"1","to":{"city":"Ulm"},"notes":[]}"#,
            "the argument `order`: invalid type: string \"1\", expected u64",
        ),
        (r#"{"order":-1,"notes":[]}"#, "the argument `order`: invalid value: integer `-1`, expected u64"),
        (r#"{"order":1,"to":{},"notes":[]}"#, "the argument `to`: missing field `city`"),
        (
            r#"{"order":1,"to":{"city":1},"notes":[]}"#,
            "the argument `to`: invalid type: integer `1`, expected a string",
        ),
        (
            r#"{"to":{"city":"Ulm"},"order":1,"notes":[1]}"#,
            "the argument `notes`: invalid type: integer `1`, expected a string",
        ),
        (
            r#"{"order":1,"to":{"city":"Ulm"},"hints":{}}"#,
            "the argument `hints`: invalid type: map, expected a sequence",
        ),
        (
            r#"{"order":1,"to":{"city":"Ulm"},"notes":[],"weight":256}"#,
            "the argument `weight`: invalid value: integer `256`, expected u8",
        ),
        (
            r#"{"order":1,"to":{"city":"Ulm"},"notes":[],"hints":[]}"#,
            "the arguments do not decode: duplicate field `notes`",
        ),
    ] {
        assert_eq!(says::<payload_deliver>(payload), words, "{payload}");
    }
    assert_eq!(says::<payload_sweep_up>(r#"{"a":1}"#), "unknown argument `a`: the task takes none");
}

#[test]
fn what_is_no_object_is_told_with_an_example() {
    for payload in ["", "[1]", "17", "{\"order\":", "{} x"] {
        let words = says::<payload_deliver>(payload);
        assert!(words.contains(r#"such as {"order": .., "to": .., "notes": ..,"#), "{payload}: {words}");
    }
}

/// Takes numbers that may be none.
#[dtq::task]
fn payload_measure(grams: f64, others: Vec<Option<f32>>) {
    drop((grams, others));
}

#[tokio::test]
async fn numbers_that_json_cannot_hold_are_refused_by_the_argument() {
    let w = dtq_tests::World::sqlite().await;
    let client = dtq::Client::with_store(w.store());
    for (grams, others, words) in [
        (f64::NAN, vec![], "argument `grams`: NaN is not a number that JSON can hold"),
        (f64::NEG_INFINITY, vec![], "argument `grams`: -inf is not a number that JSON can hold"),
        (1.0, vec![None, Some(f32::INFINITY)], "argument `others`: inf is not a number that JSON can hold"),
    ] {
        let error = payload_measure::enqueue(grams, others).on(&client).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(client.queues().await.unwrap().is_empty(), "nothing was stored");
    let sent = payload_measure::enqueue(-0.0, vec![None, Some(1e-40)]).on(&client).await.unwrap();
    assert_eq!(w.record(sent.id()).await.payload, r#"{"grams":-0.0,"others":[null,1e-40]}"#);
}
