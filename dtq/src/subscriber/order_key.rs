//! `ordered_by`: what two messages must have in common to be handled one after the other.

use crate::types::Incoming;

/// A template such as `{customer}` or `{shop.id}/{customer}`. A field is looked for in the JSON of the payload, then among the
/// fields of a stream's entry, then among the headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderKey {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String),
}

impl OrderKey {
    /// Reads a template.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(template: &str) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), template);
        while let Some((text, behind)) = rest.split_once('{') {
            let (field, behind) = behind.split_once('}').ok_or("a `{` has no `}` behind it")?;
            if field.is_empty() || field.contains('{') {
                return Err("a field's name stands between `{` and `}`".into());
            }
            parts.push(Part::Text(text.to_owned()));
            parts.push(Part::Field(field.to_owned()));
            rest = behind;
        }
        if parts.is_empty() {
            return Err("it names no field: write one in braces, such as \"{customer}\"".into());
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self { parts })
    }

    /// The key of a message.
    ///
    /// # Errors
    /// The field that it does not have.
    pub(crate) fn of(&self, message: &Incoming) -> Result<String, String> {
        let json: Option<serde_json::Value> =
            message.payload.as_ref().and_then(|payload| serde_json::from_slice(payload).ok());
        let part = |part: &Part| match part {
            Part::Text(text) => Ok(text.clone()),
            Part::Field(name) => field(name, json.as_ref(), message)
                .ok_or_else(|| format!("ordered_by: the message has no field {name:?}")),
        };
        self.parts.iter().map(part).collect()
    }
}

fn field(name: &str, json: Option<&serde_json::Value>, message: &Incoming) -> Option<String> {
    let inside = json.and_then(|json| name.split('.').try_fold(json, |value, step| value.get(step)));
    let from_json = inside.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    from_json
        .or_else(|| {
            let (_, value) = message.fields.iter().find(|(key, _)| key == name.as_bytes())?;
            String::from_utf8(value.to_vec()).ok()
        })
        .or_else(|| message.header_text(name).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(template: &str, payload: &'static str) -> Result<String, String> {
        let headers = vec![("tenant".to_owned(), "acme".into())];
        let fields = vec![("region".into(), "eu".into())];
        let message = Incoming { payload: Some(payload.into()), headers, fields, ..Incoming::default() };
        OrderKey::parse(template)?.of(&message)
    }

    #[test]
    fn fields_come_from_the_payload_the_entry_or_the_headers() {
        assert_eq!(key("{customer}", r#"{"customer":"c7"}"#).unwrap(), "c7");
        assert_eq!(key("{customer.id}/x", r#"{"customer":{"id":17}}"#).unwrap(), "17/x");
        assert_eq!(key("{tenant}-{region}", "no json").unwrap(), "acme-eu");
        assert!(key("{customer}", "{}").unwrap_err().contains("customer"));
    }

    #[test]
    fn a_template_names_a_field() {
        for wrong in ["", "customer", "{customer", "{}", "{a{b}"] {
            assert!(OrderKey::parse(wrong).is_err(), "{wrong}");
        }
    }
}
