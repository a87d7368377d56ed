//! What the macros accept, refuse, and say. See `../README.md`.

#[test]
fn accepted() {
    trybuild::TestCases::new().pass("pass/*.rs");
}

#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}
