//! Whole signatures out of macros: types, patterns with `mut`, blocks, visibilities, attributes, nested macros.
#![deny(warnings)]
macro_rules! make {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty $body:block) => {
        $(#[$meta])*
        #[dtq::task]
        $vis async fn $name($(mut $arg: $ty),*) -> $out {
            $(let _ = &mut $arg;)*
            $body
        }
    };
}
macro_rules! outer {
    ($($name:ident)*) => { $(make! {
        /// Made.
        #[must_use]
        pub(crate) fn $name(a: u8, b: Option<Vec<String>>) -> Result<u8, std::fmt::Error> { Ok(1) }
    })* };
}
outer!(first second);

#[test]
fn works() {
    drop((first::call(1, None), second::call(1, None), first(1, None)));
}
