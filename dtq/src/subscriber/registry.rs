//! The subscribers of a program; everything that can be wrong with them is said at start.

use std::time::Duration;

use super::def::{SubscriberDef, SubscriberRegistration};
use super::order_key::OrderKey;
use crate::linked;
use crate::shared_state::States;
use crate::types::{Channel, DelayedRetry, Form, PubSubForm};

/// Why a worker cannot start with the subscribers it has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubscriberError {
    /// The handler asks for what the form does not have.
    #[error(
        "subscriber {subscriber:?} returns an Outcome, which can ask for an acknowledgement or a retry, and {form} has \
         neither: return (), dtq::Later or a Result of one of them, or read a reliable_list"
    )]
    CannotRetry {
        /// The subscriber.
        subscriber: &'static str,
        /// Where its messages come from.
        form: String,
    },
    /// It asks for state that nobody gave.
    #[error(
        "subscriber {subscriber:?} takes #[state] of type {state}, but none was given: call app.state(..) with one in set-up"
    )]
    MissingState {
        /// The subscriber.
        subscriber: &'static str,
        /// The type's name.
        state: &'static str,
    },
    /// An option cannot be what it is.
    #[error("subscriber {subscriber:?} at {place}: {problem}")]
    Setting {
        /// The subscriber.
        subscriber: &'static str,
        /// Where it stands.
        place: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The store has no messages.
    #[error(
        "subscriber {subscriber:?} reads {form} from a Redis or Valkey server, and the store at {store} is none: name a server \
         with --subscribe-url redis://HOST:PORT, DTQ_SUBSCRIBE_URL, subscribe-url in dtq.toml, or WorkerConfig::subscribe_url"
    )]
    NoServer {
        /// The subscriber.
        subscriber: &'static str,
        /// Where its messages come from.
        form: String,
        /// The store's address.
        store: String,
    },
}

/// The subscribers of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subscribers {
    all: Vec<SubscriberRegistration>,
}

impl Subscribers {
    /// Every subscriber that was linked in, unless it is among the explicit ones, and those.
    pub(crate) fn gather(explicit: Vec<SubscriberRegistration>) -> Self {
        let named = |one: &SubscriberRegistration| explicit.iter().any(|other| (other.identity)() == (one.identity)());
        let linked: Vec<_> = linked::subscribers().filter(|one| !named(one)).collect();
        Self::of(linked.into_iter().chain(explicit))
    }

    /// These subscribers and no others; the same one with the same form is taken once.
    pub(crate) fn of(all: impl IntoIterator<Item = SubscriberRegistration>) -> Self {
        let mut kept: Vec<SubscriberRegistration> = Vec::new();
        for one in all {
            let same = |other: &SubscriberRegistration| {
                (other.identity)() == (one.identity)() && other.def.form == one.def.form
            };
            if !kept.iter().any(same) {
                kept.push(one);
            }
        }
        kept.sort_by_key(|one| (one.def.name, one.def.form.source()));
        Self { all: kept }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SubscriberRegistration> {
        self.all.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Checks options and state.
    pub(crate) fn check(&self, states: &States) -> Result<(), SubscriberError> {
        for SubscriberRegistration { def, state, .. } in &self.all {
            let subscriber = def.name;
            if def.asks && !def.form.acknowledges() {
                return Err(SubscriberError::CannotRetry { subscriber, form: def.form.to_string() });
            }
            if let Some(missing) = state.iter().find(|state| !states.holds(state.id())) {
                return Err(SubscriberError::MissingState { subscriber, state: missing.name() });
            }
            if let Some(problem) = problem(def) {
                let place = format!("{}:{} (module {})", def.file, def.line, def.module);
                return Err(SubscriberError::Setting { subscriber, place, problem });
            }
        }
        Ok(())
    }
}

/// What is wrong with options that the compiler did not see.
fn problem(def: &SubscriberDef) -> Option<String> {
    const SHORTEST: Duration = Duration::from_millis(100);
    let form = &def.form;
    if form.source().is_empty() {
        return Some("the name of what is read is empty".into());
    }
    if let Form::Stream(stream) | Form::Claiming(stream) = form
        && (stream.group.is_empty() || stream.headers.is_empty())
    {
        return Some("the consumer group, or the prefix of headers, is empty".into());
    }
    match form.min_idle() {
        None if matches!(form, Form::Claiming(_) | Form::ReliableList(_)) => {
            return Some(format!(
                "{} needs min_idle, longer than a handler ever takes without a sign of life: \
                 how long a message may be silent before it is given to another worker",
                form.name()
            ));
        }
        Some(idle) if idle < SHORTEST => {
            return Some(format!("min_idle is {idle:?}: it must be at least {SHORTEST:?}"));
        }
        _ => {}
    }
    if def.concurrency == Some(0) || def.max_attempts == Some(0) {
        return Some("concurrency and max_attempts are at least 1".into());
    }
    if let Form::PubSub(PubSubForm { back_to: Some(""), .. }) = form {
        return Some("the channel that copies go to is empty".into());
    }
    if def.dead_letter.is_some_and(|to| is_read(form, to)) {
        return Some("dead letters would be read again: name another place than where messages come from".into());
    }
    if matches!(form, Form::PubSub(_)) && def.delayed_retry != DelayedRetry::InProcess {
        return Some("a channel keeps nothing, and neither do its copies: set delayed_retry to in_process".into());
    }
    def.ordered_by.and_then(|template| OrderKey::parse(template).err()).map(|wrong| format!("ordered_by: {wrong}"))
}

/// True when what is sent there comes through the form itself.
fn is_read(form: &Form, to: &str) -> bool {
    match form {
        Form::PubSub(PubSubForm { channel: Channel::Pattern(pattern), .. }) => fits(pattern.as_bytes(), to.as_bytes()),
        form => form.source() == to,
    }
}

/// Whether a server's pattern takes a channel in. One with a class (`[ab]`) is not looked into: it counts as one that does not.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([b'*', rest @ ..], name) => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
        ([b'[', ..], _) => false,
        ([b'\\', one, rest @ ..], [first, name @ ..]) => one == first && fits(rest, name),
        ([one, rest @ ..], [first, name @ ..]) => (*one == b'?' || one == first) && fits(rest, name),
        (pattern, name) => pattern.is_empty() && name.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ListForm, StreamForm};

    fn checked(def: SubscriberDef) -> Result<(), SubscriberError> {
        let one = SubscriberRegistration {
            def,
            state: &[],
            handler: |_| Box::pin(std::future::pending()),
            identity: std::any::TypeId::of::<u8>,
        };
        Subscribers::of([one, one]).check(&States::default())
    }

    #[test]
    fn a_handler_that_may_retry_cannot_read_what_cannot_be_retried() {
        let list = SubscriberDef::new("s", Form::List(ListForm::new("l"))).asks(true);
        let error = checked(list).unwrap_err();
        assert!(matches!(error, SubscriberError::CannotRetry { subscriber: "s", .. }));
        assert!(error.to_string().contains("list \"l\"") && error.to_string().contains("dtq::Later"), "{error}");
    }

    #[test]
    fn forms_that_claim_need_an_idle_time() {
        let claiming = StreamForm::new("s", "g");
        for form in [Form::Claiming(claiming), Form::ReliableList(ListForm::new("l"))] {
            let error = checked(SubscriberDef::new("s", form)).unwrap_err().to_string();
            assert!(error.contains("min_idle"), "{error}");
        }
        let short = Form::Claiming(claiming.min_idle(Duration::from_millis(1)));
        assert!(checked(SubscriberDef::new("s", short)).is_err());
        assert!(checked(SubscriberDef::new("s", Form::Claiming(claiming.min_idle(Duration::from_secs(1))))).is_ok());
    }

    #[test]
    fn a_pattern_takes_in_what_a_server_says() {
        for (pattern, name) in [("news.*", "news.dead"), ("*", ""), ("n?ws", "news"), ("a\\*", "a*"), ("*a*b", "xaab")]
        {
            assert!(fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [("news.*", "dead.news"), ("n?ws", "nws"), ("a\\*", "ab"), ("", "x"), ("*a", "ab")] {
            assert!(!fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }

    #[test]
    fn the_same_subscriber_twice_is_one() {
        let def = SubscriberDef::new("s", Form::List(ListForm::new("l")));
        assert!(checked(def).is_ok());
    }
}
