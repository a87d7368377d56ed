//! A fresh store to measure.

use std::path::Path;
use std::sync::Arc;

use dtq::Client;
use dtq::store::Store;
use dtq::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use dtq_examples::{Appendonly, RedisServer};

use crate::floor::Floor;
use crate::options::{Args, Persistence, StoreKind};
use crate::slow_line::SlowLine;
use crate::usage::Usage;

/// A store of its own, empty.
pub(crate) enum Setting {
    Sqlite { folder: tempfile::TempDir, store: Arc<dyn Store> },
    Redis { server: RedisServer, line: Option<SlowLine> },
}

impl Setting {
    pub(crate) fn new(args: &Args) -> anyhow::Result<Self> {
        match args.store {
            StoreKind::Sqlite => {
                let folder = tempfile::tempdir()?;
                let store = Arc::new(open(args, &folder.path().join(FILE))?);
                Ok(Self::Sqlite { folder, store })
            }
            StoreKind::Redis => {
                let server = RedisServer::start(match args.persistence {
                    Persistence::None => Appendonly::No,
                    Persistence::Everysec => Appendonly::Everysec,
                    Persistence::Always => Appendonly::Always,
                })?;
                // When a rewrite falls due is chance: it would be in the figures of one run and not of the next.
                let never = ["SET", "auto-aof-rewrite-percentage", "0"];
                redis::cmd("CONFIG").arg(&never).exec(&mut server.connection()?)?;
                let delay = std::time::Duration::from_secs_f64(args.round_trip / 2000.0);
                let line = (!delay.is_zero()).then(|| SlowLine::to(server.port(), delay)).transpose()?;
                Ok(Self::Redis { server, line })
            }
        }
    }

    /// A client with connections of its own.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Ok(match self {
            Self::Sqlite { store, .. } => Client::with_store(store.clone()),
            Self::Redis { .. } => Client::connect(&self.url())?,
        })
    }

    fn url(&self) -> String {
        match self {
            Self::Redis { line: Some(line), .. } => format!("redis://127.0.0.1:{}", line.port()),
            Self::Redis { server, .. } => server.url(),
            Self::Sqlite { .. } => format!("sqlite:{}", self.place()),
        }
    }

    /// What [`connect`] in another process needs to know.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Redis { .. } => self.url(),
            Self::Sqlite { folder, .. } => folder.path().join(FILE).to_string_lossy().into_owned(),
        }
    }

    /// What the store has used so far.
    pub(crate) fn usage(&self) -> anyhow::Result<Usage> {
        match self {
            Self::Redis { server, .. } => Usage::of(server),
            Self::Sqlite { folder, .. } => Usage::of_file(&folder.path().join(FILE)),
        }
    }

    /// What the stream commands cost by themselves; the server is empty afterwards.
    pub(crate) async fn floor(&self, args: &Args) -> anyhow::Result<Option<Floor>> {
        let Self::Redis { server, .. } = self else { return Ok(None) };
        let floor = Floor::measure(server, &self.url(), args).await?;
        redis::cmd("FLUSHALL").exec(&mut server.connection()?)?;
        Ok(Some(floor))
    }
}

/// A client of a store that another process set up.
pub(crate) fn connect(args: &Args, place: &str) -> anyhow::Result<Client> {
    Ok(match args.store {
        StoreKind::Sqlite => Client::with_store(Arc::new(open(args, Path::new(place))?)),
        StoreKind::Redis => Client::connect(place)?,
    })
}

fn open(args: &Args, file: &Path) -> anyhow::Result<SqliteStore> {
    let synchronous = match args.persistence {
        Persistence::Always => Synchronous::Full,
        Persistence::Everysec | Persistence::None => Synchronous::Normal,
    };
    Ok(SqliteStore::open(file, SqliteOptions { synchronous, ..SqliteOptions::default() })?)
}

const FILE: &str = "bench.db";
