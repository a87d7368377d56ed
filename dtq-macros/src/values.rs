//! Values of settings: literals of a kind, out of the invisible groups that `macro_rules!` puts around `$e:expr`.

use std::time::Duration;

use syn::{Expr, ExprLit, Lit, LitInt, LitStr, Path};

use crate::duration;
use crate::errors::Errors;

/// The expression without groups and parentheses around it.
pub(crate) fn peel(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => peel(&group.expr),
        Expr::Paren(paren) => peel(&paren.expr),
        other => other,
    }
}

fn literal(expr: &Expr) -> Option<&Lit> {
    match peel(expr) {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        _ => None,
    }
}

/// A string literal; `wanted` says of what, as in `a queue name such as "high"`.
pub(crate) fn string<'a>(expr: &'a Expr, wanted: &str, errors: &mut Errors) -> Option<&'a LitStr> {
    let Some(Lit::Str(text)) = literal(expr) else {
        errors.at(expr, format!("write {wanted} as a string literal"));
        return None;
    };
    if !text.suffix().is_empty() {
        errors.at(text, format!("write {wanted} without the suffix `{}`", text.suffix()));
        return None;
    }
    Some(text)
}

/// `true` or `false`.
pub(crate) fn boolean(expr: &Expr, errors: &mut Errors) -> Option<bool> {
    if let Some(Lit::Bool(value)) = literal(expr) {
        return Some(value.value);
    }
    errors.at(expr, "write `true` or `false`");
    None
}

/// A whole number from `least` to `most`; `wanted` says both, as in `a priority from 0 to 9`.
pub(crate) fn integer(expr: &Expr, least: u32, most: u32, wanted: &str, errors: &mut Errors) -> Option<u32> {
    if let Some(Lit::Int(literal)) = literal(expr) {
        return in_range(literal, least, most, wanted, errors);
    }
    errors.at(expr, format!("write {wanted}"));
    None
}

fn in_range(literal: &LitInt, least: u32, most: u32, wanted: &str, errors: &mut Errors) -> Option<u32> {
    let value = literal.base10_parse::<u64>().ok().and_then(|value| u32::try_from(value).ok());
    match value.filter(|value| (least..=most).contains(value)) {
        Some(value) if literal.suffix().is_empty() => Some(value),
        Some(_) => {
            errors.at(literal, format!("write {wanted}, without the suffix `{}`", literal.suffix()));
            None
        }
        None => {
            errors.at(literal, format!("out of range: write {wanted}"));
            None
        }
    }
}

/// A number from `least` to `most`, with or without a point.
pub(crate) fn number(expr: &Expr, least: f64, most: f64, wanted: &str, errors: &mut Errors) -> Option<f64> {
    let value = match literal(expr) {
        Some(Lit::Int(literal)) => literal.base10_parse::<f64>().ok(),
        Some(Lit::Float(literal)) => literal.base10_parse::<f64>().ok(),
        _ => None,
    };
    let value = value.filter(|value| (least..=most).contains(value));
    if value.is_none() {
        errors.at(expr, format!("write {wanted}"));
    }
    value
}

/// A duration in a string literal.
pub(crate) fn duration(expr: &Expr, errors: &mut Errors) -> Option<Duration> {
    if let Some(number) = bare_number(expr) {
        errors.at(expr, format!("a duration needs its unit: write \"{number}s\" for seconds"));
        return None;
    }
    let text = string(expr, "a duration such as \"30s\", \"5m\" or \"1h30m\"", errors)?;
    duration::parse(&text.value()).map_err(|problem| errors.at(text, problem)).ok()
}

/// A duration longer than nothing.
pub(crate) fn positive_duration(expr: &Expr, remedy: &str, errors: &mut Errors) -> Option<Duration> {
    let value = duration(expr, errors)?;
    if value.is_zero() {
        errors.at(expr, format!("the duration must be longer than zero: {remedy}"));
        return None;
    }
    Some(value)
}

fn bare_number(expr: &Expr) -> Option<String> {
    match literal(expr) {
        Some(Lit::Int(literal)) => Some(literal.base10_digits().to_owned()),
        _ => None,
    }
}

/// A path, bare or in a string literal.
pub(crate) fn path(expr: &Expr, wanted: &str, errors: &mut Errors) -> Option<Path> {
    let parsed = match peel(expr) {
        Expr::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse_with(Path::parse_mod_style).ok(),
        _ => None,
    };
    if parsed.is_none() {
        errors.at(expr, format!("write {wanted}"));
    }
    parsed
}
