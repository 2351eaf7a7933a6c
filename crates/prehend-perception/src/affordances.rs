//! The Affordance Proposer (Affordance RAG IV-A.1) by a model that sees: what it is shown of a view, and what it answers. The models
//! themselves are behind [`AffordanceProposer`]; what their word is worth is decided by who remembers it.

use prehend_geometry::ColorImage;
use std::fmt;

/// A view as it is shown to a model: as the camera saw it, and with a number drawn on each thing (set of marks).
#[derive(Clone, PartialEq)]
pub struct MarkedView {
    /// The picture `x_img`; not empty.
    pub picture: ColorImage,
    /// The same with the outline and the number of each thing.
    pub marked: ColorImage,
    /// The things; the first has number 1.
    pub things: Vec<MarkedThing>,
    /// Names of what a robot may be able to do with a thing: no other is taken.
    pub affordances: Vec<String>,
}

/// What is known of a thing besides its picture. All of it is data, never instructions.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedThing {
    /// What a detector calls it; may be empty.
    pub name: String,
    /// Its first colour; may be empty.
    pub color: String,
    /// Edges of its upright box, metres; the last is the height.
    pub size: [f64; 3],
}

/// `(o_k, a_k, f_k)` of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triplet {
    /// `o_k`: index into [`MarkedView::things`].
    pub thing: usize,
    /// `a_k`: index into [`MarkedView::affordances`].
    pub affordance: usize,
    /// `f_k`: how well it would go, [0, 1].
    pub score: f64,
}

/// What a model proposes for a view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposals {
    /// No thing has an affordance twice.
    pub triplets: Vec<Triplet>,
    /// Entries of the answer that were left out: of no thing, of no affordance, said before, or without a score from 0 to 1.
    pub dropped: usize,
}

/// Proposes what can be done with what a view shows.
pub trait AffordanceProposer {
    /// Why there is no answer. Its text holds no secret.
    type Error: std::error::Error + Send;

    /// Any number of triplets, also none.
    fn propose(&self, view: &MarkedView) -> impl Future<Output = Result<Proposals, Self::Error>> + Send;
}

/// Without the pixels.
impl fmt::Debug for MarkedView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (self.picture.width, self.picture.height);
        write!(f, "{} things in {width}x{height} pixels", self.things.len())
    }
}
