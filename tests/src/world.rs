//! What a check gets: a store with nothing in it, and its clock.

use std::sync::Arc;
use std::time::Duration;

use dtq::clock::{Clock, ManualClock};
use dtq::store::Store;
use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::store::sqlite::{SqliteOptions, SqliteStore};
use dtq::types::Timestamp;

use crate::{RedisServer, TempDir};

/// An empty store of a test's own, whose clock moves when told (on Redis real time passes too).
pub struct World {
    store: Arc<dyn Store>,
    home: Home,
}

enum Home {
    Sqlite { dir: TempDir, clock: ManualClock },
    Redis(RedisServer),
}

impl World {
    /// An embedded store in a temporary directory.
    pub async fn sqlite() -> Self {
        Self::at(Home::Sqlite { dir: TempDir::new(), clock: ManualClock::new() }).await
    }

    /// A store on a redis-server of its own.
    pub async fn redis() -> Self {
        Self::on(RedisServer::start().await).await
    }

    /// A store on a redis-server that was started with further arguments.
    pub async fn redis_with(arguments: &[&str]) -> Self {
        Self::on(RedisServer::start_with(arguments).await).await
    }

    /// A store on this server.
    pub async fn on(server: RedisServer) -> Self {
        Self::at(Home::Redis(server)).await
    }

    async fn at(home: Home) -> Self {
        let store = home.open().await;
        Self { store, home }
    }

    /// The store under test.
    pub fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// A second handle on the same data, as another process would have.
    pub async fn second_store(&self) -> Arc<dyn Store> {
        self.home.open().await
    }

    /// The same data after every handle of this world was dropped and a new one was opened.
    pub async fn reopened(self) -> Self {
        let Self { store, home } = self;
        drop(store);
        Self::at(home).await
    }

    /// The same store with nothing in it; its clock goes on.
    pub async fn emptied(self) -> Self {
        let Self { store, home } = self;
        drop(store);
        let home = match home {
            Home::Sqlite { clock, .. } => Home::Sqlite { dir: TempDir::new(), clock },
            Home::Redis(server) => {
                server.command::<()>(&["FLUSHALL"]);
                Home::Redis(server)
            }
        };
        Self::at(home).await
    }

    /// The instant that the store's clock shows.
    pub fn now(&self) -> Timestamp {
        match &self.home {
            Home::Sqlite { clock, .. } => clock.now(),
            Home::Redis(server) => {
                let (seconds, micros): (i64, i64) = server.command(&["TIME"]);
                Timestamp::from_millis(seconds * 1000 + micros / 1000)
            }
        }
    }

    /// Moves the store's clock forward.
    pub fn advance(&self, by: Duration) {
        match &self.home {
            Home::Sqlite { clock, .. } => clock.advance(by),
            Home::Redis(server) => server.advance(by),
        }
    }

    /// How far an instant or a duration may be off because real time passes: nothing on SQLite.
    pub fn slack(&self) -> Duration {
        match self.home {
            Home::Sqlite { .. } => Duration::ZERO,
            Home::Redis(_) => Duration::from_secs(10),
        }
    }

    /// Where another process finds the same data: a URL, or a path.
    pub fn place(&self) -> String {
        match &self.home {
            Home::Sqlite { .. } => self.file().to_string_lossy().into_owned(),
            Home::Redis(server) => server.url(),
        }
    }

    /// The server behind it.
    ///
    /// # Panics
    /// When this is not a Redis world.
    pub fn server(&self) -> &RedisServer {
        match &self.home {
            Home::Redis(server) => server,
            Home::Sqlite { .. } => panic!("this world has no redis-server"),
        }
    }

    /// The database file behind it.
    ///
    /// # Panics
    /// When this is not a SQLite world.
    pub fn file(&self) -> std::path::PathBuf {
        match &self.home {
            Home::Sqlite { dir, .. } => dir.path().join("dtq.db"),
            Home::Redis(_) => panic!("this world has no file"),
        }
    }
}

impl Home {
    async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite { dir, clock } => {
                let options = SqliteOptions { clock: Clock::Manual(clock.clone()), ..SqliteOptions::default() };
                Arc::new(SqliteStore::open(dir.path().join("dtq.db"), options).expect("open the file"))
            }
            Self::Redis(server) => {
                Arc::new(RedisStore::connect(&server.url(), RedisOptions::default()).expect("connect"))
            }
        }
    }
}
