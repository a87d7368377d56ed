//! The store that is broken: a server or a file of this run's own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dtq::Client;
use dtq_examples::{Appendonly, RedisServer};

use crate::args::{Options, Persistence, StoreKind};
use crate::worker;

/// What a power failure takes in the emulation: `appendfsync everysec` syncs what is older.
const UNSYNCED: Duration = Duration::from_secs(1);
/// How often the size of the log is noted.
const SAMPLE: Duration = Duration::from_millis(10);

/// The store.
#[derive(Clone)]
pub(crate) enum Place {
    Redis(Arc<Redis>),
    Sqlite { file: PathBuf, normal: bool },
}

pub(crate) struct Redis {
    server: Mutex<RedisServer>,
    pub(crate) port: u16,
    url: String,
    persistence: Persistence,
    power_loss: bool,
    sizes: Arc<Mutex<Sizes>>,
}

/// The sizes that the append-only file had, oldest first.
#[derive(Default)]
struct Sizes(Vec<(Instant, u64)>);

impl Place {
    pub(crate) fn open(options: &Options, folder: &Path) -> anyhow::Result<Self> {
        let persistence = options.persistence();
        match options.store {
            StoreKind::Sqlite => {
                Ok(Self::Sqlite { file: folder.join("chaos.db"), normal: persistence == Persistence::Normal })
            }
            StoreKind::Redis => Ok(Self::Redis(Arc::new(Redis::start(persistence, options.power_loss)?))),
        }
    }

    /// A client that no fault stands before.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        worker::open(&self.url(None), self.is_normal())
    }

    /// The address, through a proxy on that port if there is one.
    pub(crate) fn url(&self, proxy: Option<u16>) -> String {
        match (self, proxy) {
            (Self::Redis(_), Some(port)) => format!("redis://127.0.0.1:{port}"),
            (Self::Redis(redis), None) => redis.url.clone(),
            (Self::Sqlite { file, .. }, _) => format!("sqlite:{}", file.display()),
        }
    }

    pub(crate) fn is_normal(&self) -> bool {
        matches!(self, Self::Sqlite { normal: true, .. })
    }

    pub(crate) fn redis(&self) -> Option<&Arc<Redis>> {
        match self {
            Self::Redis(redis) => Some(redis),
            Self::Sqlite { .. } => None,
        }
    }
}

impl Redis {
    fn start(persistence: Persistence, power_loss: bool) -> anyhow::Result<Self> {
        let appendonly = match persistence {
            Persistence::Everysec => Appendonly::Everysec,
            Persistence::None => Appendonly::No,
            _ => Appendonly::Always,
        };
        let server = RedisServer::start(appendonly)?;
        let (port, url, sizes) = (server.port(), server.url(), Arc::default());
        if power_loss {
            write_one_log(&server)?;
            note_sizes(server.folder().to_owned(), Arc::downgrade(&sizes))?;
        }
        Ok(Self { server: Mutex::new(server), port, url, persistence, power_loss, sizes })
    }

    /// Kills the server, waits, and starts it again on its files. Blocks. Gives the bytes that were dropped.
    pub(crate) fn restart(&self, down: Duration) -> anyhow::Result<u64> {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.kill()?;
        let dropped = self.drop_unsynced(server.folder())?;
        std::thread::sleep(down);
        server.start_again()?;
        if self.power_loss {
            write_one_log(&server)?;
        }
        Ok(dropped)
    }

    /// With `always` everything that was answered is synced, and without AOF nothing is there to be dropped.
    fn drop_unsynced(&self, folder: &Path) -> anyhow::Result<u64> {
        if !self.power_loss || self.persistence != Persistence::Everysec {
            return Ok(0);
        }
        let Some(log) = log_of(folder) else { return Ok(0) };
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, synced) = (std::fs::metadata(&log)?.len(), sizes.before(UNSYNCED));
        std::fs::OpenOptions::new().write(true).open(&log)?.set_len(synced.min(all))?;
        sizes.0.clear();
        Ok(all.saturating_sub(synced))
    }

    /// A connection that no fault stands before.
    pub(crate) fn connection(&self) -> anyhow::Result<redis::Connection> {
        let client = redis::Client::open(self.url.as_str())?;
        Ok(client.get_connection_with_timeout(Duration::from_secs(5))?)
    }
}

impl Sizes {
    /// The size that it had so long ago.
    fn before(&self, ago: Duration) -> u64 {
        let old = self.0.iter().rev().find(|(at, _)| at.elapsed() >= ago);
        old.or(self.0.first()).map_or(0, |(_, size)| *size)
    }
}

/// A rewrite of the append-only file would move its tail to another one.
fn write_one_log(server: &RedisServer) -> anyhow::Result<()> {
    let command = ["SET", "auto-aof-rewrite-percentage", "0"];
    Ok(redis::cmd("CONFIG").arg(&command).exec(&mut server.connection()?)?)
}

/// The append-only file that is written now.
fn log_of(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder.join("appendonlydir")).ok()?;
    let mut logs: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    logs.retain(|path| path.to_string_lossy().ends_with(".incr.aof"));
    logs.sort();
    logs.pop()
}

/// Notes the sizes until nobody wants them any more.
fn note_sizes(folder: PathBuf, sizes: std::sync::Weak<Mutex<Sizes>>) -> std::io::Result<()> {
    let note = move || {
        while let Some(sizes) = sizes.upgrade() {
            let size = log_of(&folder).and_then(|log| std::fs::metadata(log).ok()).map(|meta| meta.len());
            let mut sizes = sizes.lock().unwrap_or_else(PoisonError::into_inner);
            sizes.0.extend(size.map(|size| (Instant::now(), size)));
            drop(sizes);
            std::thread::sleep(SAMPLE);
        }
    };
    std::thread::Builder::new().name("sizes".into()).spawn(note).map(drop)
}
