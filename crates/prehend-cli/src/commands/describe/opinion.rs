//! Asking a vision-language model for its opinion of a description that is written already: what it costs when the model is away, slow
//! or talks nonsense is the opinion and nothing else.

use super::doubt::Opinions;
use super::looks;
use super::tables::{JointRow, Whole, joints, whole};
use crate::screen::{Paint, Screen};
use prehend_articulation::critic::JointVerdict;
use prehend_articulation::{Described, Iteration, Joint, JointKind, Observation, to_urdf};
use prehend_config::share;
use prehend_eval::html::escape;
use prehend_llm::{
    AskError, AskedJoint, JointQuestion, ModelQuestion, ModelView, Motion, Purpose, SecondOpinion,
    VlmSettings,
};
use prehend_sim::sensors::{RenderError, View};
use std::fmt::Write;
use std::path::Path;

/// Who is asked for a second opinion.
pub(super) struct Second {
    /// Nobody when the file names no server.
    model: Option<SecondOpinion>,
    file: String,
}

/// Why there is no opinion about one thing.
#[derive(Debug, thiserror::Error)]
enum Missing {
    #[error("its pictures cannot be drawn: {0}")]
    Picture(#[from] RenderError),
    #[error("{0}")]
    Model(#[from] AskError),
}

impl Missing {
    /// Whether the next question would fare as badly: a model that answered nonsense may answer that one.
    fn is_lost(&self) -> bool {
        matches!(self, Self::Model(error) if !matches!(error, AskError::Unusable(_)))
    }
}

impl Second {
    /// As a file with the mapping `vlm` says. Nothing is sent yet.
    ///
    /// Errors: a file that is wrong, a key that is not there.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let path = share::resolve(file);
        let settings = prehend_config::read_file(&path, |root| {
            root.map(|map| map.or("vlm", None, |value| VlmSettings::read(&value, Purpose::DESCRIBE)))
        });
        let model = match settings.map_err(|error| error.to_string())? {
            Some(settings) => {
                let key = settings.key()?;
                let model = SecondOpinion::new(settings, key.as_deref());
                Some(model.map_err(|error| format!("{}: {error}", path.display()))?)
            }
            None => None,
        };
        Ok(Self { model, file: path.display().to_string() })
    }

    /// What it says of each joint whose motion was recorded and of the whole, one question after the other: each has its whole time.
    /// After one that a server did not answer, no more are asked.
    pub(super) async fn ask(&self, observation: &Observation, described: &Described) -> Opinions {
        let best = described.best();
        let verdicts = &best.verdicts.joints;
        let mut opinions = Opinions { joints: vec![None; verdicts.len()], ..Opinions::default() };
        let Some(model) = &self.model else {
            let line =
                format!("{} names no server (vlm.base_url and vlm.model): nobody was asked", self.file);
            opinions.missing.push(line);
            return opinions;
        };
        for (opinion, verdict) in opinions.joints.iter_mut().zip(verdicts) {
            let asked = match joint_question(observation, best, verdict) {
                Ok(None) => continue,
                Ok(Some(question)) => model.of_joint(&question).await.map_err(Missing::from),
                Err(error) => Err(error.into()),
            };
            match asked {
                Ok(said) => *opinion = Some(said),
                Err(why) => {
                    opinions.missing.push(format!("no opinion of {}: {why}", verdict.joint));
                    if why.is_lost() {
                        return opinions;
                    }
                }
            }
        }
        let asked = match model_question(observation, best) {
            Ok(question) => model.of_model(&question).await.map_err(Missing::from),
            Err(error) => Err(error.into()),
        };
        match asked {
            Ok(said) => opinions.model = Some(said),
            Err(why) => opinions.missing.push(format!("no opinion of the whole: {why}")),
        }
        opinions
    }
}

/// What is asked about the joint of a verdict; `None` when its part was not seen to move, so that there is nothing to compare it with.
fn joint_question(
    observation: &Observation,
    best: &Iteration,
    verdict: &JointVerdict,
) -> Result<Option<JointQuestion>, RenderError> {
    let found = looks::motion(verdict).and_then(|(before, after)| {
        let link = best.links.get(verdict.part).copied().flatten()?;
        let joint = best.model.joint_of(link)?;
        let recorded = [observation.looks.get(before)?, observation.looks.get(after)?];
        Some(([before, after], recorded, joint, observation.parts.get(verdict.part)?))
    });
    let Some(([before, after], [seen_before, seen_after], joint, part)) = found else { return Ok(None) };
    let view = looks::camera(observation, best);
    let drawn = |look| looks::drawn(best, &looks::positions(best, look), &view);
    Ok(Some(JointQuestion {
        thing: observation.class.clone(),
        part: part.class.clone(),
        color: looks::color_name(joint.child).to_owned(),
        joint: asked_joint(best, joint),
        looks_along: looks_along(best, &view),
        recorded: Motion {
            before: looks::recorded(best, seen_before, &view),
            after: looks::recorded(best, seen_after, &view),
        },
        model: Motion { before: drawn(before)?, after: drawn(after)? },
    }))
}

/// A joint in the frame of the model.
fn asked_joint(best: &Iteration, joint: &Joint) -> AskedJoint {
    let poses = best.model.poses(&[]);
    let origin = poses.get(joint.child).map_or(joint.origin.coords, |pose| pose.translation.vector);
    let [low, high] = joint.limits;
    AskedJoint {
        name: joint.name.clone(),
        kind: joint.kind.name().to_owned(),
        origin: origin.into(),
        // At position 0 all frames are parallel.
        axis: joint.axis.into_inner().into(),
        limits: match joint.kind {
            JointKind::Fixed => "it does not move".to_owned(),
            JointKind::Continuous => "without end".to_owned(),
            JointKind::Prismatic => format!("{low:.3} to {high:.3} m"),
            JointKind::Revolute => {
                format!("{:.0} to {:.0} degrees", low.to_degrees(), high.to_degrees())
            }
        },
    }
}

/// Unit direction of the camera in the frame of the model.
fn looks_along(best: &Iteration, view: &View) -> [f64; 3] {
    let in_map = view.world_from_camera.rotation * nalgebra::Vector3::z();
    best.map_from_model.rotation.inverse_transform_vector(&in_map).into()
}

/// What is asked about the whole.
fn model_question(observation: &Observation, best: &Iteration) -> Result<ModelQuestion, RenderError> {
    let view = looks::camera(observation, best);
    let (closed, open) = (looks::opened(best, 0.0), looks::opened(best, looks::OPEN));
    let mut views = vec![
        ModelView { title: "Closed:", picture: looks::drawn(best, &closed, &view)? },
        ModelView { title: "Open, by the same camera:", picture: looks::drawn(best, &open, &view)? },
    ];
    for (title, view) in looks::sides(observation, best) {
        views.push(ModelView { title, picture: looks::drawn(best, &open, &view)? });
    }
    Ok(ModelQuestion {
        thing: observation.class.clone(),
        joints: best.model.joints.iter().map(|joint| joint.name.clone()).collect(),
        urdf: to_urdf(&best.model),
        views,
    })
}

/// What came of asking, on the screen.
pub(super) fn tell(screen: &Screen, described: &Described, opinions: &Opinions) {
    let joints = opinions.joints.iter().flatten().count();
    if let Some(whole) = &opinions.model {
        screen.line(format!(
            "  second opinion of {joints} joints and of the whole: links {:.1}, joints {:.1} of 10",
            whole.link_position_score, whole.joint_score
        ));
    } else if joints > 0 {
        screen.line(format!("  second opinion of {joints} joints"));
    }
    for line in opinions.doubts(described).iter().chain(&opinions.missing) {
        screen.line(format!("  {}", screen.paint(Paint::Yellow, line)));
    }
}

/// The same on the page, with all that was said.
pub(super) fn section(described: &Described, opinions: &Opinions) -> String {
    let mut html = "<h2>Second opinion</h2>".to_owned();
    let list = |html: &mut String, class: &str, lines: &[String]| {
        for line in lines {
            // Writing to a string does not fail.
            let _ = write!(html, "<p{class}>{}</p>", escape(line));
        }
    };
    list(&mut html, " class=\"bad\"", &opinions.doubts(described));
    list(&mut html, "", &opinions.missing);
    let asked = opinions.joints.iter().any(Option::is_some) || opinions.model.is_some();
    if !asked {
        if opinions.missing.is_empty() {
            html.push_str("<p>No vision-language model was asked.</p>");
        }
        return html;
    }
    html.push_str(
        "<p>A vision-language model looked at the pictures. The critics that measure remain the judge.</p>",
    );
    let verdicts = described.best().verdicts.joints.iter().zip(&opinions.joints);
    html.push_str(&joints(verdicts.filter_map(|(verdict, opinion)| {
        let opinion = opinion.as_ref()?;
        Some(JointRow {
            joint: &verdict.joint,
            rating: opinion.realism_rating,
            finding: opinion.failure_reason.name(),
            seen: &opinion.gt_description,
            model: format!("{} {}", opinion.candidate_function_description, opinion.pred_description),
            suggestion: &opinion.improvement_suggestion,
            is_bad: false,
        })
    })));
    if let Some(said) = &opinions.model {
        let detail = said.joint_evaluation_details.iter();
        html.push_str(&whole(&Whole {
            links: said.link_position_score,
            joints: said.joint_score,
            why: &said.link_position_reasoning,
            details: detail
                .map(|one| {
                    (one.joint_name.as_str(), [one.type_score, one.position_score], one.reasoning.as_str())
                })
                .collect(),
        }));
    }
    html
}
