//! A valid task to code. What is generated is calls; the logic is in `dtq::__private`.

use std::time::Duration;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, LitStr, Type};

use super::backoff::Backoff;
use super::keyed::keys;
use super::params::{self, Argument, Param};
use super::returns::{outcome, output};
use super::schedule::Schedule;
use super::stored::stored;
use super::validate::Task;
use crate::function::{self, Function};

/// The function, its type, and its registration.
pub(crate) fn expand(task: &Task) -> TokenStream {
    let defined = define(task);
    let private = private(task);
    let cfgs = function::cfgs(&task.function.attrs);
    let ident = function::quiet(&task.function.sig.ident);
    let calm = calm(task);
    quote! {
        #defined
        #private::register!(#(#cfgs)* #calm #ident);
    }
}

/// The function and its type.
pub(crate) fn define(task: &Task) -> TokenStream {
    let function = function::stripped(&task.function, params::is_ours);
    let (structure, implementation, calls) = (structure(task), implementation(task), calls(task));
    quote!(#function #structure #implementation #calls)
}

pub(super) fn private(task: &Task) -> TokenStream {
    function::private(task.options.krate.as_ref())
}

pub(super) fn arguments(task: &Task) -> Vec<&Argument> {
    let arguments = task.params.iter().filter_map(|param| match param {
        Param::Argument(argument) => Some(argument),
        _ => None,
    });
    arguments.collect()
}

/// Generated code uses a deprecated task; only its users shall be warned. And what the user allowed for the function holds
/// for what is made of its types.
pub(super) fn calm(task: &Task) -> TokenStream {
    let attrs = &task.function.attrs;
    let deprecated = function::attributes(attrs, &["deprecated"]);
    let deprecated = (!deprecated.is_empty()).then(|| quote!(#[allow(deprecated)]));
    let allowed = function::allowed(attrs);
    quote!(#deprecated #(#allowed)*)
}

fn structure(task: &Task) -> TokenStream {
    let Function { attrs, vis, sig, .. } = &task.function;
    let (ident, cfgs) = (function::quiet(&sig.ident), function::cfgs(attrs));
    let mut about = format!("The arguments of the task `{}`, and what enqueues it.", task.name);
    let (docs, deprecated) = (first_paragraph(attrs), function::attributes(attrs, &["deprecated"]));
    let allowed = function::allowed(attrs);
    if !docs.is_empty() {
        about.insert(0, '\n');
    }
    let fields = arguments(task).into_iter().map(|argument| field(argument, task));
    quote! {
        #(#docs)* #[doc = #about]
        #(#cfgs)* #(#deprecated)* #(#allowed)*
        #[allow(private_interfaces, clippy::pub_underscore_fields)]
        #vis struct #ident { #(#fields),* }
    }
}

fn field(argument: &Argument, task: &Task) -> TokenStream {
    let Argument { ident, ty, docs, .. } = argument;
    let vis = &task.function.vis;
    let name = function::quiet(ident);
    let about = format!("The argument `{}`.", ident.unraw());
    let about = docs.is_empty().then(|| quote!(#[doc = #about]));
    quote!(#about #(#docs)* #vis #name: #ty)
}

/// The user's documentation up to its first empty line: more would run its examples twice.
pub(crate) fn first_paragraph(attrs: &[Attribute]) -> Vec<&Attribute> {
    let docs = attrs.iter().filter(|attr| attr.path().is_ident("doc"));
    let text = |attr: &&Attribute| {
        params::doc_text(attr).is_some_and(|text| {
            let text = text.trim();
            !text.is_empty() && !text.starts_with("```")
        })
    };
    docs.take_while(text).collect()
}

fn implementation(task: &Task) -> TokenStream {
    let Function { attrs, sig, .. } = &task.function;
    let (private, ident, cfgs) = (private(task), function::quiet(&sig.ident), function::cfgs(attrs));
    let calm = calm(task);
    let (output, def, states, keys) = (output(task), def(task), states(task), keys(task));
    let (stored, handler) = (stored(task), handler(task));
    quote! {
        #(#cfgs)* #calm
        impl #private::Task for #ident {
            #output
            const DEF: #private::TaskDef = #def;
            #states
            #keys
            #stored
            #handler
        }
    }
}

fn def(task: &Task) -> TokenStream {
    let (private, options, name) = (private(task), &task.options, &task.name);
    let (old, names) = (&options.aliases, !options.aliases.is_empty());
    let aliases = names.then(|| quote!(.aliases(&[#(#old),*])));
    let queue = options.queue.as_ref().map(|queue| quote!(.queue(#queue)));
    let priority = options.priority.map(|level| quote!(.priority(#level)));
    let max_attempts = options.max_attempts.map(|count| quote!(.max_attempts(#count)));
    let durations = [("timeout", options.timeout), ("retention", options.retention), ("ttl", options.ttl)];
    let durations = durations.into_iter().filter_map(|(option, value)| {
        let (option, value) = (format_ident!("{option}"), millis(value?));
        Some(quote!(.#option(#private::millis(#value))))
    });
    let dead_letter = options.dead_letter.map(|kept| quote!(.dead_letter(#kept)));
    let concurrency = options.concurrency.map(|count| quote!(.concurrency(#count)));
    let backoff = options.backoff.as_ref().map(|backoff| self::backoff(backoff, &private));
    let idempotency_key = options.idempotency_key.as_ref().map(|key| {
        let template = key.template.literal.value();
        quote!(.idempotency_key(#template))
    });
    let unique = options.unique.as_ref().map(|key| {
        let template = key.template.literal.value();
        quote!(.unique(#template))
    });
    let schedule = schedule(&options.schedule, &private);
    let names = arguments(task).into_iter().map(|argument| argument.ident.unraw().to_string());
    let old: Vec<_> = arguments(task).into_iter().flat_map(|argument| &argument.aliases).collect();
    let argument_aliases = (!old.is_empty()).then(|| quote!(.argument_aliases(&[#(#old),*])));
    let blocking = task.function.sig.asyncness.is_none().then(|| quote!(.blocking()));
    let place = task.function.sig.ident.span();
    // With the span of the function's name, so that the line is the function's and not the attribute's.
    let line = quote_spanned!(place=> ::core::line!());
    quote! {
        #private::TaskDef::new(#name) #aliases
            #queue #priority #max_attempts #(#durations)* #dead_letter #concurrency #backoff #idempotency_key #unique #schedule
            .arguments(&[#(#names),*]) #argument_aliases #blocking
            .declared_at(::core::module_path!(), ::core::file!(), #line)
    }
}

fn schedule(schedule: &Schedule, private: &TokenStream) -> Option<TokenStream> {
    let word = |given: Option<&str>, usual| format_ident!("{}", given.unwrap_or(usual));
    let (missed, overlap) = (word(schedule.missed, "Once"), word(schedule.overlap, "Allow"));
    let policies = quote!(#private::Missed::#missed, #private::Overlap::#overlap);
    let value = match (&schedule.cron, schedule.every) {
        (Some(expression), _) => {
            let zone = schedule.zone.as_ref().map_or_else(|| "UTC".to_owned(), LitStr::value);
            quote!(cron(#expression, #zone, #policies))
        }
        (None, Some(interval)) => {
            let interval = millis(interval);
            quote!(every(#interval, #policies))
        }
        (None, None) => return None,
    };
    Some(quote!(.schedule(#private::#value)))
}

pub(crate) fn backoff(backoff: &Backoff, private: &TokenStream) -> TokenStream {
    let value = match backoff {
        Backoff::Exponential { base, factor, cap, jitter } => {
            let (base, cap) = (millis(*base), millis(*cap));
            let (factor, jitter) = (Literal::f64_unsuffixed(*factor), Literal::f64_unsuffixed(*jitter));
            quote!(exponential(#base, #factor, #cap, #jitter))
        }
        Backoff::Linear { step, cap } => {
            let (step, cap) = (millis(*step), millis(*cap));
            quote!(linear(#step, #cap))
        }
        Backoff::Fixed(delay) => {
            let delay = millis(*delay);
            quote!(fixed(#delay))
        }
        Backoff::Custom(function) => quote!(Backoff::Custom(#function)),
    };
    quote!(.backoff(#private::#value))
}

/// Written in milliseconds and checked to be less than a century, so it fits.
pub(super) fn millis(value: Duration) -> Literal {
    Literal::u64_unsuffixed(u64::try_from(value.as_millis()).unwrap_or(u64::MAX))
}

/// The state it asks for; none is the trait's default.
fn states(task: &Task) -> Option<TokenStream> {
    let private = private(task);
    let state = |ty: &Type| {
        let shared = function::at_type(ty, quote!(#private::SharedState));
        quote!(<#ty as #shared>::TYPE)
    };
    let states = task.params.iter().filter_map(|param| match param {
        Param::State(ty) => Some(state(ty)),
        _ => None,
    });
    let states: Vec<_> = states.collect();
    (!states.is_empty()).then(|| quote!(const STATE: &'static [#private::StateType] = &[#(#states),*];))
}

/// The user's function, called with what it asks for.
fn handler(task: &Task) -> TokenStream {
    let (private, sig) = (private(task), &task.function.sig);
    let name = &sig.ident;
    let given = task.params.iter().map(|param| match param {
        Param::Context(place) => quote_spanned!(function::at(*place)=> &__ctx),
        Param::State(ty) => {
            let shared = function::at_type(ty, quote!(#private::SharedState));
            quote!(<#ty as #shared>::of(&__ctx))
        }
        Param::Argument(Argument { ident, .. }) => {
            let ident = function::quiet(ident);
            quote!(__args.#ident)
        }
    });
    // Within the body: when one of them is told of, the compiler does not tell of the future as well.
    let checks = arguments(task).into_iter().map(|argument| {
        let ty = &argument.ty;
        let movable = function::at_type(ty, quote!(#private::Movable));
        quote!(<#ty as #movable>::assert)
    });
    let checks: Vec<_> = checks.collect();
    let checks = (!checks.is_empty()).then(|| quote!(let _ = (#(#checks),*);));
    let wait = sig.asyncness.map(|_| quote!(.await));
    let outcome = outcome(task);
    // Where it is told that the function's future is not `Send`.
    let (moved, place) = (function::moved(private.clone(), name.span()), function::at(name.span()));
    let head = quote_spanned!(place=> async fn handler(__ctx: #moved::Context, __args: Self) -> #moved::Ended);
    quote! {
        #head {
            #checks
            let __it = #name(#(#given),*) #wait;
            #outcome
        }
    }
}

/// What the user wrote about the arguments, as a list for the documentation of `enqueue`.
fn described(arguments: &[&Argument]) -> String {
    let described = arguments.iter().filter(|argument| !argument.docs.is_empty()).map(|argument| {
        let text: Vec<_> = argument.docs.iter().filter_map(params::doc_text).collect();
        format!("\n- `{}`: {}", argument.ident.unraw(), text.join("\n").trim())
    });
    let list: String = described.collect();
    if list.is_empty() { list } else { format!("\n{list}") }
}

/// `call`, `enqueue` and `enqueue_many`.
fn calls(task: &Task) -> TokenStream {
    let Function { attrs, vis, sig, .. } = &task.function;
    let (private, ident, cfgs) = (private(task), function::quiet(&sig.ident), function::cfgs(attrs));
    let calm = calm(task);
    let (names, types): (Vec<Ident>, Vec<&Type>) =
        arguments(task).into_iter().map(|argument| (function::quiet(&argument.ident), &argument.ty)).unzip();
    let (item, pattern) = match (names.as_slice(), types.as_slice()) {
        ([name], [ty]) => (quote!(#ty), quote!(#name)),
        _ => (quote!((#(#types),*)), quote!((#(#names),*))),
    };
    let call =
        format!("A call of the task `{}` as a value, for chains, groups and schedules; nothing is sent.", task.name);
    let one = format!("Enqueues a call of the task `{}`: chain options on it, then await it.", task.name);
    let one = one + &described(&arguments(task));
    let many = format!("Enqueues many calls of the task `{}` in one round trip a batch: await it.", task.name);
    quote! {
        #private::calls! {
            #(#cfgs)* #calm
            (impl #ident) (#vis) (#(#names: #types),*) { #(#names),* }
            (impl ::core::iter::IntoIterator<Item = #item>) (#pattern)
            call = #call,
            enqueue = #one,
            enqueue_many = #many,
        }
    }
}

#[cfg(test)]
mod tests;
