//! The sentences of the Area Summariser (Affordance RAG IV-A.3) by a language model: what it is told of an area, and what it answers.
//! The models themselves are behind [`Summariser`].

/// What an area is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AreaKind {
    /// A few views of one spot (level 4).
    Zone,
    /// Zones that belong together, as a room (level 5).
    Area,
    /// All of it (level 6).
    Building,
}

impl AreaKind {
    /// Its name in a question.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zone => "zone",
            Self::Area => "area",
            Self::Building => "building",
        }
    }
}

/// An area as it is told to a model. All of it is data, never instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AreaQuestion {
    /// What it is.
    pub kind: AreaKind,
    /// What is there, as the rule lists it: the kind of room if furniture tells it, then things, the largest first.
    pub things: String,
    /// Descriptions of the nodes below it: what views show, or the summaries of its parts.
    pub texts: Vec<String>,
    /// The kinds of rooms that there are: no other is taken.
    pub rooms: Vec<String>,
}

/// A model's word on an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// One short line; not empty.
    pub text: String,
    /// The kind of room, one of [`AreaQuestion::rooms`]; `None` when it is none of them.
    pub room: Option<String>,
}

/// Says in a sentence what an area is.
pub trait Summariser {
    /// Why there is no answer. Its text holds nothing of the area and no secret.
    type Error: std::error::Error + Send;

    /// The sentence.
    fn summarise(&self, area: &AreaQuestion) -> impl Future<Output = Result<Summary, Self::Error>> + Send;
}
