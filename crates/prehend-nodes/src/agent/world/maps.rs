//! The maps: looked for anew, waited for, and asked for what is on them.

use super::NodeWorld;
use super::requests::lost;
use prehend_agent::world::{Fault, Rejected, Retrieval};
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::{RetrieveObjects, UpdateMap};
use prehend_scene::{ObjectKey, ObjectMap, Reason, Scope};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Deadline of a retrieval, which a vision-language model may have to confirm. That the node is lost is known earlier, by its
/// heartbeat.
const RETRIEVE: Duration = Duration::from_secs(prehend_llm::LONGEST_TIMEOUT + 2);
/// Deadline of a map update; the node waits for a frame.
const UPDATE: Duration = Duration::from_secs(6);
/// Longest wait for a frame within an update, seconds.
const FRAME: f64 = 3.0;
/// Longest wait for a map that was announced.
const MAP_PATIENCE: Duration = Duration::from_secs(2);

impl NodeWorld {
    /// The map after a new look; the newest one when nothing was seen.
    pub(super) fn updated_map(&self) -> Result<Arc<ObjectMap>, Fault> {
        let request = UpdateMap::Request {
            reset: false,
            view: "here".to_owned(),
            timeout: FRAME,
            ..Default::default()
        };
        let client = self.clients.update.clone();
        let answer = self.wait(async move {
            client.request(request, UPDATE).await.map_err(|error| lost("object_map", &error))
        })?;
        match answer.error_code {
            ErrorCode::SUCCESS => self.map_of(answer.version).map(|map| self.with_in_hand(map)),
            ErrorCode::MAP_NOTHING_SEEN => Ok(self.heard_map()),
            _ => Err(Fault::new(Reason::SensorFault, answer.error_message)),
        }
    }

    /// The newest map that was heard.
    pub(super) fn heard_map(&self) -> Arc<ObjectMap> {
        self.with_in_hand(self.clients.map.borrow().clone().unwrap_or_default())
    }

    /// What object_map finds for some words.
    pub(super) fn retrieved(&self, query: &str, k: u32, scope: Scope) -> Result<Retrieval, Fault> {
        let request = RetrieveObjects::Request { query: query.to_owned(), k, scope: scope.name().to_owned() };
        let client = self.clients.retrieve.clone();
        let answer = self.wait(async move {
            client.request(request, RETRIEVE).await.map_err(|error| lost("object_map", &error))
        })?;
        if scope == Scope::Local {
            // What was retrieved is there all the same; a skill will say when its map is another.
            self.catch_up(answer.map_version);
        }
        match answer.error_code {
            ErrorCode::SUCCESS => Ok(Retrieval {
                keys: answer.keys.into_iter().map(ObjectKey).collect(),
                rejected: answer
                    .rejected_keys
                    .into_iter()
                    .map(ObjectKey)
                    .zip(answer.rejected_reasons)
                    .map(|(key, reason)| Rejected { key, reason })
                    .collect(),
                doubtful: answer.doubtful_keys.into_iter().map(ObjectKey).collect(),
            }),
            ErrorCode::MAP_NOTHING_SEEN => Ok(Retrieval::default()),
            _ => Err(Fault::new(Reason::Internal, answer.error_message)),
        }
    }

    /// The map and what is in the hand: it can be spoken of like the rest.
    pub(super) fn with_in_hand(&self, map: Arc<ObjectMap>) -> Arc<ObjectMap> {
        let in_hand = self.clients.in_hand.borrow().clone().unwrap_or_default();
        match in_hand.objects.first().filter(|object| map.get(&object.key).is_none()) {
            Some(object) => {
                let mut map = ObjectMap::clone(&map);
                map.objects.push(object.clone());
                Arc::new(map)
            }
            None => map,
        }
    }

    /// The newest map that is at least this version.
    fn map_of(&self, version: u64) -> Result<Arc<ObjectMap>, Fault> {
        self.newest_of(self.clients.map.clone(), version)
    }

    /// Waits until the newest map is at least this version, so that nothing is planned with one from before; 0 is that of a skill that
    /// took none: before the first map there is nothing to wait for.
    pub(super) fn catch_up(&self, version: u64) {
        if version == 0 {
            return;
        }
        if let Err(fault) = self.map_of(version) {
            tracing::debug!("{}", fault.message);
        }
    }

    /// The newest map of a topic that is at least this version.
    pub(super) fn newest_of(
        &self,
        mut maps: watch::Receiver<Option<Arc<ObjectMap>>>,
        version: u64,
    ) -> Result<Arc<ObjectMap>, Fault> {
        self.wait(async move {
            let new_enough =
                |map: &Option<Arc<ObjectMap>>| map.as_ref().is_some_and(|m| m.version >= version);
            let found = tokio::time::timeout(MAP_PATIENCE, maps.wait_for(new_enough)).await;
            match found {
                Ok(Ok(map)) => Ok(map.clone().unwrap_or_default()),
                Ok(Err(_)) | Err(_) => Err(Fault::new(
                    Reason::SensorFault,
                    format!("object map version {version} was announced but not published"),
                )),
            }
        })
    }
}
