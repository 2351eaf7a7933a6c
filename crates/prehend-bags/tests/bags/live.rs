//! The recorder in a graph of its own.

use prehend_bags::{BagOptions, RecordOptions, Recorder, Topics, stored_messages};
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_msgs::std_msgs::msg::String as Text;
use prehend_ros::{Context, DomainLease, Node, NodeOptions, QosProfile, from_cdr};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// Two processes' worth of nodes in a domain of their own.
fn graph(lease: &DomainLease) -> [(Context, Node); 2] {
    ["talker", "recorder"].map(|name| {
        let context = Context::create_in_domain(lease.domain_id()).unwrap();
        let node = Node::create(&context, name, "", NodeOptions::default()).unwrap();
        (context, node)
    })
}

async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn counts(bag: &Path) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let damage = stored_messages(bag, false, &mut |message| {
        *counts.entry(message.topic.to_owned()).or_insert(0) += 1;
        true
    });
    assert!(damage.unwrap().is_none());
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn topics_are_recorded_as_they_come_and_what_was_latched_comes_first() {
    let lease = DomainLease::take().expect("a domain is free");
    let [(_talking, talker), (_recording, node)] = graph(&lease);
    let latched = talker.create_publisher::<Text>("/latched", QosProfile::transient_local()).unwrap();
    latched.publish(&Text { data: "said before".to_owned() }).unwrap();
    let moving = talker.create_publisher::<JointState>("/joint_states", QosProfile::default()).unwrap();
    let unwanted = talker.create_publisher::<Text>("/unwanted", QosProfile::default()).unwrap();
    // Nobody knows this type.
    let strange =
        talker.create_raw_publisher("/strange", "their_msgs/msg/Secret", QosProfile::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bag = folder.path().join("bag");
    let topics = Topics::Named(["/latched", "/joint_states", "/strange"].map(str::to_owned).into());
    let recorder = Recorder::start(&node, &bag, RecordOptions::new(topics)).unwrap();
    until("both topics are found", || recorder.progress().topics == 2).await;
    assert!(recorder.connected(DEADLINE).await);
    until("the latched message is there", || recorder.progress().messages == 1).await;
    let mut remarks = Vec::new();
    until("a remark", || {
        remarks.extend(recorder.remarks());
        !remarks.is_empty()
    })
    .await;
    assert!(remarks[0].contains("/strange") && remarks[0].contains("their_msgs/msg/Secret"), "{remarks:?}");
    strange.publish(&[0, 1, 0, 0, 1]).unwrap();
    unwanted.publish(&Text::default()).unwrap();
    for number in 0..50 {
        let state = JointState { position: vec![f64::from(number)], ..Default::default() };
        moving.publish(&state).unwrap();
    }
    until("all are there", || recorder.progress().messages == 51).await;
    let recorded = recorder.finish().await.unwrap();
    assert_eq!((recorded.written.messages, recorded.progress.dropped), (51, 0));
    let mut positions = Vec::new();
    let mut first = None;
    let mut times = Vec::new();
    stored_messages(&bag, false, &mut |message| {
        first.get_or_insert_with(|| message.topic.to_owned());
        times.push(message.logged);
        if message.topic == "/joint_states" {
            positions.extend(from_cdr::<JointState>(message.data).unwrap().position);
        }
        true
    })
    .unwrap();
    assert_eq!(first.as_deref(), Some("/latched"));
    assert_eq!(positions, (0..50).map(f64::from).collect::<Vec<_>>());
    assert!(times.is_sorted() && times[0] > 1_600_000_000_000_000_000);
    let metadata = std::fs::read_to_string(bag.join("metadata.yaml")).unwrap();
    assert!(metadata.contains("message_count: 51"), "{metadata}");
    assert_eq!(counts(&bag), BTreeMap::from([("/joint_states".to_owned(), 50), ("/latched".to_owned(), 1)]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_into_the_cache_is_dropped_and_counted() {
    let lease = DomainLease::take().expect("a domain is free");
    let [(_talking, talker), (_recording, node)] = graph(&lease);
    let small = talker.create_publisher::<Text>("/small", QosProfile::default()).unwrap();
    let large = talker.create_publisher::<Text>("/large", QosProfile::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bag = folder.path().join("bag");
    let options =
        RecordOptions { cache: 1000, bag: BagOptions::default(), ..RecordOptions::new(Topics::All) };
    let recorder = Recorder::start(&node, &bag, options).unwrap();
    until("both topics are found", || small.subscriber_count() == 1 && large.subscriber_count() == 1).await;
    assert!(recorder.connected(DEADLINE).await);
    for _ in 0..10 {
        large.publish(&Text { data: "x".repeat(2000) }).unwrap();
    }
    until("ten are dropped", || recorder.progress().dropped == 10).await;
    small.publish(&Text { data: "fits".to_owned() }).unwrap();
    until("one is there", || recorder.progress().messages >= 1).await;
    let recorded = recorder.finish().await.unwrap();
    assert_eq!(recorded.dropped.get("/large"), Some(&10), "{recorded:?}");
    assert_eq!(counts(&bag).get("/small"), Some(&1));
    assert_eq!(counts(&bag).get("/large"), None);
}
