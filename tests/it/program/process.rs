//! A process with a folder and a log of its own.

use std::cell::RefCell;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use dtq_tests::{TempDir, eventually};

/// A running program; killed (with signal 9) when dropped.
pub(crate) struct Program {
    child: RefCell<Child>,
    dir: TempDir,
}

impl Program {
    /// The worker program of these tests, with nothing of the test's own environment.
    pub(crate) fn command(arguments: &[&str]) -> Command {
        Self::command_of(env!("CARGO_BIN_EXE_e2e_worker"), arguments)
    }

    /// Any program, with nothing of the test's own environment.
    pub(crate) fn command_of(path: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(path);
        command.args(arguments).env_clear().stdin(Stdio::null());
        command
    }

    /// Starts a program in a folder of its own, where its log goes, too.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_in(TempDir::new(), command)
    }

    /// Starts a program in this folder.
    pub(crate) fn start_in(dir: TempDir, command: &mut Command) -> Self {
        let log = std::fs::File::create(dir.path().join("log")).unwrap();
        command.current_dir(dir.path()).stdout(log.try_clone().unwrap()).stderr(log);
        Self { child: RefCell::new(command.spawn().unwrap()), dir }
    }

    /// Everything it wrote.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// Writes an empty file into its folder.
    pub(crate) fn touch(&self, name: &str) {
        std::fs::write(self.dir.path().join(name), "").unwrap();
    }

    /// What stands in a file of its folder; nothing when there is none.
    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }

    /// Its log lines that contain this.
    pub(crate) fn lines(&self, words: &str) -> Vec<String> {
        self.log().lines().filter(|line| line.contains(words)).map(str::to_owned).collect()
    }

    /// Waits until so many log lines contain this.
    pub(crate) async fn logs(&self, words: &str, times: usize) {
        let seen = || async { (self.lines(words).len() >= times).then_some(()) };
        eventually(&format!("the log says {words:?} {times} times"), seen).await;
    }

    /// The processor time it has used so far.
    pub(crate) fn cpu(&self) -> Duration {
        let id = self.child.borrow().id();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        // The name, in brackets, may hold anything; the fields after it are numbered from 3 on.
        let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        let ticks: u64 = [14, 15].map(|field: usize| fields[field - 3].parse::<u64>().unwrap()).iter().sum();
        // Linux shows these in hundredths of a second, on every machine.
        Duration::from_millis(ticks * 10)
    }

    /// Sends it a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.borrow().id().to_string()]).status();
        assert!(status.unwrap().success(), "kill -s {name} failed");
    }

    /// Kills it with signal 9.
    pub(crate) fn kill(self) {
        self.child.borrow_mut().kill().unwrap();
        self.child.borrow_mut().wait().unwrap();
    }

    /// True when it has ended.
    pub(crate) fn ended(&self) -> bool {
        self.child.borrow_mut().try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    async fn status(&self) -> ExitStatus {
        let look = || std::future::ready(self.child.borrow_mut().try_wait().unwrap());
        eventually("the program ends", look).await
    }

    /// Waits for its end: the exit code (none when a signal ended it), and how long that took from now.
    pub(crate) async fn exits(&self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        (self.status().await.code(), began.elapsed())
    }

    /// Sends a signal again and again until it has ended, as somebody impatient does: one that comes right after another
    /// counts as the same wish.
    pub(crate) async fn exits_when_told_again(&self, signal: &str) -> (Option<i32>, Duration) {
        let began = Instant::now();
        let status = eventually("the program ends", || async {
            self.signal(signal);
            self.child.borrow_mut().try_wait().unwrap()
        });
        (status.await.code(), began.elapsed())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
        if std::thread::panicking() {
            let id = child.id();
            eprintln!("log of process {id}:\n{}", self.log());
        }
    }
}

/// How a program ended that was let run to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a program to its end, in the folder that the command names, else in an empty one.
pub(crate) fn run(command: &mut Command) -> Ended {
    let empty = TempDir::new();
    if command.get_current_dir().is_none() {
        command.current_dir(empty.path());
    }
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
