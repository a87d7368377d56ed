//! A form, validated.

use std::time::Duration;

use proc_macro2::{Ident, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Expr, Token};

use super::source::{self, Call, FORMS, Source};
use crate::entries;
use crate::errors::Errors;
use crate::{suggest, values};

/// A form of which code can be made.
pub(crate) struct Form {
    /// Its name, where it stands.
    pub(crate) name: Ident,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Stream(Stream),
    Claiming(Stream),
    ReliableList { key: String, min_idle: Duration },
    List { key: String },
    PubSub { channel: Channel, back_to: Option<String> },
}

#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) key: String,
    pub(crate) group: String,
    pub(crate) start: Option<Start>,
    pub(crate) min_idle: Option<Duration>,
    pub(crate) payload: Option<String>,
    pub(crate) headers: Option<String>,
    pub(crate) trim: bool,
}

pub(crate) enum Start {
    Beginning,
    New,
    After(String),
}

pub(crate) enum Channel {
    Exact(String),
    Pattern(String),
    Sharded(String),
}

impl Form {
    /// True when its messages can be acknowledged.
    pub(crate) fn acknowledges(&self) -> bool {
        !matches!(self.kind, Kind::List { .. } | Kind::PubSub { .. })
    }
}

const STREAM_CALLS: [&str; 6] = ["group", "start", "min_idle", "payload", "headers", "trim"];

const NO_DEFAULT: &str = "how long a message may be without a sign of life before another worker gets it. There is no default: \
     too short a time runs slow messages twice, too long a one leaves those of a dead worker lying";

/// The one form that is given.
pub(crate) fn validate(sources: Vec<Vec<TokenTree>>, errors: &mut Errors) -> Option<Form> {
    let mut sources = sources.into_iter();
    let Some(first) = sources.next() else {
        errors.at_span(
            proc_macro2::Span::call_site(),
            "say where the messages come from: `#[dtq::subscriber(stream(\"orders\").group(\"billing\"))]`; known: `stream`, \
             `claiming`, `reliable_list`, `list`, `pubsub`",
        );
        return None;
    };
    for more in sources {
        if let Some(name) = more.first() {
            errors.at(
                name,
                "a subscriber reads from one place: write one function for each, or use `App::subscribe_from`",
            );
        }
    }
    let source = source::parse(first, errors)?;
    let before = errors.count();
    let kind = match source.name.to_string().as_str() {
        "stream" => stream(&source, false, errors).map(Kind::Stream),
        "claiming" => stream(&source, true, errors).map(Kind::Claiming),
        "reliable_list" => reliable_list(&source, errors),
        "list" => list(&source, errors),
        "pubsub" => pubsub(&source, errors),
        other => {
            errors.at(&source.name, format!("unknown form `{other}`: {}", suggest::hint(other, &FORMS)));
            None
        }
    };
    let kind = kind.filter(|_| errors.count() == before)?;
    Some(Form { name: source.name, kind })
}

fn stream(source: &Source, claims: bool, errors: &mut Errors) -> Option<Stream> {
    let mut stream = Stream { key: key(source, "stream", errors).unwrap_or_default(), ..Stream::default() };
    let mut grouped = false;
    let before = errors.count();
    let calls = known(source, &STREAM_CALLS, errors);
    // What is missing may be what was misspelt.
    let misspelt = errors.count() > before;
    for call in calls {
        match call.name.to_string().as_str() {
            "group" => {
                grouped = true;
                stream.group = text(call, "a consumer group such as \"billing\"", errors).unwrap_or_default();
            }
            "start" => stream.start = start(call, errors),
            "min_idle" => stream.min_idle = idle(call, errors),
            "payload" => stream.payload = text(call, "the field of the payload, such as \"data\"", errors),
            "headers" => stream.headers = text(call, "what the names of headers begin with, such as \"h:\"", errors),
            _ => {
                if !call.arguments.stream().is_empty() {
                    errors.at(call.arguments.stream(), "`trim` takes no value: write `.trim()`");
                }
                stream.trim = true;
            }
        }
    }
    if !grouped && !misspelt {
        errors.at(
            &source.name,
            format!("`{}` needs a consumer group: write `.group(\"billing\")` behind it", source.name),
        );
    }
    if claims && !misspelt && !has(source, "min_idle") {
        errors.at(&source.name, format!("`claiming` needs `.min_idle(\"60s\")`: {NO_DEFAULT}"));
    }
    Some(stream)
}

fn reliable_list(source: &Source, errors: &mut Errors) -> Option<Kind> {
    let key = key(source, "list", errors);
    let (before, mut min_idle) = (errors.count(), None);
    let calls = known(source, &["min_idle"], errors);
    // What is missing may be what was misspelt.
    let misspelt = errors.count() > before;
    for call in calls {
        min_idle = idle(call, errors);
    }
    if !misspelt && !has(source, "min_idle") {
        errors.at(&source.name, format!("`reliable_list` needs `.min_idle(\"60s\")`: {NO_DEFAULT}"));
    }
    Some(Kind::ReliableList { key: key?, min_idle: min_idle? })
}

fn list(source: &Source, errors: &mut Errors) -> Option<Kind> {
    let key = key(source, "list", errors);
    for call in &source.calls {
        errors.at(
            &call.name,
            format!(
                "a `list` has no `{}`: its messages are gone once they are read; a `reliable_list` keeps them",
                call.name
            ),
        );
    }
    Some(Kind::List { key: key? })
}

const CHANNELS: [&str; 3] = ["channel", "pattern", "sharded"];

fn pubsub(source: &Source, errors: &mut Errors) -> Option<Kind> {
    const EXAMPLE: &str =
        "write `pubsub(channel = \"news\")`, `pubsub(pattern = \"news.*\")` or `pubsub(sharded = \"news\")`";
    let mut channel = None;
    let inside = source.arguments.stream();
    let literal = matches!(inside.clone().into_iter().next(), Some(TokenTree::Literal(_)));
    if inside.is_empty() || literal {
        errors.at(if literal { inside } else { quote::ToTokens::to_token_stream(&source.name) }, EXAMPLE);
        return None;
    }
    for (index, entry) in entries::parse(inside, errors).into_iter().enumerate() {
        let name = entry.name();
        if index > 0 {
            errors.at(&entry.key, "a subscriber listens to one channel or one pattern: remove this");
            continue;
        }
        if !CHANNELS.contains(&name.as_str()) {
            errors.at(&entry.key, format!("unknown setting `{name}`: {}", suggest::hint(&name, &CHANNELS)));
            continue;
        }
        let Some(value) = entry.set(&format!("{name} = \"news\""), errors) else { continue };
        let Some(text) = non_empty(value, "a channel such as \"news\"", errors) else { continue };
        channel = Some(match name.as_str() {
            "channel" => Channel::Exact(text),
            "pattern" => Channel::Pattern(text),
            _ => Channel::Sharded(text),
        });
    }
    let mut back_to = None;
    for call in known(source, &["back_to"], errors) {
        back_to = text(call, "the channel that copies go to, such as \"news.again\"", errors);
    }
    Some(Kind::PubSub { channel: channel?, back_to })
}

fn has(source: &Source, name: &str) -> bool {
    source.calls.iter().any(|call| call.name == name)
}

/// What is chained on and known, each once.
fn known<'a>(source: &'a Source, names: &[&str], errors: &mut Errors) -> Vec<&'a Call> {
    let mut seen: Vec<String> = Vec::new();
    let mut calls = Vec::new();
    for call in &source.calls {
        let name = call.name.to_string();
        if !names.contains(&name.as_str()) {
            let hint = suggest::hint(&name, names);
            errors.at(&call.name, format!("`{}` has no `{name}`: {hint}", source.name));
        } else if seen.contains(&name) {
            errors.at(&call.name, format!("`{name}` is given twice: keep one of the two"));
        } else {
            calls.push(call);
        }
        seen.push(name);
    }
    calls
}

/// The name of what is read.
fn key(source: &Source, what: &str, errors: &mut Errors) -> Option<String> {
    let value = single(&source.arguments, &source.name, errors)?;
    non_empty(&value, &format!("the key of a {what}, such as \"orders\""), errors)
}

fn text(call: &Call, wanted: &str, errors: &mut Errors) -> Option<String> {
    let value = single(&call.arguments, &call.name, errors)?;
    non_empty(&value, wanted, errors)
}

fn non_empty(value: &Expr, wanted: &str, errors: &mut Errors) -> Option<String> {
    let literal = values::string(value, wanted, errors)?;
    if literal.value().is_empty() {
        errors.at(literal, format!("the name is empty: write {wanted}"));
        return None;
    }
    Some(literal.value())
}

fn idle(call: &Call, errors: &mut Errors) -> Option<Duration> {
    const SHORTEST: Duration = Duration::from_millis(100);
    let value = single(&call.arguments, &call.name, errors)?;
    let idle = values::positive_duration(&value, "write one such as \"60s\"", errors)?;
    if idle < SHORTEST {
        errors.at(&value, "`min_idle` is at least \"100ms\": a sign of life takes its time");
        return None;
    }
    Some(idle)
}

fn start(call: &Call, errors: &mut Errors) -> Option<Start> {
    const WANTED: &str =
        "where a new group begins: \"beginning\", \"new\", or the id of an entry such as \"1526919030474-0\"";
    let value = single(&call.arguments, &call.name, errors)?;
    let literal = values::string(&value, WANTED, errors)?;
    match literal.value().as_str() {
        "beginning" | "0" => Some(Start::Beginning),
        "new" | "$" => Some(Start::New),
        id if is_id(id) => Some(Start::After(id.to_owned())),
        _ => {
            errors.at(literal, format!("write {WANTED}"));
            None
        }
    }
}

fn is_id(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.parse::<u64>().is_ok();
    match text.split_once('-') {
        Some((time, sequence)) => number(time) && number(sequence),
        None => number(text),
    }
}

/// The one value in parentheses.
fn single(arguments: &proc_macro2::Group, name: &Ident, errors: &mut Errors) -> Option<Expr> {
    use syn::parse::Parser;

    let parsed = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(arguments.stream());
    let values = match parsed {
        Ok(values) => values,
        Err(error) => {
            errors.add(error);
            return None;
        }
    };
    let mut values = values.into_iter();
    let Some(first) = values.next() else {
        errors.at(name, format!("`{name}` needs a value: write it in the parentheses"));
        return None;
    };
    if let Some(more) = values.next() {
        errors.at(more, format!("`{name}` takes one value: remove this"));
        return None;
    }
    Some(first)
}
