//! The crates that are measured, and the workspace they stand in.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// What a crate is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Empty,
    /// Async functions, and a serde struct for the arguments of each.
    Functions,
    /// The same, and what runs them by name: arguments decoded, future boxed, result encoded.
    Dispatched,
    /// Tasks.
    Tasks,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Empty, Self::Functions, Self::Dispatched, Self::Tasks];

    /// The crate's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Functions => "functions",
            Self::Dispatched => "dispatched",
            Self::Tasks => "tasks",
        }
    }

    /// What it is, for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Empty => "an empty crate",
            Self::Functions => "async functions with serde argument structs",
            Self::Dispatched => "the same, and run by name",
            Self::Tasks => "tasks",
        }
    }

    fn source(self, count: usize) -> Result<String, std::fmt::Error> {
        let mut code = String::from("#![allow(dead_code)]\n");
        for n in 0..count {
            match self {
                Self::Empty => {}
                Self::Functions | Self::Dispatched => write!(code, "{}", FUNCTION.replace("{n}", &n.to_string()))?,
                Self::Tasks => write!(code, "{}", TASK.replace("{n}", &n.to_string()))?,
            }
        }
        if self == Self::Dispatched {
            code.push_str(DISPATCH);
            for n in 0..count {
                writeln!(
                    code,
                    "        \"task_{n}\" => run(payload, |args: Args{n}| task_{n}(args.order, args.note)),"
                )?;
            }
            code.push_str("        _ => return None,\n    })\n}\n");
        }
        Ok(code)
    }
}

const FUNCTION: &str = r#"
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Args{n} {
    pub order: u64,
    pub note: Option<String>,
}
pub async fn task_{n}(order: u64, note: Option<String>) -> Result<String, std::io::Error> {
    Ok(format!("{order} {note:?}"))
}
"#;

const TASK: &str = r#"
#[dtq::task]
pub async fn task_{n}(order: u64, note: Option<String>) -> Result<String, std::io::Error> {
    Ok(format!("{order} {note:?}"))
}
"#;

/// What one would write by hand to run functions by name, once; and the beginning of the table.
const DISPATCH: &str = r#"
type Running = std::pin::Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;
fn run<A, F, O>(payload: &[u8], function: impl FnOnce(A) -> F) -> Running
where
    A: serde::de::DeserializeOwned,
    F: Future<Output = Result<O, std::io::Error>> + Send + 'static,
    O: serde::Serialize,
{
    match serde_json::from_slice(payload) {
        Ok(args) => {
            let running = function(args);
            Box::pin(async move {
                let done = running.await.map_err(|error| error.to_string())?;
                serde_json::to_vec(&done).map_err(|error| error.to_string())
            })
        }
        Err(error) => Box::pin(std::future::ready(Err(error.to_string()))),
    }
}
pub fn dispatch(name: &str, payload: &[u8]) -> Option<Running> {
    Some(match name {
"#;

const MANIFEST: &str = r#"[package]
name = "{name}"
edition = "2024"
publish = false

[dependencies]
dtq.workspace = true
serde = { version = "1", features = ["derive"] }
serde_json = "1"
"#;

/// The crates in a workspace of their own.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Writes it under the build's folder, with the versions that dtq itself is locked to.
    pub(crate) fn lay_out(count: usize) -> anyhow::Result<Self> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("examples stand in the repository")?;
        let root = repository.join("target/compile-times");
        for kind in Kind::ALL {
            let folder = root.join(kind.name());
            fs::create_dir_all(folder.join("src"))?;
            fs::write(folder.join("Cargo.toml"), MANIFEST.replace("{name}", kind.name()))?;
            fs::write(folder.join("src/lib.rs"), kind.source(count)?)?;
        }
        let names = Kind::ALL.map(|kind| format!("{:?}", kind.name())).join(", ");
        let dtq = repository.join("dtq");
        let manifest = format!(
            "[workspace]\nresolver = \"3\"\nmembers = [{names}]\n\n[workspace.dependencies]\n\
             dtq = {{ path = {dtq:?}, default-features = false }}\n"
        );
        fs::write(root.join("Cargo.toml"), manifest)?;
        fs::copy(repository.join("Cargo.lock"), root.join("Cargo.lock"))?;
        Ok(Self { root })
    }

    /// Its folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}
