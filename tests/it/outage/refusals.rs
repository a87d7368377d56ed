//! Servers that answer and refuse. A task that fails keeps its attempts, one that succeeds is settled once, a producer is told
//! why and what to do.

use std::time::Duration;

use dtq_tests::{RedisServer, TempDir, eventually, lasting, task};

use super::{LASTING, Site, Use, assert_works, outages};
use crate::program::{Desk, PATIENCE};

/// A refusal: how it begins and ends, and what a producer hears.
struct Refusal<'a> {
    begins: &'a [&'a str],
    ends: &'a [&'a str],
    says: [&'a str; 2],
}

impl Refusal<'_> {
    /// Two tasks end while the server refuses; then it does so for a while longer.
    async fn outlive(&self, site: &Site) {
        let program = site.worker(&[]).await;
        let slow = site.desk.enqueue::<u32>("slow").await;
        let fails = site.desk.enqueue_with::<u32>("fails_twice", 3).await;
        site.desk.tells("started 1").await;
        site.desk.tells("attempt 1").await;
        let watch = Use::of(&program);
        let _: redis::Value = site.server.command(self.begins);
        assert_tells(&site.desk, self.says).await;
        site.desk.release();
        lasting(Duration::from_millis(1500)).await;
        // The outage, and two attempts that fail.
        watch.assert_calm(3);
        assert!(outages(&program) <= 1, "{}", program.log());
        let _: redis::Value = site.server.command(self.ends);
        assert_works(&site.desk, &program).await;
        assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
        assert_eq!(fails.result(PATIENCE).await.unwrap(), 3);
        let mut told = site.desk.told();
        told.sort();
        assert_eq!(told, ["attempt 1", "attempt 2", "attempt 3", "started 1"]);
    }
}

/// What somebody hears who enqueues now: the store, the server's word, and a remedy.
async fn assert_tells(desk: &Desk, [word, remedy]: [&str; 2]) {
    let error = desk.client.enqueue_raw(vec![task("quick").build()]).await.unwrap_err().to_string();
    for wanted in [word, remedy, "enqueue: the store at redis://127.0.0.1:", "the same id"] {
        assert!(error.contains(wanted), "{wanted:?} is not in: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn out_of_memory() {
    let says = ["OOM", "raise maxmemory"];
    let (begins, ends) = (&["CONFIG", "SET", "maxmemory", "1"], &["CONFIG", "SET", "maxmemory", "0"]);
    Refusal { begins, ends, says }.outlive(&Site::new().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only() {
    let says = ["READONLY", "point the URL at the primary"];
    let (begins, ends) = (&["REPLICAOF", "127.0.0.1", "1"], &["REPLICAOF", "NO", "ONE"]);
    Refusal { begins, ends, says }.outlive(&Site::new().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_few_replicas() {
    let says = ["NOREPLICAS", "min-replicas-to-write"];
    let setting = ["CONFIG", "SET", "min-replicas-to-write"];
    let (begins, ends) = ([&setting[..], &["1"]].concat(), [&setting[..], &["0"]].concat());
    Refusal { begins: &begins, ends: &ends, says }.outlive(&Site::new().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_cannot_be_written() {
    let data = TempDir::new();
    let site = Site::with(&["--save", "3600 1", "--dir", &data.path().to_string_lossy()]).await;
    let setting = ["CONFIG", "SET", "stop-writes-on-bgsave-error"];
    let (begins, ends) = ([&setting[..], &["yes"]].concat(), [&setting[..], &["no"]].concat());
    let _: () = site.server.command(&ends);
    std::fs::remove_dir_all(data.path()).unwrap();
    let _: redis::Value = site.server.command(&["BGSAVE"]);
    eventually("the save fails", || async { site.server.log().contains("Background saving error").then_some(()) })
        .await;
    Refusal { begins: &begins, ends: &ends, says: ["MISCONF", "free disk space"] }.outlive(&site).await;
}

/// A script that runs for so long, and the server's patience with it.
async fn busy(server: &RedisServer, seconds: u64) -> tokio::task::JoinHandle<()> {
    let _: () = server.command(&["CONFIG", "SET", "busy-reply-threshold", "50"]);
    let url = server.url();
    tokio::task::spawn_blocking(move || {
        let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        let script =
            "local t = redis.call('TIME') while redis.call('TIME')[1] - t[1] < tonumber(ARGV[1]) do end return 1";
        redis::cmd("EVAL").arg(script).arg(0).arg(seconds).query::<i64>(&mut connection).unwrap();
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_script() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let watch = Use::of(&program);
    let script = busy(&site.server, 2).await;
    eventually("the server is busy", || async { site.server.try_command::<String>(&["PING"]).err() }).await;
    assert_tells(&site.desk, ["BUSY", "SCRIPT KILL"]).await;
    site.desk.release();
    script.await.unwrap();
    assert_works(&site.desk, &program).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    program.logs("the store works again", 1).await;
    watch.assert_calm(2);
    assert_eq!(site.desk.told(), ["started 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn loading() {
    let slowly = ["--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"];
    let debug = ["--enable-debug-command", "local"];
    let mut site = Site::with(&[&LASTING[..], &slowly, &debug].concat()).await;
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let _: () = site.server.command(&["DEBUG", "POPULATE", "2500"]);
    let _: redis::Value = site.server.command(&["BGREWRITEAOF"]);
    eventually("the file is written anew", || async {
        site.server.log().contains("AOF rewrite finished successfully").then_some(())
    })
    .await;
    let watch = Use::of(&program);
    site.server.kill();
    site.desk.release();
    site.server.begin_again();
    eventually("it tells that it reads its data", || async {
        let error = site.server.try_command::<String>(&["PING"]).err()?;
        (error.code() == Some("LOADING") || error.to_string().contains("LOADING")).then_some(())
    })
    .await;
    assert_tells(&site.desk, ["LOADING", "ends by itself"]).await;
    eventually("it has loaded", || async { site.server.try_command::<String>(&["PING"]).ok() }).await;
    assert_works(&site.desk, &program).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    program.logs("the store works again", 1).await;
    watch.assert_calm(2);
    assert_eq!((site.desk.told(), outages(&program)), (vec!["started 1".to_owned()], 1), "{}", program.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_connections() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let watch = Use::of(&program);
    // This one stays; it takes the place that is left.
    let mut operator = redis::Client::open(site.server.url()).unwrap().get_connection().unwrap();
    let mut limit = |clients: u32| {
        redis::cmd("CONFIG").arg("SET").arg("maxclients").arg(clients).query::<()>(&mut operator).unwrap();
    };
    limit(1);
    site.proxy.cut();
    let producer = Desk::at(site.server.url());
    eventually("the limit is reached", || async { producer.client.queues().await.err() }).await;
    let error = producer.client.enqueue_raw(vec![task("quick").build()]).await.unwrap_err().to_string();
    assert!(error.contains("maxclients") && error.contains("the same id"), "{error}");
    lasting(Duration::from_millis(1500)).await;
    watch.assert_calm(1);
    limit(100);
    assert_works(&site.desk, &program).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_with_few_rights_works_without_trouble() {
    let mut site = Site::new().await;
    let rights = ["ACL", "SETUSER", "small", "on", ">pw", "~dtq:*", "&dtq:*", "+@all", "-@dangerous", "-@admin"];
    let _: () = site.server.command(&rights);
    site.desk.url = site.proxy.url().replace("redis://", "redis://small:pw@");
    let program = site.worker(&[]).await;
    let fails = site.desk.enqueue_with::<u32>("fails_twice", 3).await;
    site.desk.release();
    assert_eq!(fails.result(PATIENCE).await.unwrap(), 3);
    assert_eq!(outages(&program), 0, "{}", program.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_was_changed_and_changed_back() {
    let mut site = Site::new().await;
    let _: () = site.server.command(&["ACL", "SETUSER", "w", "on", ">before", "~*", "&*", "+@all"]);
    site.desk.url = site.proxy.url().replace("redis://", "redis://w:before@");
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let watch = Use::of(&program);
    let _: () = site.server.command(&["ACL", "SETUSER", "w", "resetpass", ">after"]);
    site.proxy.cut();
    site.desk.release();
    program.logs("check the user and the password in the URL", 1).await;
    lasting(Duration::from_millis(1500)).await;
    // The broken connection, and why no new one can be made.
    watch.assert_calm(2);
    let _: () = site.server.command(&["ACL", "SETUSER", "w", "resetpass", ">before"]);
    assert_works(&site.desk, &program).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    assert_eq!(site.desk.told(), ["started 1"]);
    assert!(!program.log().contains("before"), "{}", program.log());
}
