//! Making a consumer group, at first and whenever it is gone.

use std::sync::PoisonError;

use redis::Value;

use super::super::super::reply;
use super::StreamInbox;
use crate::store::{Result, StoreError};
use crate::types::Start;

const OPERATION: &str = "make consumer group";
const BEGINNING: &str = "0";

impl StreamInbox {
    /// Makes the group, and the stream when that is missing. One that is there is left as it is.
    pub(super) async fn make_group(&self) -> Result<()> {
        let form = &self.shared.form;
        let (again, from) = self.origin().await?;
        let mut create = redis::cmd("XGROUP");
        create.arg("CREATE").arg(form.key).arg(form.group).arg(&from).arg("MKSTREAM");
        match self.link.run(OPERATION, &create).await {
            Err(StoreError::Rejected { detail, .. }) if detail.contains("BUSYGROUP") => Ok(()),
            Ok(_) if again => {
                let (stream, group) = (form.key, form.group);
                tracing::warn!(stream, group, from, "the consumer group was gone and was made again");
                Ok(())
            }
            made => made.map(drop),
        }
    }

    /// Where the group begins, and whether it was made before. What is new is new as seen from the first time: what came since
    /// is not passed over when the group has to be made again.
    async fn origin(&self) -> Result<(bool, String)> {
        let form = &self.shared.form;
        let known = self.shared.origin.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let first = known.is_none();
        let origin = match (known, form.start) {
            (_, Start::Beginning) => BEGINNING.to_owned(),
            (Some(origin), _) => origin,
            (None, Start::After(id)) => id.to_owned(),
            (None, Start::New) => self.latest().await?.unwrap_or_else(|| BEGINNING.to_owned()),
        };
        *self.shared.origin.lock().unwrap_or_else(PoisonError::into_inner) = Some(origin.clone());
        // A stream that was made anew may count from below.
        let behind =
            !first && origin != BEGINNING && self.latest().await?.is_none_or(|latest| id(&latest) < id(&origin));
        Ok((!first, if behind { BEGINNING.to_owned() } else { origin }))
    }

    /// The latest id that the stream gave; `None` when there is no stream.
    async fn latest(&self) -> Result<Option<String>> {
        let mut ask = redis::cmd("XINFO");
        ask.arg("STREAM").arg(self.shared.form.key);
        let told = match self.link.run(OPERATION, &ask).await {
            Err(StoreError::Rejected { detail, .. }) if detail.contains("no such key") => return Ok(None),
            told => reply::list(told?).unwrap_or_default(),
        };
        let mut told = told.into_iter();
        while let (Some(name), Some(value)) = (told.next(), told.next()) {
            if matches!(&name, Value::BulkString(name) if name == b"last-generated-id") {
                return Ok(reply::text(value));
            }
        }
        Ok(None)
    }
}

/// An id as it is ordered.
fn id(text: &str) -> (u64, u64) {
    let (time, number) = text.split_once('-').unwrap_or((text, "0"));
    (time.parse().unwrap_or(0), number.parse().unwrap_or(0))
}

/// True for the answers of a server on which the stream or the group is gone.
pub(super) fn is_gone(error: &StoreError) -> bool {
    match error {
        StoreError::Rejected { detail, .. } | StoreError::Refused { detail, .. } => {
            detail.contains("NOGROUP") || detail.starts_with("UNBLOCKED")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ordered_by_number() {
        assert!(super::id("9-1") < super::id("10-0"));
        assert!(super::id("10-9") < super::id("10-10"));
        assert!(super::id("0") < super::id("0-1"));
    }
}
