//! Where the stages put what is wrong, so that one build shows all of it.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

/// Errors of one item, in the order of their finding.
#[derive(Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
}

impl Errors {
    /// Adds an error under all of `tokens`, which must be the user's own.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error at one place.
    pub(crate) fn at_span(&mut self, span: Span, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new(span, message));
    }

    /// Adds an error of syn's parser.
    pub(crate) fn add(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The number of errors so far: tells whether a step has added one.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    /// One `compile_error!` each.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.found.iter().map(syn::Error::to_compile_error).collect()
    }

    /// The same under `cfgs`, the conditions of the item that the errors are about.
    pub(crate) fn into_tokens_under(self, cfgs: &[TokenStream]) -> TokenStream {
        // One error holds several `compile_error!` when syn has joined them.
        let errors = self.found.into_iter().flatten().map(|error| error.to_compile_error());
        errors.map(|error| quote!(#(#cfgs)* #error)).collect()
    }
}
