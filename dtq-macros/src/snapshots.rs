//! Generated code as people would read it, held against files.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proc_macro2::TokenStream;

/// What a macro generates beside the user's function, formatted as this repository is.
pub(crate) fn expanded(
    attribute: fn(TokenStream, &TokenStream) -> TokenStream,
    options: &str,
    function: &str,
) -> String {
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let all = formatted(&attribute(tokens(options), &tokens(function)).to_string());
    let (_, generated) = all.split_once("{}\n").unwrap();
    // Documentation is for people's editors: written as they would write it.
    generated
        .replace("#[doc = \"\\n", "///\n/// ")
        .replace("#[doc = \" ", "/// ")
        .replace("#[doc = \"", "/// ")
        .replace("\"]\n", "\n")
        // rustfmt leaves alone what stands in a macro's braces.
        .replace(" (impl :: core", "\n    (impl :: core")
        .replace(" call = \"", "\n    call = \"")
        .replace(", enqueue = \"", ",\n    enqueue = \"")
        .replace(", enqueue_many = \"", ",\n    enqueue_many = \"")
        .replace("calls! { ", "calls! {\n    ")
        .replace(", }", ",\n}")
}

fn formatted(code: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--config-path"]).arg(folder);
    let mut rustfmt = rustfmt.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    rustfmt.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Holds the expansion against the file, or writes it (`SNAPSHOTS=overwrite`).
pub(crate) fn matches(name: &str, code: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
    if std::env::var("SNAPSHOTS").is_ok_and(|what| what == "overwrite") {
        std::fs::write(&file, code).unwrap();
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(stored == code, "{name} differs (SNAPSHOTS=overwrite accepts it):\n{code}");
}

/// Lines that are compiled: without documentation.
pub(crate) fn lines_of_code(code: &str) -> usize {
    code.lines().filter(|line| !line.trim_start().starts_with("///") && !line.trim().is_empty()).count()
}
