//! A program that reads messages of others, for the end-to-end tests. Its handlers tell what they do in a file of their folder.

use std::io::Write;
use std::path::PathBuf;

use dtq::prelude::*;

/// A folder that is told things in.
struct Folder(PathBuf);

impl Folder {
    fn tell(&self, line: &str) -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(self.0.join("told"))?;
        // In one write, so that lines of several threads do not mix.
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// What other programs write to the stream `orders`.
#[derive(serde::Deserialize)]
struct Order {
    id: u64,
    /// At which attempt it is accepted.
    accepted_at: u32,
}

#[dtq::subscriber(stream("orders").group("billing"), max_attempts = 5, dead_letter = "orders.dead")]
async fn on_order(order: Json<Order>, meta: &Message, #[state] folder: &Folder) -> Result<Outcome, TaskError> {
    let trace = meta.header_text("trace").unwrap_or("none");
    folder.tell(&format!("order {} #{} trace {trace}", order.id, meta.attempt()))?;
    Ok(if meta.attempt() < order.accepted_at { Outcome::Retry } else { Outcome::Ack(()) })
}

/// All fields of an entry, as a plain function. A slow one ends when there is a file `release`.
#[dtq::subscriber(claiming("shipments").group("billing").min_idle("2s"))]
fn on_shipment(fields: Fields, meta: &Message, #[state] folder: &Folder) -> std::io::Result<()> {
    folder.tell(&format!("shipment {} of {} #{}", fields.text("id").unwrap_or("?"), fields.len(), meta.attempt()))?;
    while fields.get("slow").is_some() && !folder.0.join("release").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(())
}

#[dtq::subscriber(reliable_list("jobs").min_idle("2s"), dead_letter = "jobs.dead")]
async fn on_job(job: String, meta: &Message, #[state] folder: &Folder) -> Outcome {
    let _ = folder.tell(&format!("job {job} #{}", meta.attempt()));
    if job.starts_with("twice") && meta.attempt() < 2 { Outcome::Retry } else { Outcome::Ack(()) }
}

#[dtq::main]
async fn main(app: &mut App) -> std::io::Result<()> {
    app.state(Folder(std::env::current_dir()?));
    Ok(())
}
