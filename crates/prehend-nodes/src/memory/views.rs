//! The views of a map on their way into the memory: fetched from object_map beside everything else that the node does.

use super::keeper::{Keeper, Kept};
use super::looks::{Looks, NewView};
use super::marks::marked;
use super::models::{Asked, Waiting};
use super::{locked, now};
use prehend_convert as convert;
use prehend_memory::memory::Noted;
use prehend_memory::record::Id;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, ObjectMap as ObjectMapMsg, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::GetObject;
use prehend_robots::shell::Trace;
use prehend_ros::Client;
use prehend_scene::{Object, Scope};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Deadline of each call to object_map.
const DEADLINE: Duration = Duration::from_secs(3);

/// Takes views; clones share what was taken.
#[derive(Clone)]
pub(super) struct Views {
    pub(super) trace: Trace,
    pub(super) keeper: Arc<Mutex<Keeper>>,
    pub(super) objects: Client<GetObject::Service>,
    /// Which map is remembered.
    pub(super) scope: Scope,
    pub(super) looks: Arc<Mutex<Looks>>,
    /// What waits for the models, if some are asked.
    pub(super) waiting: Option<Waiting>,
    /// Of how many things of a view a model is asked; 0 without one.
    pub(super) shown: usize,
}

impl Views {
    /// Keeps the views of a map that are not kept yet.
    pub(super) async fn keep(self, map: ObjectMapMsg) {
        let mut objects = Vec::new();
        let newly_seen = locked(&self.looks).newly_seen(&map);
        for known in &newly_seen {
            match self.fetch(&known.0).await {
                Ok(Some(object)) => objects.push(object),
                // It is gone again.
                Ok(None) => {}
                // Nothing waits for a node that is lost; the next map brings the views again.
                Err(said) => return tracing::warn!("what was seen is not remembered: {said}"),
            }
        }
        let mut views = locked(&self.looks).new_ones(&objects, &map);
        if views.is_empty() {
            return locked(&self.looks).taken(newly_seen);
        }
        let (keeper, shown) = (Arc::clone(&self.keeper), self.shown);
        let kept = tokio::task::spawn_blocking(move || {
            let looks = views.iter_mut().map(|view| &mut view.look);
            let (kept, result) = locked(&keeper).observe(looks, now());
            let asked = views.iter().zip(&kept.noted).filter_map(|(view, noted)| asked(view, noted, shown));
            let asked: Vec<Asked> = asked.collect();
            (kept, result, asked)
        });
        let lost = || (Kept::default(), Err("keeping ended without a result".to_owned()), Vec::new());
        let (noted, result, asked) = kept.await.unwrap_or_else(|_| lost());
        if let Some(waiting) = &self.waiting {
            waiting.kept(asked);
        }
        match result {
            Ok(()) => {
                locked(&self.looks).taken(newly_seen);
                let [known, new, missed] = noted.counts();
                let views = noted.noted.len();
                let data = json!({ "views": views, "known": known, "new": new, "missed": missed });
                let said =
                    format!("{views} views: {known} things known, {new} new, {missed} not where they were");
                self.trace.event("", TraceEvent::KIND_EVIDENCE, "memory", "kept", said, data);
            }
            Err(said) => {
                // The rest is kept with the next map.
                locked(&self.looks).take_back(noted.noted.len());
                tracing::warn!("what was seen is not remembered: {said}");
                self.trace.event("", TraceEvent::KIND_WARNING, "memory", "failed", said, json!({}));
            }
        }
    }

    /// An object with its pictures; `None` when it is not there any more.
    async fn fetch(&self, key: &str) -> Result<Option<Object>, String> {
        let request =
            GetObject::Request { key: key.to_owned(), with_crops: true, scope: self.scope.name().to_owned() };
        let answer = self.objects.request(request, DEADLINE).await.map_err(|error| error.to_string())?;
        match answer.error_code {
            ErrorCode::SUCCESS => {
                convert::object_with_crops_from_msg(&answer).map(Some).map_err(|error| error.to_string())
            }
            _ => Ok(None),
        }
    }
}

/// What a model is asked about a view that is kept; nothing when it is to be shown nothing.
fn asked(view: &NewView, noted: &Noted, shown: usize) -> Option<Asked> {
    let (marked, indices) = marked(view, shown)?;
    let things: Option<Vec<Id>> = indices.into_iter().map(|index| noted.things.get(index).copied()).collect();
    Some(Asked { view: noted.view, things: things?, marked })
}
