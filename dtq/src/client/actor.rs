//! Who acts, where nobody said so.

use std::path::Path;
use std::sync::{Arc, LazyLock};

static DEFAULT: LazyLock<Arc<str>> = LazyLock::new(|| {
    let named = std::env::var("DTQ_ACTOR").ok().filter(|name| !name.trim().is_empty());
    let program =
        || Path::new(&std::env::args_os().next()?).file_stem().map(|name| name.to_string_lossy().into_owned());
    named.or_else(program).unwrap_or_else(|| "unknown".into()).into()
});

/// What `DTQ_ACTOR` says, else the program's name.
pub(super) fn default() -> Arc<str> {
    DEFAULT.clone()
}
