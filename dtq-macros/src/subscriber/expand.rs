//! A valid subscriber to code. What is generated is calls; the logic is in `dtq::__private`.

use std::time::Duration;

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{ReturnType, Type};

use super::form::{Channel, Kind, Start, Stream};
use super::options::DelayedRetry;
use super::params::{self, Param};
use super::validate::Subscriber;
use crate::function::{self, Function};
use crate::task::expand as task;

/// The function, its type, and its registration.
pub(crate) fn expand(subscriber: &Subscriber) -> TokenStream {
    let Function { attrs, vis, sig, .. } = &subscriber.function;
    let function = function::stripped(&subscriber.function, params::is_ours);
    let (private, ident, cfgs) = (private(subscriber), function::quiet(&sig.ident), function::cfgs(attrs));
    let (docs, about) = (task::first_paragraph(attrs), format!("The subscriber `{}`.", subscriber.name));
    let about = if docs.is_empty() { about } else { format!("\n{about}") };
    let deprecated = function::attributes(attrs, &["deprecated"]);
    let calm = (!deprecated.is_empty()).then(|| quote!(#[allow(deprecated)]));
    let (def, states, run) = (def(subscriber), states(subscriber), run(subscriber));
    quote! {
        #function
        #(#docs)* #[doc = #about]
        #(#cfgs)* #(#deprecated)*
        #[allow(dead_code)]
        #vis struct #ident {}
        #(#cfgs)* #calm
        impl #private::Subscriber for #ident {
            const DEF: #private::SubscriberDef = #def;
            #states
            fn run(__call: #private::MessageCall) -> #private::HandlerFuture {
                #run
            }
        }
        #private::register_subscriber!(#(#cfgs)* #calm #ident);
    }
}

fn private(subscriber: &Subscriber) -> TokenStream {
    function::private(subscriber.options.krate.as_ref())
}

fn def(subscriber: &Subscriber) -> TokenStream {
    let (private, options, name) = (private(subscriber), &subscriber.options, &subscriber.name);
    let form = form(&subscriber.form.kind, &private);
    let counts = [("max_attempts", options.max_attempts), ("concurrency", options.concurrency)];
    let counts = counts.into_iter().filter_map(|(option, value)| {
        let option = format_ident!("{option}");
        value.map(|value| quote!(.#option(#value)))
    });
    let texts = [("dead_letter", &options.dead_letter), ("ordered_by", &options.ordered_by)];
    let texts = texts.into_iter().filter_map(|(option, value)| {
        let option = format_ident!("{option}");
        value.as_ref().map(|value| quote!(.#option(#value)))
    });
    let timeout = options.timeout.map(|timeout| {
        let timeout = millis(timeout, &private);
        quote!(.timeout(#timeout))
    });
    let backoff = options.backoff.as_ref().map(|backoff| task::backoff(backoff, &private));
    let delayed = options.delayed_retry.as_ref().map(|way| delayed(way, &private));
    let asks = match &subscriber.function.sig.output {
        ReturnType::Default => quote!(),
        ReturnType::Type(..) => {
            let asks = returned_as(subscriber, quote!(ASKS));
            quote!(.asks(#asks))
        }
    };
    let line = quote_spanned!(subscriber.function.sig.ident.span()=> ::core::line!());
    quote! {
        #private::SubscriberDef::new(#name, #form)
            #(#counts)* #timeout #backoff #(#texts)* #delayed #asks
            .declared_at(::core::module_path!(), ::core::file!(), #line)
    }
}

fn form(kind: &Kind, private: &TokenStream) -> TokenStream {
    match kind {
        Kind::Stream(stream) => {
            let stream = self::stream(stream, private);
            quote!(#private::Form::Stream(#stream))
        }
        Kind::Claiming(stream) => {
            let stream = self::stream(stream, private);
            quote!(#private::Form::Claiming(#stream))
        }
        Kind::ReliableList { key, min_idle } => {
            let idle = millis(*min_idle, private);
            quote!(#private::Form::ReliableList(#private::ListForm::new(#key).min_idle(#idle)))
        }
        Kind::List { key } => quote!(#private::Form::List(#private::ListForm::new(#key))),
        Kind::PubSub { channel, back_to } => {
            let (kind, name) = match channel {
                Channel::Exact(name) => (quote!(Exact), name),
                Channel::Pattern(name) => (quote!(Pattern), name),
                Channel::Sharded(name) => (quote!(Sharded), name),
            };
            let back_to = back_to.as_ref().map(|channel| quote!(.back_to(#channel)));
            quote!(#private::Form::PubSub(#private::PubSubForm::new(#private::Channel::#kind(#name)) #back_to))
        }
    }
}

fn stream(stream: &Stream, private: &TokenStream) -> TokenStream {
    let Stream { key, group, start, min_idle, payload, headers, trim } = stream;
    let start = start.as_ref().map(|start| match start {
        Start::Beginning => quote!(.start(#private::Start::Beginning)),
        Start::New => quote!(.start(#private::Start::New)),
        Start::After(id) => quote!(.start(#private::Start::After(#id))),
    });
    let idle = min_idle.map(|idle| {
        let idle = millis(idle, private);
        quote!(.min_idle(#idle))
    });
    let payload = payload.as_ref().map(|field| quote!(.payload(#field)));
    let headers = headers.as_ref().map(|prefix| quote!(.headers(#prefix)));
    let trim = trim.then(|| quote!(.trim()));
    quote!(#private::StreamForm::new(#key, #group) #start #idle #payload #headers #trim)
}

fn delayed(way: &DelayedRetry, private: &TokenStream) -> TokenStream {
    let way = match way {
        DelayedRetry::InProcess => quote!(InProcess),
        DelayedRetry::Durable { ttl: None } => quote!(DurableZset { ttl: ::core::option::Option::None }),
        DelayedRetry::Durable { ttl: Some(ttl) } => {
            let ttl = millis(*ttl, private);
            quote!(DurableZset { ttl: ::core::option::Option::Some(#ttl) })
        }
    };
    quote!(.delayed_retry(#private::DelayedRetry::#way))
}

/// Written in milliseconds and checked to be less than a century, so it fits.
fn millis(value: Duration, private: &TokenStream) -> TokenStream {
    let value = Literal::u64_unsuffixed(u64::try_from(value.as_millis()).unwrap_or(u64::MAX));
    quote!(#private::millis(#value))
}

/// The state it asks for; none is the trait's default.
fn states(subscriber: &Subscriber) -> Option<TokenStream> {
    let private = private(subscriber);
    let states = subscriber.params.iter().filter_map(|param| match param {
        Param::State(ty) => {
            let shared = function::at_type(ty, quote!(#private::SharedState));
            Some(quote!(<#ty as #shared>::TYPE))
        }
        _ => None,
    });
    let states: Vec<_> = states.collect();
    (!states.is_empty()).then(|| quote!(const STATE: &'static [#private::StateType] = &[#(#states),*];))
}

/// The user's function, called with what it asks for.
fn run(subscriber: &Subscriber) -> TokenStream {
    let (private, sig) = (private(subscriber), &subscriber.function.sig);
    let name = &sig.ident;
    let given = subscriber.params.iter().map(|param| match param {
        Param::Message(place) => quote_spanned!(function::at(*place)=> &__message),
        Param::State(ty) => {
            let shared = function::at_type(ty, quote!(#private::SharedState));
            quote!(<#ty as #shared>::of_message(&__message))
        }
        Param::Payload(_) => quote!(__payload),
    });
    let called = quote!(#name(#(#given),*));
    let payload = subscriber.params.iter().find_map(|param| match param {
        Param::Payload(ty) => Some(ty),
        _ => None,
    });
    let decode = decode(payload, &private);
    let (checks, outcome) = (checks(subscriber), outcome(subscriber));
    // Where it is told that the function's future is not `Send`.
    let (private, place) = (function::moved(private, name.span()), function::at(name.span()));
    let run = match sig.asyncness {
        Some(_) => {
            quote_spanned!(place=> #private::receive(__call, __decode, |__message, __payload| async move { #called.await }, #outcome))
        }
        None => {
            quote_spanned!(place=> #private::receive_blocking(__call, __decode, |__message, __payload| #called, #outcome))
        }
    };
    quote!(#checks #decode #run)
}

/// What makes the payload of a message, named at the payload's type alone: one that cannot be a payload is told of once.
fn decode(payload: Option<&Type>, private: &TokenStream) -> TokenStream {
    let Some(ty) = payload else {
        return quote!(let __decode = <() as #private::FromMessage>::from_message;);
    };
    let (first, last) = function::ends(ty);
    let (from, open) = (function::at_type(ty, quote!(#private::FromMessage)), quote_spanned!(first=> <));
    let from = quote_spanned!(last=> #open #ty as #from>::from_message);
    quote!(let __decode: fn(&#private::Message) -> ::core::result::Result<#ty, ::std::string::String> = #from;)
}

/// A handler of messages that cannot be acknowledged may not ask for it.
fn checks(subscriber: &Subscriber) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = &subscriber.function.sig.output else { return None };
    let private = private(subscriber);
    let (first, last) = function::ends(ty);
    let (bound, open) = (function::at_type(ty, quote!(#private::Unacknowledged)), quote_spanned!(first=> <));
    (!subscriber.form.acknowledges()).then(|| quote_spanned!(last=> let () = #open #ty as #bound>::CHECK;))
}

/// What makes of the returned value what it means.
fn outcome(subscriber: &Subscriber) -> TokenStream {
    let private = private(subscriber);
    let (first, last) = match &subscriber.function.sig.output {
        ReturnType::Default => (subscriber.function.sig.ident.span(), subscriber.function.sig.ident.span()),
        ReturnType::Type(_, ty) => function::ends(ty),
    };
    let returned = quote_spanned!(function::at(last)=> __returned);
    let outcome = returned_as(subscriber, quote_spanned!(last=> into_outcome));
    let private = function::moved(private, first);
    let outcome = quote_spanned!(last=> #outcome(#returned));
    match &subscriber.options.permanent_if {
        Some(rule) => quote!(|#returned| #private::permanent_if(#outcome, #rule)),
        None => quote!(|#returned| #private::settled(#outcome)),
    }
}

/// An item of `Settles` for the return type, told of at the type's place wherever it stands.
fn returned_as(subscriber: &Subscriber, item: TokenStream) -> TokenStream {
    let private = private(subscriber);
    let ReturnType::Type(_, ty) = &subscriber.function.sig.output else {
        return quote!(<() as #private::Settles>::#item);
    };
    let (first, last) = function::ends(ty);
    let (settles, open) = (function::at_type(ty, quote!(#private::Settles)), quote_spanned!(first=> <));
    quote_spanned!(last=> #open #ty as #settles>::#item)
}

#[cfg(test)]
mod tests;
