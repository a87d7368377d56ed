//! `dlq list` and `dlq group`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::failure::Done;
use crate::cli::filter::LetterArgs;
use crate::cli::output::{Table, note, number, prose, relative, word};
use crate::cli::session::Session;
use crate::types::{DeadLetter, ErrorGroup, QueueName};

/// Which dead letters to list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    filter: LetterArgs,

    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let mut letters: Vec<DeadLetter> = Vec::new();
        for queue in session.queues(&self.filter.queue).await? {
            // One more than is shown: so it is known whether there are more.
            let room = self.limit.saturating_add(1) - letters.len();
            letters.extend(self.filter.letters(&session.client, &queue).list(room).await?);
            if letters.len() > self.limit {
                break;
            }
        }
        let more = letters.len() > self.limit;
        letters.truncate(self.limit);
        if self.json {
            letters.iter().try_for_each(|letter| session.out.json(&shape(letter)))?;
        } else {
            let now = session.now().await?;
            let mut table = Table::new(&[word("id"), word("task"), number("attempt"), word("died"), prose("error")]);
            for letter in &letters {
                table.row([
                    (&letter.id).into(),
                    (&letter.task).into(),
                    letter.attempt.into(),
                    relative(letter.at, now).into(),
                    (&letter.failure).into(),
                ]);
            }
            session.out.table(&table, "no dead letter fits")?;
        }
        if let (true, Some(name)) = (letters.is_empty(), &self.filter.task) {
            session.doubt_task(name).await?;
        }
        if more {
            note(&format!("there are more than these {}: --limit shows more", self.limit));
        }
        Ok(())
    }
}

fn shape(letter: &DeadLetter) -> Value {
    json!({
        "id": letter.id,
        "task": letter.task,
        "queue": letter.id.queue().as_str(),
        "attempt": letter.attempt,
        "at": letter.at.to_string(),
        "kind": letter.failure.kind.as_str(),
        "message": letter.failure.message,
    })
}

/// Which dead letters to count.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Group {
    #[command(flatten)]
    filter: LetterArgs,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Group {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let mut table = Table::new(&HEADINGS);
        let now = session.now().await?;
        for queue in session.queues(&self.filter.queue).await? {
            let found = self.filter.letters(&session.client, &queue).groups().await?;
            for group in &found.groups {
                match self.json {
                    true => session.out.json(&group_shape(&queue, group))?,
                    false => table.row([
                        group.count.into(),
                        (&queue).into(),
                        (&group.task).into(),
                        group.kind.as_str().into(),
                        relative(group.last_at, now).into(),
                        (&group.example).into(),
                        (&group.message).into(),
                    ]),
                }
            }
            if found.others > 0 {
                note(&format!("{queue}: {} more, of further groups", found.others));
            }
        }
        match self.json {
            true => Ok(()),
            false => session.out.table(&table, "no dead letter fits"),
        }
    }
}

const HEADINGS: [crate::cli::output::Column; 7] =
    [number("count"), word("queue"), word("task"), word("kind"), word("latest"), word("example"), prose("error")];

fn group_shape(queue: &QueueName, group: &ErrorGroup) -> Value {
    json!({
        "queue": queue.as_str(),
        "task": group.task,
        "kind": group.kind.as_str(),
        "message": group.message,
        "count": group.count,
        "first_at": group.first_at.to_string(),
        "last_at": group.last_at.to_string(),
        "example": group.example,
    })
}
