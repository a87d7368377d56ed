//! Notes when the machine itself stood still: a disk or a processor that others keep busy makes leases run out, too.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::inject::{Cause, Diary, Reach, Window};
use crate::ledger::{Micros, SECOND, now};
use crate::place::Place;

/// A quarter of a lease.
const LONG: Micros = SECOND / 2;
const PAUSE: Duration = Duration::from_millis(100);

/// Watches the disk, and the server, until the diary is gone.
pub(crate) fn watch(place: &Place, folder: &Path, diary: &Arc<Mutex<Diary>>) -> anyhow::Result<()> {
    let mut file = std::fs::File::create(folder.join("probe"))?;
    let sync = move || drop(file.write_all(b"x").and_then(|()| file.sync_data()));
    repeat(diary, "disk", sync)?;
    if place.redis().is_some() {
        let server = redis::Client::open(place.url(None))?;
        let mut connection = None;
        repeat(diary, "server", move || connection = ping(&server, connection.take()))?;
    }
    Ok(())
}

/// Asks the server for a sign of life. One that is down answers nothing at once: that is a restart's own window.
fn ping(server: &redis::Client, connection: Option<redis::Connection>) -> Option<redis::Connection> {
    let mut connection = connection.or_else(|| server.get_connection_with_timeout(Duration::from_secs(5)).ok())?;
    redis::cmd("PING").exec(&mut connection).ok().map(|()| connection)
}

fn repeat(diary: &Arc<Mutex<Diary>>, what: &str, mut probe: impl FnMut() + Send + 'static) -> std::io::Result<()> {
    let diary = Arc::downgrade(diary);
    let watch = move || {
        while let Some(diary) = diary.upgrade() {
            let from = now();
            probe();
            // Waking late counts as well.
            std::thread::sleep(PAUSE);
            let to = now();
            if to.saturating_sub(from) > LONG + 100_000 {
                let window = Window { cause: Cause::Stall, reach: Reach::All, from, to };
                diary.lock().unwrap_or_else(PoisonError::into_inner).windows.push(window);
            }
        }
    };
    std::thread::Builder::new().name(what.into()).spawn(watch).map(drop)
}
