//! `backoff = ..`.

use std::time::Duration;

use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, ExprAssign, ExprCall, Path};

use crate::errors::Errors;
use crate::{suggest, values};

/// A valid backoff.
#[derive(Clone)]
pub(crate) enum Backoff {
    Exponential {
        base: Duration,
        factor: f64,
        cap: Duration,
        jitter: f64,
    },
    Linear {
        step: Duration,
        cap: Duration,
    },
    Fixed(Duration),
    /// `fn(u32) -> Duration`; the compiler checks its type.
    Custom(Path),
}

const FORMS: &str = "write `exponential(base = \"1s\", factor = 2, cap = \"10m\", jitter = 0.2)`, \
                     `linear(step = \"10s\", cap = \"10m\")`, `fixed(\"5s\")` or the path of a `fn(u32) -> Duration`";

const DEFAULT_BASE: Duration = Duration::from_secs(1);
const DEFAULT_CAP: Duration = Duration::from_secs(600);

pub(crate) fn validate(value: &Expr, errors: &mut Errors) -> Option<Backoff> {
    match values::peel(value) {
        Expr::Call(call) => called(call, errors),
        Expr::Path(path) if path.qself.is_none() => named(&path.path, errors),
        other => {
            errors.at(other, format!("not a backoff: {FORMS}"));
            None
        }
    }
}

/// A bare name is a form with nothing but defaults, or a function.
fn named(path: &Path, errors: &mut Errors) -> Option<Backoff> {
    let form = path.get_ident().map(ToString::to_string).unwrap_or_default();
    match form.as_str() {
        "exponential" => exponential(&mut Fields::default(), errors),
        "linear" => {
            errors.at(path, "`linear` needs its step: write `linear(step = \"10s\")`");
            None
        }
        "fixed" => {
            errors.at(path, "`fixed` needs its delay: write `fixed(\"5s\")`");
            None
        }
        _ => Some(Backoff::Custom(path.clone())),
    }
}

fn called(call: &ExprCall, errors: &mut Errors) -> Option<Backoff> {
    let form = match values::peel(&call.func) {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
        _ => String::new(),
    };
    match form.as_str() {
        "exponential" => whole(call, &["base", "factor", "cap", "jitter"], exponential, errors),
        "linear" => whole(call, &["step", "cap"], |fields, errors| linear(call, fields, errors), errors),
        "fixed" => fixed(call, errors),
        other => {
            let meant = suggest::nearest(other, &["exponential", "linear", "fixed"]);
            let meant = meant.map(|form| format!("did you mean `{form}`? ")).unwrap_or_default();
            errors.at(&call.func, format!("not a backoff: {meant}{FORMS}"));
            None
        }
    }
}

/// Gathers the fields, then builds; nothing comes of it when either finds an error.
fn whole<'a>(
    call: &'a ExprCall,
    known: &[&str],
    build: impl FnOnce(&mut Fields<'a>, &mut Errors) -> Option<Backoff>,
    errors: &mut Errors,
) -> Option<Backoff> {
    let before = errors.count();
    let mut fields = Fields::gather(call, known, errors);
    build(&mut fields, errors).filter(|_| errors.count() == before)
}

fn exponential(fields: &mut Fields<'_>, errors: &mut Errors) -> Option<Backoff> {
    let base = fields.delay("base", errors);
    let factor = fields.number("factor", 1.0, 1000.0, "a factor from 1 to 1000", errors);
    let cap = fields.delay("cap", errors);
    let jitter = fields.number("jitter", 0.0, 1.0, "the jitter as a share of the delay, 0.0 to 1.0", errors);
    let (base, cap) = (base.unwrap_or(DEFAULT_BASE), fields.cap(cap, base.unwrap_or(DEFAULT_BASE), errors));
    Some(Backoff::Exponential { base, factor: factor.unwrap_or(2.0), cap, jitter: jitter.unwrap_or(0.2) })
}

fn linear(call: &ExprCall, fields: &mut Fields<'_>, errors: &mut Errors) -> Option<Backoff> {
    if !fields.has("step") {
        errors.at(&call.func, "`linear` needs its step: write `linear(step = \"10s\")`");
    }
    let step = fields.delay("step", errors);
    let cap = fields.delay("cap", errors);
    let step = step?;
    Some(Backoff::Linear { step, cap: fields.cap(cap, step, errors) })
}

fn fixed(call: &ExprCall, errors: &mut Errors) -> Option<Backoff> {
    match call.args.iter().collect::<Vec<_>>().as_slice() {
        [delay] => values::duration(delay, errors).map(Backoff::Fixed),
        [] => {
            errors.at(call, "`fixed` needs its delay: write `fixed(\"5s\")`");
            None
        }
        [_, more, ..] => {
            errors.at(more, "`fixed` takes one delay: write `fixed(\"5s\")`");
            None
        }
    }
}

/// `key = value` pairs inside the parentheses of a form.
#[derive(Default)]
struct Fields<'a> {
    found: Vec<(String, &'a Expr)>,
}

impl<'a> Fields<'a> {
    fn gather(call: &'a ExprCall, known: &[&str], errors: &mut Errors) -> Self {
        let mut fields = Self::default();
        for arg in &call.args {
            match pair(arg) {
                Some((key, value)) => fields.put(&key, value, known, errors),
                None => errors.at(arg, format!("write `key = value`; {}", suggest::hint("", known))),
            }
        }
        fields
    }

    fn put(&mut self, key: &Ident, value: &'a Expr, known: &[&str], errors: &mut Errors) {
        let name = key.to_string();
        if !known.contains(&name.as_str()) {
            errors.at(key, format!("unknown field `{name}`: {}", suggest::hint(&name, known)));
        } else if self.has(&name) {
            errors.at(key, format!("`{name}` is given twice: keep one of the two"));
        } else {
            self.found.push((name, value));
        }
    }

    fn get(&self, name: &str) -> Option<&'a Expr> {
        self.found.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn delay(&self, name: &str, errors: &mut Errors) -> Option<Duration> {
        values::positive_duration(self.get(name)?, "for no delay at all, write `fixed(\"0s\")`", errors)
    }

    fn number(&self, name: &str, least: f64, most: f64, wanted: &str, errors: &mut Errors) -> Option<f64> {
        values::number(self.get(name)?, least, most, wanted, errors)
    }

    /// The cap, or its default; one below the first delay would make the growth a lie.
    fn cap(&self, cap: Option<Duration>, first: Duration, errors: &mut Errors) -> Duration {
        if let (Some(value), Some(expr)) = (cap, self.get("cap"))
            && value < first
        {
            errors.at_span(expr.span(), "`cap` is shorter than the first delay: lengthen it, or write `fixed(..)`");
        }
        // A first delay beyond the default cap wins over it.
        cap.unwrap_or(DEFAULT_CAP.max(first))
    }
}

fn pair(arg: &Expr) -> Option<(Ident, &Expr)> {
    let Expr::Assign(ExprAssign { left, right, .. }) = values::peel(arg) else { return None };
    let Expr::Path(path) = values::peel(left) else { return None };
    Some((path.path.get_ident()?.clone(), right))
}
