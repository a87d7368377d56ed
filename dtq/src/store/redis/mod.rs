//! The store on Redis 6.2 or later, or Valkey.
//!
//! One Lua script a verb, so each step is atomic and costs one round trip. A task's envelope (what never changes) is
//! written once, into the entry of its band's stream; what changes is a short record; the streams' pending lists are
//! the set of running tasks. Key names: `keys.rs`. The record: `record.rs`. The scripts: `lua/`.
//!
//! How the contract is met where the server leaves a choice:
//!
//! - A lease is the entry's silence in the pending list, which a renewal sets back to zero. It runs out when a claim
//!   of any worker finds it silent for the length that its owner's name in the group tells.
//! - A worker's own signs of life stand in each queue that it holds tasks of, so that a step needs one queue's keys only.
//! - A settlement that is sent again is told from a stale one by what the record names as its origin. Without a record
//!   (retention zero) both are answered [`Settled::Stale`], without an event.
//! - A task that was asked to stop, and whose worker settles it with anything but success before it learns of that,
//!   becomes cancelled there and then: the answer says so.
//! - A server that is out of memory refuses new tasks but lets workers claim and settle.

mod address;
mod audit;
mod cancel;
mod claim;
mod dead_letters;
mod dial;
mod enqueue;
mod entry;
mod events;
mod fault;
mod inspect;
mod keys;
mod link;
mod listing;
mod messages;
mod notes;
mod once;
mod probe;
mod queues;
mod record;
mod renew;
mod reply;
mod report;
mod runs;
mod schedules;
mod scripts;
mod settle;
mod steer;
mod stops;
mod wait;
mod workers;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::Handle;

use self::address::Address;
use self::keys::Keys;
use self::link::Link;
use super::{
    Accepted, AuditQuery, CancelOutcome, CancelRequest, Claim, Claimed, DeadLetterPage, DeadLetterQuery, Declaration,
    Declared, Description, EventQuery, Fire, Fired, Heartbeat, LimitsDeclaration, LimitsRequest, OnceEnd, OnceRequest,
    OnceState, PauseRequest, Purge, Purged, Renewal, Renewed, Report, Result, ScheduleOutcome, ScheduleRequest,
    Schedules, Settled, Settlement, Steered, Steering, StopQuery, Stops, Store, StoreError, TaskPage, TaskQuery, Wait,
    Warning,
};
use crate::types::{
    AuditEntry, EventPage, NewTask, QueueLimits, QueueName, QueueStats, Record, TaskId, WorkerId, WorkerInfo,
};

/// How a [`RedisStore`] behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisOptions {
    /// What every key begins with. Deployments with different prefixes do not see each other. Default: `dtq`.
    pub prefix: String,
    /// The longest wait for an answer; commands that block have that much time on top. Default: 5 s.
    pub response_timeout: Duration,
    /// The longest wait for a connection. Default: 5 s.
    pub connect_timeout: Duration,
    /// About how many entries each event log keeps; an entry holds the events of one step. Default: 4096.
    pub event_log: usize,
    /// Accept a server that may evict unfinished tasks when its memory is full. Default: false.
    pub allow_eviction: bool,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            prefix: "dtq".to_owned(),
            response_timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(5),
            event_log: 4096,
            allow_eviction: false,
        }
    }
}

/// Tasks in a Redis or Valkey server.
#[derive(Debug)]
pub struct RedisStore {
    link: Arc<Link>,
    keys: Keys,
    waiting: wait::Waiting,
    /// Queues that this handle has put on the list of queues.
    listed: Mutex<HashSet<QueueName>>,
}

impl RedisStore {
    /// A store at `redis://[user:password@]host[:port][/database]` or `unix:///path/to/socket`. Only reads the URL:
    /// the first call connects, and every call after a failure connects anew.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when the URL or the prefix is of no use. A URL that cannot be read is not shown.
    pub fn connect(url: &str, options: RedisOptions) -> Result<Self, StoreError> {
        let (client, address) = Address::read(url)?;
        if options.prefix.is_empty() || options.prefix.contains(['{', '}']) {
            let detail =
                format!("the key prefix {:?} is empty or holds a brace; write one such as \"dtq\"", options.prefix);
            return Err(StoreError::Unusable { store: address.to_string(), detail });
        }
        Ok(Self::on(Link::new(client, address, options, None)))
    }

    fn on(link: Link) -> Self {
        let keys = Keys::new(&link.options().prefix);
        let link = Arc::new(link);
        let waiting = wait::Waiting::new(link.clone(), keys.clone());
        Self { link, keys, waiting, listed: Mutex::default() }
    }
}

#[async_trait]
impl Store for RedisStore {
    fn address(&self) -> &str {
        self.link.address()
    }

    async fn probe(&self) -> Result<Vec<Warning>> {
        probe::probe(self).await
    }

    async fn describe(&self) -> Result<Description> {
        probe::describe(self).await
    }

    fn broker(&self) -> Option<Arc<dyn super::messages::Broker>> {
        Some(Arc::new(messages::RedisBroker::on(self.link.clone())))
    }

    async fn dedicated(&self) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Self::on(self.link.driven_by(Handle::current()))))
    }

    async fn enqueue(&self, tasks: Vec<NewTask>) -> Result<Vec<Accepted>> {
        enqueue::enqueue(self, tasks).await
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed> {
        claim::claim(self, &claim).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        settle::settle(self, settlements).await
    }

    async fn renew(&self, renewal: Renewal) -> Result<Vec<Renewed>> {
        renew::renew(self, &renewal).await
    }

    async fn wait(&self, wait: Wait) -> Result<()> {
        self.waiting.wait(wait).await
    }

    async fn cancel(&self, request: CancelRequest) -> Result<CancelOutcome> {
        cancel::cancel(self, &request).await
    }

    async fn stops(&self, query: StopQuery) -> Result<Stops> {
        stops::stops(self, &query).await
    }

    async fn report(&self, reports: Vec<Report>) -> Result<Vec<bool>> {
        report::report(self, &reports).await
    }

    async fn begin_once(&self, request: OnceRequest) -> Result<OnceState> {
        once::begin(self, &request).await
    }

    async fn end_once(&self, end: OnceEnd) -> Result<bool> {
        once::end(self, &end).await
    }

    async fn find_by_key(&self, queue: &QueueName, key: &str) -> Result<Option<TaskId>> {
        inspect::find_by_key(self, queue, key).await
    }

    async fn declare_schedules(&self, declaration: Declaration) -> Result<Declared> {
        schedules::declare(self, &declaration).await
    }

    async fn steer_schedule(&self, request: ScheduleRequest) -> Result<ScheduleOutcome> {
        schedules::steer(self, &request).await
    }

    async fn fire(&self, fire: Fire) -> Result<Fired> {
        schedules::fire(self, &fire).await
    }

    async fn schedules(&self, queue: &QueueName) -> Result<Schedules> {
        schedules::list(self, queue).await
    }

    async fn get(&self, id: &TaskId) -> Result<Option<Record>> {
        inspect::get(self, id).await
    }

    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage> {
        dead_letters::dead_letters(self, &query).await
    }

    async fn steer(&self, steering: Steering) -> Result<Vec<Steered>> {
        steer::steer(self, &steering).await
    }

    async fn list(&self, query: TaskQuery) -> Result<TaskPage> {
        listing::list(self, &query).await
    }

    async fn stats(&self, queue: &QueueName) -> Result<QueueStats> {
        inspect::stats(self, queue).await
    }

    async fn pause(&self, request: PauseRequest) -> Result<bool> {
        queues::pause(self, &request).await
    }

    async fn set_limits(&self, request: LimitsRequest) -> Result<()> {
        queues::set_limits(self, &request).await
    }

    async fn declare_limits(&self, declaration: LimitsDeclaration) -> Result<()> {
        queues::declare_limits(self, &declaration).await
    }

    async fn limits(&self, queue: &QueueName) -> Result<QueueLimits> {
        queues::limits(self, queue).await
    }

    async fn purge(&self, purge: Purge) -> Result<Purged> {
        queues::purge(self, &purge).await
    }

    async fn queues(&self) -> Result<Vec<QueueName>> {
        inspect::queues(self).await
    }

    async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>> {
        audit::audit(self, &query).await
    }

    async fn events(&self, query: EventQuery) -> Result<EventPage> {
        events::events(self, &query).await
    }

    async fn heartbeat(&self, heartbeat: Heartbeat) -> Result<()> {
        workers::heartbeat(self, &heartbeat).await
    }

    async fn farewell(&self, worker: &WorkerId) -> Result<()> {
        workers::farewell(self, worker).await
    }

    async fn workers(&self) -> Result<Vec<WorkerInfo>> {
        workers::workers(self).await
    }
}
