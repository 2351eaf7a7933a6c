//! The skills that look at one object (AAH 3.1): what the detectors drew, geometry, colour, what is known of its kind, each at two
//! scales, the same in further views, and what would come of acting on it. They look at what the map keeps of the object; nothing moves.

use crate::Tool;
use crate::imagination::{self, IMAGINATION};
use crate::subject::Subject;
use prehend_perception::evidence::{self, Look, part};
use prehend_scene::{Crop, Deficiency, Evidence};
use std::sync::Arc;

/// What is known before any tool runs: what the detector, or the part detector, said of the best view.
pub fn initial(subject: &Subject) -> Vec<Evidence> {
    let Some(crop) = best_crop(subject) else { return Vec::new() };
    match &subject.part {
        Some(wanted) => part::detected(wanted, &subject.object, crop),
        None => evidence::detector(crop),
    }
}

/// The best view; for a part the best of those in which the part detector saw it.
fn best_crop(subject: &Subject) -> Option<&Crop> {
    let crops = &subject.object.crops;
    let seen = subject.part.as_ref().and_then(|wanted| {
        crops.iter().find(|crop| !part::detected(wanted, &subject.object, crop).is_empty())
    });
    seen.or(crops.first())
}

/// What a tool does with a view.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Geometry(Look),
    Color(Look),
    Knowledge,
    /// The part by geometry alone.
    PartGeometry(Look),
    /// The part by its colour.
    PartColor(Look),
    /// What would come of acting on it.
    Imagination,
    /// Everything of one further view.
    View,
}

impl Deed {
    /// Who looks, and how closely, when it is one look.
    fn look(self) -> Option<(&'static str, Look)> {
        match self {
            Self::Geometry(look) => Some((evidence::GEOMETRY, look)),
            Self::PartGeometry(look) => Some((part::PART_GEOMETRY, look)),
            Self::Color(look) | Self::PartColor(look) => Some((evidence::COLOR, look)),
            Self::Knowledge | Self::Imagination | Self::View => None,
        }
    }
}

struct ViewTool {
    name: String,
    deed: Deed,
    subject: Arc<Subject>,
    crop: usize,
}

impl Tool for ViewTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn cures(&self, evidence: &[Evidence]) -> &[Deficiency] {
        use Deficiency::{Mu, Omega, Zeta};
        let Some((producer, look)) = self.deed.look() else {
            return if matches!(self.deed, Deed::View) { &[Mu, Omega] } else { &[Mu] };
        };
        let view = self.subject.object.crops.get(self.crop).map(|crop| crop.view.as_str());
        // Stability shows only where one producer looked at both scales.
        let is_other_scale = |record: &Evidence| {
            record.producer == producer
                && Some(record.view.as_str()) == view
                && (record.scale - look.scale()).abs() > 1e-6
        };
        if evidence.iter().any(is_other_scale) { &[Zeta, Omega] } else { &[Omega, Mu] }
    }

    fn producer(&self) -> &str {
        self.deed.look().map_or(&self.name, |(producer, _)| producer)
    }

    fn cost(&self) -> f64 {
        // Two looks at another view.
        if matches!(self.deed, Deed::View) { 2.0 } else { 1.0 }
    }

    fn run(&mut self, evidence: &[Evidence]) -> Vec<Evidence> {
        let subject = &self.subject;
        let Some(crop) = subject.object.crops.get(self.crop) else { return Vec::new() };
        match self.deed {
            Deed::Geometry(look) => subject.geometry(crop, look).into_iter().collect(),
            Deed::Color(look) => evidence::color(&subject.object, crop, look).into_iter().collect(),
            Deed::Knowledge => {
                evidence::knowledge(&subject.object, crop, subject.support(), &subject.knowledge)
                    .into_iter()
                    .collect()
            }
            Deed::PartGeometry(look) => subject.part_geometry(crop, look).into_iter().collect(),
            Deed::PartColor(look) => subject.part_color(crop, look).into_iter().collect(),
            Deed::Imagination => imagination::play(subject, evidence).into_iter().collect(),
            Deed::View if subject.part.is_some() => {
                let mut found: Vec<Evidence> = subject
                    .part
                    .iter()
                    .flat_map(|wanted| part::detected(wanted, &subject.object, crop))
                    .collect();
                for look in [Look::First, Look::Zoomed] {
                    found.extend(subject.part_geometry(crop, look));
                }
                found
            }
            Deed::View => {
                let mut found = evidence::detector(crop);
                for look in [Look::First, Look::Zoomed] {
                    found.extend(subject.geometry(crop, look));
                }
                found
            }
        }
    }
}

/// The tools for an object, in the order they are preferred when nothing else decides.
pub fn tools(subject: &Arc<Subject>) -> Vec<Box<dyn Tool + Send>> {
    let tool = |name: String, deed, crop| -> Box<dyn Tool + Send> {
        Box::new(ViewTool { name, deed, subject: Arc::clone(subject), crop })
    };
    let crops = &subject.object.crops;
    let best = match subject.part {
        Some(_) => {
            let view = best_crop(subject).map(|crop| crop.view.as_str());
            crops.iter().position(|crop| Some(crop.view.as_str()) == view).unwrap_or(0)
        }
        None => 0,
    };
    let looks = match subject.part {
        Some(_) => vec![
            ("part geometry", Deed::PartGeometry(Look::First)),
            ("part geometry zoomed", Deed::PartGeometry(Look::Zoomed)),
            ("part color", Deed::PartColor(Look::First)),
            ("part color zoomed", Deed::PartColor(Look::Zoomed)),
        ],
        None => vec![
            ("geometry", Deed::Geometry(Look::First)),
            ("geometry zoomed", Deed::Geometry(Look::Zoomed)),
            ("color", Deed::Color(Look::First)),
            ("color zoomed", Deed::Color(Look::Zoomed)),
            ("knowledge", Deed::Knowledge),
        ],
    };
    let imagination =
        (subject.part.is_some() && subject.hand.is_some()).then_some((IMAGINATION, Deed::Imagination));
    let mut tools: Vec<Box<dyn Tool + Send>> =
        looks.into_iter().chain(imagination).map(|(name, deed)| tool(name.to_owned(), deed, best)).collect();
    for (place, crop) in crops.iter().enumerate().filter(|(place, _)| *place != best).take(2) {
        tools.push(tool(format!("view {}", crop.view), Deed::View, place));
    }
    tools
}
