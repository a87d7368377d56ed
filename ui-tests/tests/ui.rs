//! What the macros accept as whole programs, and what they refuse and say. See `../README.md`.

#[test]
fn accepted() {
    trybuild::TestCases::new().pass("programs/*.rs");
}

#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}

/// A file that is no module of `pass/main.rs` would test nothing.
#[test]
fn every_case_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/pass");
    let cases = std::fs::read_to_string(format!("{folder}/main.rs")).unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = format!("mod {};", name.trim_end_matches(".rs"));
        assert!(name == "main.rs" || cases.contains(&module), "pass/main.rs lacks `{module}`");
    }
}
