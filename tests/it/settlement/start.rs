//! What a worker says at its start that cannot work.

use std::time::Duration;

use dtq::types::{Channel, DelayedRetry, Form, ListForm, PubSubForm, StreamForm};
use dtq::{App, Client, SubscriberDef, Worker, WorkerConfig, WorkerError};

use super::bench::{Told, reliable, stream};
use super::{Bench, KEY};

fn started(
    url: Option<&str>,
    options: impl FnOnce(SubscriberDef) -> SubscriberDef,
    app: &mut App,
) -> Result<Worker, WorkerError> {
    app.only_registered().subscribe_with::<Told>(options);
    let config = WorkerConfig::new();
    let config = match url {
        Some(url) => config.subscribe_url(url),
        None => config,
    };
    Worker::new(Client::connect("sqlite::memory:").unwrap(), std::mem::take(app), config)
}

fn refused(url: Option<&str>, options: impl FnOnce(SubscriberDef) -> SubscriberDef) -> String {
    started(url, options, &mut App::new()).unwrap_err().to_string()
}

#[test]
fn list_and_channel_whose_handler_may_ask_for_a_retry_are_refused_at_start() {
    for form in [Form::List(ListForm::new(KEY)), Form::PubSub(PubSubForm::new(Channel::Exact(KEY)))] {
        let error = refused(Some("redis://127.0.0.1:1"), |def| def.form(form).asks(true));
        assert!(
            error.contains("\"told\"") && error.contains("dtq::Later") && error.contains("reliable_list"),
            "{error}"
        );
    }
}

#[test]
fn missing_state_names_subscriber_and_type() {
    let error = refused(Some("redis://127.0.0.1:1"), |def| def);
    assert!(error.contains("subscriber \"told\"") && error.contains("Probe"), "{error}");
}

#[test]
fn forms_that_claim_without_min_idle_are_refused_at_start() {
    for form in [Form::Claiming(StreamForm::new(KEY, "g")), Form::ReliableList(ListForm::new(KEY))] {
        let mut app = App::new();
        app.state(super::bench::Probe::new());
        let error = started(Some("redis://127.0.0.1:1"), |def| def.form(form), &mut app).unwrap_err().to_string();
        assert!(error.contains("needs min_idle"), "{error}");
    }
}

#[test]
fn dead_letters_that_would_be_read_again_are_refused_at_start() {
    let pubsub = |channel| Form::PubSub(PubSubForm::new(channel));
    for (form, dead) in [
        (stream(), KEY),
        (Form::List(ListForm::new(KEY)), KEY),
        (pubsub(Channel::Exact(KEY)), KEY),
        (pubsub(Channel::Pattern("news.*")), "news.dead"),
    ] {
        let mut app = App::new();
        app.state(super::bench::Probe::new());
        let wrong = started(Some("redis://127.0.0.1:1"), |def| def.form(form).dead_letter(dead), &mut app);
        let error = wrong.unwrap_err().to_string();
        assert!(error.contains("dead letters would be read again"), "{error}");
    }
}

#[test]
fn channel_whose_delayed_copies_are_to_be_durable_is_refused_at_start() {
    let mut app = App::new();
    app.state(super::bench::Probe::new());
    let channel = Form::PubSub(PubSubForm::new(Channel::Exact(KEY)));
    let durable = DelayedRetry::DurableZset { ttl: None };
    let wrong = started(Some("redis://127.0.0.1:1"), |def| def.form(channel).delayed_retry(durable), &mut app);
    let error = wrong.unwrap_err().to_string();
    assert!(error.contains("in_process"), "{error}");
}

#[test]
fn an_embedded_store_without_a_server_for_messages_names_the_remedy() {
    let mut app = App::new();
    app.state(super::bench::Probe::new());
    let error = started(None, |def| def, &mut app).unwrap_err().to_string();
    for remedy in
        ["--subscribe-url", "DTQ_SUBSCRIBE_URL", "dtq.toml", "WorkerConfig::subscribe_url", "stream \"orders\""]
    {
        assert!(error.contains(remedy), "{remedy}: {error}");
    }
}

/// A key of another kind is told of, and the worker goes on trying: somebody may mend it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_kind_keeps_the_worker_from_being_ready_until_it_is_gone() {
    for form in [stream(), reliable(Duration::from_secs(60))] {
        let bench = Bench::new().await;
        bench.server.command::<()>(&["SET", KEY, "text"]);
        let mut app = App::new();
        app.only_registered().state(bench.probe.clone()).subscribe_with::<Told>(|def| def.form(form));
        let config = WorkerConfig::new().subscribe_url(bench.server.url());
        let worker =
            Worker::new(Client::connect("sqlite::memory:").unwrap(), app, config).unwrap().start().await.unwrap();
        let readiness = worker.readiness();
        dtq_tests::lasting(Duration::from_millis(300)).await;
        assert!(!readiness.is_ready());
        bench.server.command::<()>(&["DEL", KEY]);
        dtq_tests::eventually("it reads", || async { readiness.is_ready().then_some(()) }).await;
        assert!(worker.stop().await.drained);
    }
}

/// No waiting mends a password; a server that is away comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_lets_nobody_in_is_refused_at_start_and_one_that_is_away_is_waited_for() {
    let guarded = Bench::of(dtq_tests::RedisServer::start_with(&["--requirepass", "right"]).await);
    let start = async |url: String| {
        let mut app = App::new();
        app.state(super::bench::Probe::new());
        started(Some(&url), |def| def, &mut app).unwrap().start().await
    };
    let error = start(guarded.server.url_as(":hunter2")).await.unwrap_err().to_string();
    assert!(error.contains("check the user and the password") && !error.contains("hunter2"), "{error}");
    let away = start("redis://127.0.0.1:1/".into()).await.unwrap();
    assert!(!away.readiness().is_ready());
    away.stop().await;
}

/// The store's own server is the one that is read, when nothing else is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_of_the_stores_own_server_is_acked() {
    let bench = Bench::new().await;
    let mut app = App::new();
    app.only_registered().state(bench.probe.clone()).subscribe_from::<Told>(stream());
    let client = Client::connect(&bench.server.url()).unwrap();
    let worker = Worker::new(client, app, WorkerConfig::new()).unwrap().start().await.unwrap();
    bench.append("ack");
    bench.told("ack #1").await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}
