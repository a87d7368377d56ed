//! The attribute macros of dtq. Their documentation is in the `dtq` crate, which re-exports them.
//!
//! Each macro goes through the same stages, one file each: `parse` (tokens to raw types of our own), `validate` (raw
//! types to valid ones, gathering every error), `expand` (valid types to code; cannot fail) and `fallback` (what is
//! emitted beside the errors, so that the rest of the user's crate stays free of red).

mod duration;
mod entries;
mod errors;
mod fallback;
mod function;
mod main_attr;
mod parse;
#[cfg(test)]
mod snapshots;
mod soften;
mod subscriber;
mod suggest;
mod task;
mod test_attr;
mod values;

use proc_macro::TokenStream;

/// Makes a function a task. See `dtq::task`.
#[proc_macro_attribute]
pub fn task(args: TokenStream, item: TokenStream) -> TokenStream {
    task::task(args.into(), &item.into()).into()
}

/// Makes a function a handler of messages that dtq did not write. See `dtq::subscriber`.
#[proc_macro_attribute]
pub fn subscriber(args: TokenStream, item: TokenStream) -> TokenStream {
    subscriber::subscriber(args.into(), &item.into()).into()
}

/// Makes a set-up function a whole worker program. See `dtq::main`.
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    main_attr::main(args.into(), &item.into()).into()
}

/// Makes a function a test of tasks. See `dtq::test`.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    test_attr::test(args.into(), &item.into()).into()
}
