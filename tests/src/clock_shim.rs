//! Moves the clock of a real redis-server, so that leases, due times and times to live can be tested without waiting.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

const SOURCE: &str = include_str!("clock_shim.c");

/// The movable part of one server's clock: an offset that `clock_shim.c`, preloaded into the server, reads from a file.
#[derive(Debug)]
pub struct ServerClock {
    file: PathBuf,
    offset_ms: AtomicI64,
}

impl ServerClock {
    /// A clock that shows the present, with its file in `dir`.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn new(dir: &Path) -> Self {
        let file = dir.join("clock-offset");
        std::fs::write(&file, 0_i64.to_ne_bytes()).expect("write the clock's offset");
        Self { file, offset_ms: AtomicI64::new(0) }
    }

    /// Adds what makes a server read this clock.
    pub fn preload_into(&self, command: &mut Command) {
        command.env("LD_PRELOAD", library()).env("DTQ_TEST_CLOCK", &self.file);
    }

    /// Moves the server's clock forward.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).expect("a duration that fits");
        let offset = self.offset_ms.fetch_add(by, Ordering::SeqCst) + by;
        // Written in place: the server maps this file, and a truncated map would kill it.
        let file = std::fs::OpenOptions::new().write(true).open(&self.file).expect("open the clock's file");
        file.write_all_at(&offset.to_ne_bytes(), 0).expect("write the clock's offset");
    }
}

/// The compiled shim, built once per source text and kept beside the test binary.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        SOURCE.hash(&mut hasher);
        let exe = std::env::current_exe().expect("the test binary's path");
        let library = exe.with_file_name(format!("libdtq_clock_shim_{:x}.so", hasher.finish()));
        if !library.exists() {
            compile(&library);
        }
        library
    })
}

/// Compiles to a name of its own and renames, so that two test processes never load a half-written library.
fn compile(library: &Path) {
    let unfinished = library.with_extension(format!("{}.tmp", std::process::id()));
    let mut compiler = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-x", "c", "-o"])
        .arg(&unfinished)
        .arg("-")
        .stdin(Stdio::piped())
        .spawn()
        .expect("start cc: the suite needs a C compiler for its clock");
    std::io::Write::write_all(&mut compiler.stdin.take().expect("its input"), SOURCE.as_bytes()).expect("write to cc");
    assert!(compiler.wait().expect("wait for cc").success(), "cc could not compile the clock shim");
    std::fs::rename(&unfinished, library).expect("put the clock shim in place");
}
