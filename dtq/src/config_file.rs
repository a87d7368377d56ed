//! dtq.toml: settings that programs of one folder share, producers and workers alike.

use std::path::{Path, PathBuf};

use serde::Deserialize;

const FILE: &str = "dtq.toml";

/// What dtq.toml may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ConfigFile {
    url: Option<String>,
    pub(crate) queues: Option<Vec<String>>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) prefetch: Option<usize>,
    pub(crate) lease: Option<String>,
    pub(crate) drain_timeout: Option<String>,
    pub(crate) cancel_grace: Option<String>,
    pub(crate) subscribe_url: Option<String>,
    pub(crate) ready_threshold: Option<String>,
    pub(crate) ready_file: Option<PathBuf>,
    pub(crate) log_format: Option<String>,
}

impl ConfigFile {
    /// The store's URL; an empty one is none.
    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| !url.is_empty())
    }

    /// Reads the named file, or dtq.toml if there is one; gives the path with it.
    ///
    /// # Errors
    /// When it cannot be read or holds what is not known.
    pub(crate) fn read(named: Option<&Path>) -> Result<(Self, PathBuf), String> {
        let path = named.unwrap_or(Path::new(FILE)).to_path_buf();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((Self::default(), path));
            }
            Err(error) => return Err(format!("the settings file {} cannot be read: {error}", path.display())),
        };
        // The parser's message shows the line; a line with a URL may hold a password, so only its own words are kept.
        let file = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            format!("the settings file {}, line {line}: {}", path.display(), error.message())
        })?;
        Ok((file, path))
    }
}
