//! The tools the affordance node has for gathering evidence about one object (AAH 3.2), as the harness calls them.

use prehend_geometry::plane::Plane;
use prehend_harness::Tool;
use prehend_perception::evidence::{self, Knowledge, Look};
use prehend_perception::segment::SegmentSettings;
use prehend_scene::{Crop, Deficiency, Evidence, Object};
use std::sync::Arc;

/// What every tool looks at.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) object: Object,
    pub(super) plane: Option<Plane>,
    pub(super) knowledge: Arc<Knowledge>,
}

impl Subject {
    fn geometry(&self, crop: &Crop, look: Look) -> Option<Evidence> {
        evidence::geometry(&self.object, crop, self.plane, &SegmentSettings::default(), look)
    }
}

/// What a tool does with a view.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Geometry(Look),
    Color(Look),
    Knowledge,
    /// Everything of one further view.
    View,
}

struct ViewTool {
    name: String,
    deed: Deed,
    cures: &'static [Deficiency],
    subject: Arc<Subject>,
    crop: usize,
}

impl Tool for ViewTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn cures(&self) -> &[Deficiency] {
        self.cures
    }

    fn run(&mut self) -> Vec<Evidence> {
        let subject = &self.subject;
        let Some(crop) = subject.object.crops.get(self.crop) else { return Vec::new() };
        match self.deed {
            Deed::Geometry(look) => subject.geometry(crop, look).into_iter().collect(),
            Deed::Color(look) => evidence::color(&subject.object, crop, look).into_iter().collect(),
            Deed::Knowledge => {
                let support = evidence::support_under(&subject.object, subject.plane.as_ref());
                evidence::knowledge(&subject.object, crop, support, &subject.knowledge).into_iter().collect()
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
pub(super) fn tools(subject: &Arc<Subject>) -> Vec<Box<dyn Tool + Send>> {
    use Deficiency::{Mu, Omega, Zeta};
    let tool = |name: String, deed, cures, crop| -> Box<dyn Tool + Send> {
        Box::new(ViewTool { name, deed, cures, subject: Arc::clone(subject), crop })
    };
    let mut tools: Vec<Box<dyn Tool + Send>> = vec![
        tool("geometry".to_owned(), Deed::Geometry(Look::First), &[Zeta, Omega], 0),
        tool("geometry zoomed".to_owned(), Deed::Geometry(Look::Zoomed), &[Zeta, Omega], 0),
        tool("color".to_owned(), Deed::Color(Look::First), &[Omega, Mu], 0),
        tool("color zoomed".to_owned(), Deed::Color(Look::Zoomed), &[Omega, Zeta], 0),
        tool("knowledge".to_owned(), Deed::Knowledge, &[Mu], 0),
    ];
    for (place, crop) in subject.object.crops.iter().enumerate().skip(1).take(2) {
        tools.push(tool(format!("view {}", crop.view), Deed::View, &[Mu, Omega], place));
    }
    tools
}
