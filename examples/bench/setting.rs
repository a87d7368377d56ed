//! A fresh store to measure.

use std::path::PathBuf;
use std::sync::Arc;

use dtq::Client;
use dtq::store::Store;
use dtq::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use dtq_examples::{Appendonly, RedisServer};

use crate::floor::Floor;
use crate::slow_line::SlowLine;
use crate::usage::Usage;
use crate::{Args, Persistence, StoreKind};

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
                let synchronous = match args.persistence {
                    Persistence::Always => Synchronous::Full,
                    _ => Synchronous::Normal,
                };
                let options = SqliteOptions { synchronous, ..SqliteOptions::default() };
                let store = Arc::new(SqliteStore::open(folder.path().join(FILE), options)?);
                Ok(Self::Sqlite { folder, store })
            }
            StoreKind::Redis => {
                let server = RedisServer::start(match args.persistence {
                    Persistence::None => Appendonly::No,
                    Persistence::Everysec => Appendonly::Everysec,
                    Persistence::Always => Appendonly::Always,
                })?;
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
            Self::Sqlite { folder, .. } => format!("sqlite:{}", folder.path().join(FILE).display()),
        }
    }

    /// What the store has used so far.
    pub(crate) fn usage(&self) -> anyhow::Result<Usage> {
        match self {
            Self::Redis { server, .. } => Usage::of(server),
            Self::Sqlite { folder, .. } => {
                let size = |file: PathBuf| std::fs::metadata(file).map_or(0, |about| about.len());
                let file = folder.path().join(FILE);
                Ok(Usage { bytes: size(file.clone()) + size(file.with_extension("db-wal")), server: None })
            }
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

const FILE: &str = "bench.db";
