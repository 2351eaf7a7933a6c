//! Parts of an object that serve an intent, and the evidence about them (AAH Algorithm 1).

use super::adviser::RemoteAdviser;
use super::failure::Failure;
use super::gathering::{Assessed, RemoteJudge, gathered};
use super::question::Question;
use super::{DEADLINE, Goal, Worker};
use prehend_convert as convert;
use prehend_geometry::plane::Plane;
use prehend_harness::subject::Subject;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::GetObject;
use prehend_perception::evidence;
use prehend_perception::parts::{WorkingPart, affordances, part_affordances, rule_of};
use prehend_scene::{Affordance, Intent, Object};
use std::sync::Arc;

/// Most kinds of parts that evidence is gathered about when that for the best one does not suffice.
const CHOICES: usize = 2;

impl Worker {
    /// The object with its views, the frame it is in, and the version of the map it is from.
    async fn fetch(&self, asked: &Question) -> Result<(Object, String, u64), Failure> {
        let request = GetObject::Request {
            key: asked.object.0.clone(),
            with_crops: true,
            scope: asked.scope.name().to_owned(),
        };
        let answer = self.objects.request(request, DEADLINE).await.map_err(Failure::MapLost)?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(Failure::UnknownKey(answer.error_message));
        }
        let object = convert::object_with_crops_from_msg(&answer)?;
        Ok((object, answer.object.cloud.header.frame_id, answer.map_version))
    }

    /// Parts of an object of the room that serve the intent, best first, and the frame they are in.
    pub(super) async fn remote_parts(&self, asked: &Question) -> Result<(Vec<Affordance>, String), Failure> {
        let (object, frame, _) = self.fetch(asked).await?;
        let support = evidence::support_under(&object, None);
        let (found, _) = self.parts_of(&object, support, &asked.intent);
        if found.is_empty() {
            return Err(asked.none_found());
        }
        Ok((found, frame))
    }

    /// Parts of an object near by that serve the intent, with what the verifier judged of the evidence about them.
    pub(super) async fn detect(
        &self,
        goal: &Goal,
        asked: &Question,
    ) -> Result<(Vec<Affordance>, Assessed), Failure> {
        self.feedback(goal, "fetching the object");
        let (object, _, version) = self.fetch(asked).await?;
        let plane = self.plane_of(version).await;
        self.feedback(goal, "finding parts");
        let support = evidence::support_under(&object, plane.as_ref());
        let (mut found, parts) = self.parts_of(&object, support, &asked.intent);
        if self.whole_object {
            found.iter_mut().for_each(|affordance| spread(affordance, &object));
        }
        if found.is_empty() {
            return Err(asked.none_found());
        }
        self.feedback(goal, "gathering evidence");
        let mut choices: Vec<Option<WorkingPart>> = parts.into_iter().take(CHOICES).map(Some).collect();
        if choices.is_empty() {
            choices.push(None);
        }
        let mut first = None;
        for part in choices {
            let about = part.as_ref().map(|part| (part.kind.clone(), part.centroid));
            let assessed = self.gather(&object, version, plane, part).await?;
            if !assessed.gathered.diagnostics.committed {
                first.get_or_insert(assessed);
                continue;
            }
            if let Some(mut recall) = self.recall() {
                recall.expect(assessed.id.clone(), assessed.episode.clone());
            }
            // What the evidence is about comes first.
            found.sort_by_key(|affordance| {
                about
                    .as_ref()
                    .is_some_and(|(kind, at)| affordance.part != *kind || affordance.centroid != *at)
            });
            return Ok((found, assessed));
        }
        first.map(|assessed| (found, assessed)).ok_or(Failure::Broken)
    }

    /// Evidence about one part of an object, or about the whole, until the verifier commits or nothing more helps.
    async fn gather(
        &self,
        object: &Object,
        map_version: u64,
        plane: Option<Plane>,
        part: Option<WorkingPart>,
    ) -> Result<Assessed, Failure> {
        let judge = RemoteJudge {
            client: self.verifier.clone(),
            runtime: tokio::runtime::Handle::current(),
            key: object.key.0.clone(),
            map_version,
            assessment: String::new(),
        };
        let runtime = tokio::runtime::Handle::current();
        let about =
            (object.class_name.clone(), part.as_ref().map(|part| part.kind.clone()).unwrap_or_default());
        let adviser = self.model.clone().map(|model| RemoteAdviser::new(model, runtime, about));
        let (knowledge, hand) = (Arc::clone(&self.knowledge), Some(self.hand));
        let subject = Arc::new(Subject { object: object.clone(), plane, part, knowledge, hand });
        let prior = self.recall().map(|recall| recall.of(&subject.appearance())).unwrap_or_default();
        let work = tokio::task::spawn_blocking(move || gathered(&subject, judge, &prior, adviser));
        work.await.map_err(|_| Failure::Broken)?
    }

    /// Parts that serve an intent, best first; when it acts on a part also what was found of each, so that the evidence is about it. A
    /// part that is named is the only one.
    fn parts_of(
        &self,
        object: &Object,
        support: f64,
        intent: &Intent,
    ) -> (Vec<Affordance>, Vec<WorkingPart>) {
        if rule_of(intent, object, &self.actions).is_none() {
            return (affordances(object, support, intent, self.max_opening, &self.actions), Vec::new());
        }
        let found = part_affordances(object, support, intent, &self.actions);
        let mut parts: Vec<WorkingPart> = Vec::new();
        for (_, part) in &found {
            if parts.iter().all(|known| known.kind != part.kind) {
                parts.push(part.clone());
            }
        }
        if intent.part().is_some() {
            parts.truncate(1);
        }
        (found.into_iter().map(|(affordance, _)| affordance).collect(), parts)
    }
}

/// Gives an affordance the cloud of the whole object; its skill and its normal stay.
fn spread(affordance: &mut Affordance, object: &Object) {
    affordance.cloud = object.cloud.clone();
    affordance.centroid = object.bounds.pose.translation.vector.into();
}
