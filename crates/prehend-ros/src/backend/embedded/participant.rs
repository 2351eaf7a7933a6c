//! The process's membership in a DDS domain, and where endpoints are made.

use super::announcements;
use super::local::Locals;
use super::matches::{Matches, Prefix, prefix};
use super::names::{NodeKey, TopicType};
use super::pump::{Pump, PumpedReader, Work};
use super::range::Range;
use super::roster::{self, Roster};
use super::wire::{Raw, RawAdapter, Sink};
use crate::backend::EndpointName;
use crate::backend::watchdog::Watchdog;
use crate::sync::lock;
use crate::{Durability, QosProfile, Reliability, RosError};
use bytes::Bytes;
use rustdds::no_key::SimpleDataReader;
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, Duration, GUID, QosPolicyBuilder, RTPSEntity, Topic,
    TopicKind, policy,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::watch;

/// Membership in a domain; closed when the last handle goes, or on [`close`](Self::close).
pub(crate) struct Participant {
    pub(super) matches: Arc<Matches>,
    pub(super) locals: Locals,
    pub(super) roster: Arc<Roster>,
    own: Prefix,
    domain_id: u16,
    dds: Mutex<Option<Dds>>,
    pump: Mutex<Pump>,
    work: Sender<Work>,
    closed: Arc<AtomicBool>,
    next_node: AtomicU64,
    watchdog: Watchdog,
}

/// Ends of topics.
pub(super) type Ends = Vec<(TopicType, GUID)>;

/// What belongs to RustDDS.
struct Dds {
    participant: DomainParticipant,
    publisher: rustdds::Publisher,
    subscriber: rustdds::Subscriber,
}

impl Dds {
    fn topic(&self, topic: &TopicType, policies: &rustdds::QosPolicies) -> rustdds::dds::CreateResult<Topic> {
        let (name, type_name) = (topic.name.clone(), topic.type_name.clone());
        self.participant.create_topic(name, type_name, policies, TopicKind::NoKey)
    }
}

pub(super) fn failed(what: &str, error: &impl std::fmt::Display) -> RosError {
    RosError::Create { what: what.to_owned(), reason: error.to_string() }
}

/// Policies of a writer.
fn policies(qos: &QosProfile) -> QosPolicyBuilder {
    let builder = QosPolicyBuilder::new()
        .durability(match qos.durability {
            Durability::Volatile => policy::Durability::Volatile,
            Durability::TransientLocal => policy::Durability::TransientLocal,
        })
        .history(policy::History::KeepLast { depth: count(qos.depth.max(1)) })
        .deadline(policy::Deadline(Duration::INFINITE))
        .lifespan(policy::Lifespan { duration: Duration::INFINITE })
        .liveliness(policy::Liveliness::Automatic { lease_duration: Duration::INFINITE });
    match qos.reliability {
        // Zero: a full send window is an error at once, never a wait.
        Reliability::Reliable => builder.reliable(Duration::ZERO),
        Reliability::BestEffort => builder.best_effort(),
    }
}

/// Policies of a reader. RustDDS retains this many samples of a topic whether read or not, so images get little room; and it
/// drops unread ones beyond, so what must not be lost gets enough for a burst.
fn reader_policies(qos: &QosProfile) -> QosPolicyBuilder {
    let room = match (qos.reliability, qos.durability) {
        (Reliability::BestEffort, _) => qos.depth.max(8),
        (Reliability::Reliable, Durability::TransientLocal) => qos.depth.saturating_mul(2).max(8),
        (Reliability::Reliable, Durability::Volatile) => qos.depth.max(64),
    };
    policies(qos).resource_limits(policy::ResourceLimits {
        max_samples: count(room),
        max_instances: count(room),
        max_samples_per_instance: count(room),
    })
}

fn count(samples: usize) -> i32 {
    i32::try_from(samples).unwrap_or(i32::MAX)
}

impl Participant {
    /// Joins domain `domain_id`; with the processes that fell silent and are heard of again.
    pub(super) fn join(domain_id: u16) -> Result<(Arc<Self>, Receiver<Prefix>), RosError> {
        let what = format!("the DDS participant of domain {domain_id}");
        let mut builder = DomainParticipantBuilder::new(domain_id);
        let range = Range::of_environment()?;
        if let Some(networks) = range.only_networks() {
            builder = builder.with_only_networks(networks);
        }
        let participant = builder.build().map_err(|error| failed(&what, &error))?;
        let default = policies(&QosProfile::default()).build();
        let publisher = participant.create_publisher(&default).map_err(|error| failed(&what, &error))?;
        let subscriber = participant.create_subscriber(&default).map_err(|error| failed(&what, &error))?;
        let guid = participant.guid();
        let own = prefix(guid);
        let matches = Arc::new(Matches::new(own));
        let (closed, id) = (Arc::new(AtomicBool::new(false)), participant.participant_id());
        let (back, returned) = channel();
        let pump =
            Pump::start(&participant, matches.clone(), own, back).map_err(|error| failed(&what, &error))?;
        let work = pump.work.clone();
        let this = Arc::new(Self {
            matches,
            locals: Locals::default(),
            roster: Roster::new(guid),
            own,
            domain_id,
            dds: Mutex::new(Some(Dds { participant, publisher, subscriber })),
            pump: Mutex::new(pump),
            work,
            closed: closed.clone(),
            next_node: AtomicU64::new(1),
            watchdog: Watchdog::start().map_err(|error| failed(&what, &error))?,
        });
        announcements::start(domain_id, id, own, range, closed).map_err(|error| failed(&what, &error))?;
        let (topic, qos) = roster::topic();
        this.raw_reader(&topic, qos.depth(64), this.roster.ear())?;
        this.roster.speak_with(this.raw_writer(&topic, qos)?);
        Ok((this, returned))
    }

    pub(crate) fn domain_id(&self) -> u16 {
        self.domain_id
    }

    /// Leaves the domain now, telling the peers; endpoints that are left fail with [`RosError::Closed`].
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::SeqCst) {
            return;
        }
        self.roster.disconnect();
        lock(&self.pump).stop();
        let dds = lock(&self.dds).take();
        drop(dds);
        self.matches.touch();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Changes whenever who is connected may have changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.matches.changes()
    }

    /// Calls `tick` about every `period` on the pump's thread as long as it lives.
    pub(crate) fn tick(&self, period: std::time::Duration, tick: Weak<dyn Fn() + Send + Sync>) {
        self.send(Work::Tick(period, tick));
    }

    pub(super) fn own(&self) -> Prefix {
        self.own
    }

    pub(super) fn send(&self, work: Work) {
        // The pump is gone only when the participant is closed.
        let _ = self.work.send(work);
    }

    /// A node under its fully qualified name.
    pub(crate) fn add_node(&self, name: &str) -> Result<NodeKey, RosError> {
        if self.is_closed() {
            return Err(RosError::Closed);
        }
        let key = NodeKey(self.next_node.fetch_add(1, Ordering::Relaxed));
        self.roster.add_node(key, name);
        Ok(key)
    }

    pub(crate) fn remove_node(&self, node: NodeKey) {
        self.roster.remove_node(node);
    }

    pub(super) fn raw_writer(
        &self,
        topic: &TopicType,
        qos: QosProfile,
    ) -> Result<rustdds::no_key::DataWriter<Bytes, RawAdapter>, RosError> {
        let what = || format!("a writer on {}", topic.name);
        let policies = policies(&qos).build();
        let _watched = self.watchdog.watch(what());
        let guard = lock(&self.dds);
        let dds = guard.as_ref().ok_or(RosError::Closed)?;
        let dds_topic = dds.topic(topic, &policies).map_err(|error| failed(&what(), &error))?;
        dds.publisher
            .create_datawriter_no_key::<Bytes, RawAdapter>(&dds_topic, Some(policies))
            .map_err(|error| failed(&what(), &error))
    }

    pub(super) fn raw_reader(
        &self,
        topic: &TopicType,
        qos: QosProfile,
        sink: Sink,
    ) -> Result<GUID, RosError> {
        let dds = self.dds_only_reader(topic, qos)?;
        let guid = dds.guid();
        self.send(Work::AddReader(Box::new(PumpedReader { guid, dds, sink })));
        Ok(guid)
    }

    /// A reader out of which nobody takes anything.
    pub(super) fn dds_only_reader(
        &self,
        topic: &TopicType,
        qos: QosProfile,
    ) -> Result<SimpleDataReader<Raw, RawAdapter>, RosError> {
        let what = || format!("a reader on {}", topic.name);
        let policies = reader_policies(&qos).build();
        let _watched = self.watchdog.watch(what());
        let guard = lock(&self.dds);
        let dds = guard.as_ref().ok_or(RosError::Closed)?;
        let dds_topic = dds.topic(topic, &policies).map_err(|error| failed(&what(), &error))?;
        dds.subscriber
            .create_simple_datareader_no_key::<Raw, RawAdapter>(&dds_topic, Some(policies))
            .map_err(|error| failed(&what(), &error))
    }

    pub(super) fn forget(&self, node: NodeKey, topic: &TopicType, guid: GUID) {
        self.locals.remove(topic, guid);
        self.matches.forget(guid);
        self.roster.forget(node, guid);
        self.matches.touch();
    }

    /// What RustDDS has discovered: topic and GUID of every remote writer and reader.
    pub(super) fn discovered_endpoints(&self) -> (Ends, Ends) {
        let participant = match &*lock(&self.dds) {
            Some(dds) => dds.participant.clone(),
            None => return (Vec::new(), Vec::new()),
        };
        let writers = participant.discovered_writers().into_iter().map(|writer| {
            let data = writer.publication_topic_data;
            (TopicType { name: data.topic_name, type_name: data.type_name }, data.key)
        });
        let readers = participant.discovered_readers().into_iter().map(|reader| {
            let data = reader.subscription_topic_data;
            let topic = TopicType { name: data.topic_name().clone(), type_name: data.type_name().clone() };
            (topic, data.key())
        });
        (writers.collect(), readers.collect())
    }
}

impl Participant {
    /// What the writers of a topic offer, those of this process included; others do not tell their depth: 0.
    pub(crate) fn offered_qos(&self, named: &EndpointName) -> Vec<QosProfile> {
        let topic = TopicType::of_topic(named).name;
        let participant = lock(&self.dds).as_ref().map(|dds| dds.participant.clone());
        let writers = participant.map(|participant| participant.discovered_writers()).unwrap_or_default();
        let remote = writers
            .into_iter()
            .map(|writer| writer.publication_topic_data)
            .filter(|data| data.topic_name == topic && prefix(data.key) != self.own)
            .map(|data| QosProfile {
                reliability: match data.reliability {
                    Some(policy::Reliability::BestEffort) => Reliability::BestEffort,
                    // What a writer offers that does not say.
                    None | Some(policy::Reliability::Reliable { .. }) => Reliability::Reliable,
                },
                durability: match data.durability {
                    None | Some(policy::Durability::Volatile) => Durability::Volatile,
                    Some(_) => Durability::TransientLocal,
                },
                depth: 0,
            });
        remote.chain(self.locals.offered(&topic)).collect()
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.close();
    }
}
