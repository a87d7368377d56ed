//! Servers that are set up in a way users should hear of, and secrets that nobody should.

use std::time::Duration;

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::store::{OnceEnd, Store, StoreError};
use dtq::types::{Lease, TaskId};
use dtq_tests::{RedisServer, promptly, queue, task, want};

fn store(url: &str) -> RedisStore {
    RedisStore::connect(url, RedisOptions::default()).unwrap()
}

#[tokio::test]
async fn raw_keys_a_server_that_may_evict_tasks_is_refused() {
    for policy in ["allkeys-lru", "allkeys-random", "allkeys-lfu"] {
        let server = RedisServer::start_with(&["--maxmemory-policy", policy]).await;
        let error = store(&server.url()).probe().await.unwrap_err();
        assert!(matches!(error, StoreError::Unusable { .. }) && !error.is_transient(), "{error:?}");
        assert!(error.to_string().contains(policy) && error.to_string().contains("noeviction"), "{error}");
        let options = RedisOptions { allow_eviction: true, ..RedisOptions::default() };
        let warnings = RedisStore::connect(&server.url(), options).unwrap().probe().await.unwrap();
        assert!(warnings.iter().any(|warning| warning.0.contains(policy)), "{warnings:?}");
    }
}

#[tokio::test]
async fn raw_keys_a_server_that_evicts_only_what_expires_is_accepted() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "volatile-lru"]).await;
    store(&server.url()).probe().await.unwrap();
}

#[tokio::test]
async fn raw_keys_a_server_without_persistence_is_warned_of() {
    let server = RedisServer::start().await;
    let warnings = store(&server.url()).probe().await.unwrap();
    assert!(warnings.iter().any(|warning| warning.0.contains("appendonly")), "{warnings:?}");
}

#[tokio::test]
async fn raw_keys_a_user_without_admin_rights_can_work() {
    let server = RedisServer::start().await;
    let words = ["ACL", "SETUSER", "small", "on", ">pw", "~dtq:*", "&dtq:*", "+@all", "-@dangerous", "-@admin"];
    let _: () = server.command(&words);
    let store = store(&server.url_as("small:pw"));
    let warnings = store.probe().await.unwrap();
    assert!(!warnings.is_empty(), "the settings cannot be seen, which is worth a warning");
    store.enqueue(vec![task("a").build()]).await.unwrap();
    assert_eq!(store.claim(want(1)).await.unwrap().deliveries.len(), 1);
}

#[tokio::test]
async fn raw_keys_the_password_is_in_no_error() {
    const SECRET: &str = "hunter2-secret";
    let server = RedisServer::start_with(&["--requirepass", "another"]).await;
    let mut errors = Vec::new();
    for who in [format!(":{SECRET}"), format!("user:{SECRET}")] {
        errors.push(store(&server.url_as(&who)).probe().await.unwrap_err());
    }
    let url = server.url_as(&format!(":{SECRET}"));
    drop(server);
    let gone = store(&url);
    errors.push(promptly("the call gives up", gone.probe()).await.unwrap_err());
    errors.push(promptly("the call gives up", gone.enqueue(vec![task("a").build()])).await.unwrap_err());
    for url in [
        format!("redis://:{SECRET}@"),
        format!("redis://:{SECRET}@host:notaport/"),
        format!("redis://:{SECRET}@host/notadatabase"),
        format!("http://:{SECRET}@host/"),
        format!("redis://:{SECRET}@ho st/"),
    ] {
        errors.extend(RedisStore::connect(&url, RedisOptions::default()).err());
    }
    assert!(errors.len() >= 6, "only {} errors", errors.len());
    for error in errors {
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
    }
}

#[tokio::test]
async fn raw_keys_a_wrong_password_is_final_and_the_right_one_works() {
    let server = RedisServer::start_with(&["--requirepass", "open sesame"]).await;
    let error = store(&server.url()).probe().await.unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    let right = store(&server.url_as(":open%20sesame"));
    right.probe().await.unwrap();
    assert!(right.enqueue(vec![task("a").build()]).await.unwrap()[0].created);
}

#[tokio::test]
async fn raw_keys_a_debug_print_of_the_store_shows_no_password() {
    let store = store("redis://user:hunter2-secret@localhost/");
    assert!(!format!("{store:?}").contains("hunter2-secret"));
}

#[tokio::test]
async fn raw_keys_a_missing_password_is_never_the_fault_of_a_long_call() {
    let server = RedisServer::start_with(&["--requirepass", "open sesame"]).await;
    let store = store(&server.url());
    let lease = Lease { task: TaskId::generate(queue("default")), attempt: 1, token: String::new() };
    // Too many words for a server that does not know who speaks.
    let end = OnceEnd { lease, key: "k".into(), run: 1, done: Some(("1".into(), Duration::from_secs(60))) };
    let error = store.end_once(end).await.unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    assert!(error.to_string().contains("it asks for a password"), "{error}");
}
