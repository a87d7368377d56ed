//! `#[dtq::task]`.

pub(crate) mod backoff;
mod conditions;
mod cron;
pub(crate) mod expand;
mod fallback;
mod keyed;
mod keys;
mod name;
mod options;
pub(crate) mod params;
mod returns;
mod schedule;
mod stored;
mod template;
pub(crate) mod types;
mod validate;
mod zones;

use proc_macro2::TokenStream;
use quote::quote;

use self::options::Options;
use crate::errors::Errors;
use crate::function::Function;
use crate::parse;

pub(crate) fn task(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let raw = parse::parse(args, item, "#[dtq::task]", &mut errors);
    let Some(function) = raw.function else {
        return parse::untouched(item, errors);
    };
    let options = options::validate(&raw.settings, &mut errors);
    let versions = conditions::versions(function, &mut errors);
    let sound = errors.is_empty();
    let tasks = versions.into_iter().map(|function| version(function, options.clone(), sound));
    let tasks: TokenStream = tasks.collect();
    let errors = errors.into_tokens();
    quote!(#errors #tasks)
}

/// One version of the function; `sound` tells that nothing was wrong so far.
fn version(function: Function, options: Options, sound: bool) -> TokenStream {
    let mut errors = Errors::default();
    let krate = options.krate.clone();
    match validate::validate(function, options, &mut errors) {
        Ok(task) if sound && errors.is_empty() => expand::expand(&task),
        Ok(task) => fallback::unregistered(&task, errors),
        Err(function) => fallback::stub(*function, krate.as_ref(), errors),
    }
}
