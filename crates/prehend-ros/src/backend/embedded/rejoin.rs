//! Matches our endpoints again with those of a process that fell silent and is heard of again; and ends this one if it was suspended and
//! RustDDS has ended by it.
//!
//! Whose announcements stay away, as those of a process that was suspended, RustDDS 0.15 takes for lost, and forgets who was matched with
//! it. With the next announcement it knows the endpoints of the process again and matches them with nobody: what discovery has told
//! once it is not told again. Only a new endpoint of ours has everybody on its topic matched anew. So each topic that is shared
//! with the process gets one for a moment.

use super::matches::{Prefix, prefix};
use super::names::TopicType;
use super::participant::{Ends, Participant, failed};
use super::roster;
use crate::backend::watchdog;
use crate::{QosProfile, RosError};
use rustdds::GUID;
use std::any::Any;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// How long the endpoints of a process are waited for; those with which a policy is at odds are never matched.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether this process was suspended.
const LOOK: Duration = Duration::from_millis(500);
/// Who waits for so long instead was suspended, or is on a very busy machine.
const SUSPENDED: Duration = Duration::from_secs(2);
/// Time in which RustDDS notices that it was interrupted.
const NOTICED: Duration = Duration::from_millis(200);
/// Time between two looks.
const PERIOD: Duration = Duration::from_millis(20);

fn run(participant: &Weak<Participant>, back: &Receiver<Prefix>) {
    loop {
        let began = Instant::now();
        let returned = back.recv_timeout(LOOK);
        let waited = began.elapsed();
        let Some(participant) = participant.upgrade().filter(|participant| !participant.is_closed()) else {
            return;
        };
        match returned {
            Ok(process) => match participant.match_again(process) {
                Ok(topics) => {
                    let nodes = participant.roster.names_in(&process).join(", ");
                    warn!(
                        nodes,
                        topics, "a process fell silent and is heard of again: what it sent meanwhile is lost"
                    );
                }
                Err(error) => debug!(%error, "a process is heard of again while the participant closes"),
            },
            Err(RecvTimeoutError::Timeout) if waited > SUSPENDED => participant.check_after_suspension(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Topics of `ends` that belong to `process`.
fn topics_of(process: Prefix, ends: Ends) -> HashSet<TopicType> {
    ends.into_iter().filter(|(_, guid)| prefix(*guid) == process).map(|(topic, _)| topic).collect()
}

impl Participant {
    /// Joins domain `domain_id`, and looks after the processes that come back; that thread ends with the participant.
    pub(crate) fn create(domain_id: u16) -> Result<Arc<Self>, RosError> {
        let (this, back) = Self::join(domain_id)?;
        let participant = Arc::downgrade(&this);
        std::thread::Builder::new()
            .name("ros-rejoin".to_owned())
            .spawn(move || run(&participant, &back))
            .map_err(|error| failed("the thread that looks after processes that come back", &error))?;
        Ok(this)
    }

    /// Ends this process if RustDDS 0.15 has: its threads end when their waiting is interrupted, as it is when a process is stopped and
    /// goes on (SIGSTOP, Ctrl-Z and `fg`, a paused container, a debugger), and nobody is told.
    fn check_after_suspension(&self) {
        sleep(NOTICED);
        let (topic, _) = roster::topic();
        if let Err(error) = self.dds_only_reader(&topic, QosProfile::default())
            && !self.is_closed()
        {
            watchdog::end(&format!("the middleware has ended while this process was suspended ({error})"));
        }
    }

    /// Has our endpoints matched with those of `process`; gives on how many topics.
    fn match_again(&self, process: Prefix) -> Result<usize, RosError> {
        let (writers, readers) = self.discovered_endpoints();
        let (written, read) = (topics_of(process, writers), topics_of(process, readers));
        let mut shared: Vec<(Box<dyn Any>, Vec<GUID>)> = Vec::new();
        let (names, _) = roster::topic();
        let ours = self.locals.endpoints().into_iter().chain([(names, Vec::new(), Vec::new())]);
        for (topic, our_readers, our_writers) in ours {
            let speaks_of_nodes = topic.name == roster::TOPIC;
            if written.contains(&topic) && (speaks_of_nodes || !our_readers.is_empty()) {
                shared.push((Box::new(self.dds_only_reader(&topic, QosProfile::default())?), our_readers));
            }
            if read.contains(&topic) && (speaks_of_nodes || !our_writers.is_empty()) {
                shared.push((Box::new(self.raw_writer(&topic, QosProfile::default())?), our_writers));
            }
        }
        let until = Instant::now() + PATIENCE;
        let is_matched = |ours: &GUID| self.matches.peers(*ours).contains(&process);
        while Instant::now() < until && !shared.iter().flat_map(|(_, ours)| ours).all(is_matched) {
            sleep(PERIOD);
        }
        Ok(shared.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::announcements::{Announcement, Heard, listener, read};
    use super::super::range::Range;
    use super::*;
    use crate::DomainLease;
    use crate::backend::EndpointName;
    use crate::backend::embedded::{Reader, Writer};
    use crate::sync::lock;
    use bytes::Bytes;
    use std::net::{Ipv4Addr, UdpSocket};
    use std::sync::Mutex;

    const LONG: Duration = Duration::from_secs(30);

    /// A participant that says and hears something on one topic.
    struct Talker {
        participant: Arc<Participant>,
        writer: Writer,
        reader: Reader,
        heard: Arc<Mutex<Vec<Bytes>>>,
    }

    impl Talker {
        fn new(domain: u16, name: &str) -> Self {
            let participant = Participant::create(domain).expect("joined");
            let node = participant.add_node(name).expect("added");
            let topic = EndpointName::of("/talk", "std_msgs/msg/String".to_owned()).expect("a name");
            let heard = Arc::<Mutex<Vec<Bytes>>>::default();
            let kept = heard.clone();
            let sink = Arc::new(move |sample: super::super::Sample| lock(&kept).push(sample.payload));
            let writer = participant.writer(node, &topic, QosProfile::default()).expect("made");
            let reader = participant.reader(node, &topic, QosProfile::default(), sink).expect("made");
            Self { participant, writer, reader, heard }
        }

        /// Ends that are matched besides our own.
        fn matched(&self) -> usize {
            self.writer.matched() + self.reader.matched() - 2
        }

        fn hears(&self, other: &Self, word: &'static [u8]) -> bool {
            // Whoever has just been matched may not have matched us.
            other.writer.publish(Bytes::from_static(word)).expect("sent");
            sleep(PERIOD);
            lock(&self.heard).iter().any(|heard| heard.starts_with(word))
        }
    }

    fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
        let until = Instant::now() + LONG;
        while !is_so() {
            assert!(Instant::now() < until, "{what}");
            sleep(PERIOD);
        }
    }

    /// What `process` announces, believed for a second.
    fn for_a_second(mut announcement: Announcement) -> Announcement {
        let lease =
            announcement.data.windows(4).position(|bytes| bytes == [2, 0, 8, 0]).expect("a lease") + 4;
        announcement.data[lease..lease + 8].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
        announcement
    }

    #[test]
    fn a_process_that_falls_silent_is_connected_when_it_is_heard_of_again() {
        let domain = DomainLease::take().expect("a domain is free");
        let Ok(ears) = listener(domain.domain_id(), Range::Subnet) else {
            eprintln!("skipped: no network interface with multicast");
            return;
        };
        // The first one of a domain has the first port.
        let port = 7410 + 250 * domain.domain_id();
        let (one, other) =
            (Talker::new(domain.domain_id(), "/one"), Talker::new(domain.domain_id(), "/other"));
        wait("they meet", || one.matched() == 2 && other.matched() == 2);

        let mut buffer = [0; 0x1_0000];
        let mut announcement = None;
        wait("the other one announces itself", || {
            let length = ears.recv(&mut buffer).unwrap_or(0);
            announcement = match read(&buffer[..length]) {
                Some((process, Heard::Here(announcement))) if process == other.participant.own() => {
                    Some(for_a_second(announcement))
                }
                _ => None,
            };
            announcement.is_some()
        });
        let short = announcement.expect("heard").again(one.participant.own(), other.participant.own(), 7);
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("bound");
        sender.send_to(&short, (Ipv4Addr::LOCALHOST, port)).expect("sent");
        wait("it is believed for a second", || one.matched() == 0);

        wait("its next announcement brings it back", || one.matched() == 2);
        wait("it is heard", || one.hears(&other, b"hello"));
        wait("it hears", || other.hears(&one, b"there"));
    }
}
