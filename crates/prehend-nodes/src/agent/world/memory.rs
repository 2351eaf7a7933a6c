//! What the memory knows of things that are described.

use super::NodeWorld;
use super::requests::lost;
use prehend_agent::world::Remembered;
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::msg::MemoryThing;
use prehend_msgs::prehend_interfaces::srv::QueryMemory;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Deadline of a question to the memory.
const REMEMBER: Duration = Duration::from_secs(3);
/// Most things that are remembered at once, and how well they fit compared with the one that fits best.
const MOST_REMEMBERED: u32 = 12;
const AS_WELL: f64 = 0.6;
/// How long a memory that was never heard of is looked for.
const DISCOVERY: Duration = Duration::from_millis(500);

impl NodeWorld {
    /// The things that fit about as well as the one that fits best; none where there is no memory.
    pub(super) fn recalled(&self, description: &str) -> Vec<Remembered> {
        let client = self.clients.memory.clone();
        // Few robots have one; where there is one it may not have been found yet.
        let found = client.clone();
        let look = async move {
            while !found.is_available() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if !matches!(self.wait(async move { Ok(tokio::time::timeout(DISCOVERY, look).await) }), Ok(Ok(()))) {
            return Vec::new();
        }
        let request =
            QueryMemory::Request { text: description.to_owned(), k: MOST_REMEMBERED, ..Default::default() };
        let answer = self.wait(async move {
            client.request(request, REMEMBER).await.map_err(|error| lost("memory", &error))
        });
        let mut things = match answer {
            Ok(answer) => answer.things,
            Err(fault) => {
                tracing::warn!("{}", fault.message);
                return Vec::new();
            }
        };
        let best = things.iter().map(|thing| thing.fits).fold(0.0, f64::max);
        things.retain(|thing| thing.fits >= AS_WELL * best);
        things.into_iter().filter_map(thing).collect()
    }
}

/// A thing of the memory; `None` when its place is none.
fn thing(thing: MemoryThing) -> Option<Remembered> {
    let center = convert::pose_from_msg(&thing.pose).ok()?.translation.vector.into();
    let seen = convert::seconds(&thing.last_seen);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(seen, |since| since.as_secs_f64());
    Some(Remembered {
        words: thing.words,
        on: thing.on,
        room: thing.room,
        center,
        ago: (now - seen).max(0.0),
        still_there: thing.still_there,
    })
}
