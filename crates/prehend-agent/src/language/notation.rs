//! A short notation of goals, for traces and tables of sentences: `place(the red mug -> in the bowl)`.

use super::goal::{
    Condition, Destination, Dimension, Goal, Head, Modifier, NounPhrase, PlaceRelation, Quantity, Question,
    Selector, Spatial, Step, TableRegion, Toward,
};
use std::fmt;

fn joined<T: fmt::Display>(items: &[T], between: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(steps) => f.write_str(&joined(steps, "; ")),
            Self::Question(question) => question.fmt(f),
            Self::Lesson { word, means } => write!(f, "lesson({word} = {means})"),
            Self::Conditional { condition: Condition { question, negated }, then, otherwise } => {
                let not = if *negated { "not " } else { "" };
                write!(f, "if {not}{question}: {}", joined(then, "; "))?;
                if !otherwise.is_empty() {
                    write!(f, "; else {}", joined(otherwise, "; "))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |part: &Option<String>| part.as_ref().map(|part| format!("; by {part}")).unwrap_or_default();
        match self {
            Self::Pick { objects, part } => write!(f, "pick({}{})", joined(objects, ", "), by(part)),
            Self::Place { objects, destination, part, drop } => {
                let verb = if *drop { "drop" } else { "place" };
                write!(f, "{verb}({} -> {destination}{})", joined(objects, ", "), by(part))
            }
            Self::Act { action, objects, part } => {
                write!(f, "{action}({}{})", joined(objects, ", "), by(part))
            }
            Self::Swap { objects } => write!(f, "swap({})", joined(objects, ", ")),
            Self::Go { target } => write!(f, "go({target})"),
            Self::Home => f.write_str("home"),
            Self::Look => f.write_str("look"),
            Self::Stop => f.write_str("stop"),
            Self::Unsupported { verb, objects, destination, .. } => {
                write!(f, "no:{verb}({}", joined(objects, ", "))?;
                if let Some(destination) = destination {
                    write!(f, " -> {destination}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.until_full {
            let plain = Self { until_full: false, ..self.clone() };
            return write!(f, "{plain} until full");
        }
        match self.relation {
            PlaceRelation::Known(relation) => f.write_str(relation.name())?,
            PlaceRelation::To => f.write_str("to")?,
            PlaceRelation::TableRegion(region) => write!(f, "region {region}")?,
            PlaceRelation::Corner(ahead, aside) => write!(f, "corner {ahead} {aside}")?,
            PlaceRelation::Shift(toward, length) => {
                match toward {
                    Toward::Side(side) => write!(f, "shift {side}")?,
                    Toward::Target => f.write_str("shift toward")?,
                }
                if let Some(length) = length {
                    write!(f, " {length} mm")?;
                }
            }
            PlaceRelation::PlaceOf => f.write_str("place of")?,
            PlaceRelation::Stacked => f.write_str("stacked")?,
            PlaceRelation::Under => f.write_str("under")?,
            PlaceRelation::Above => f.write_str("above")?,
            PlaceRelation::Floor => f.write_str("floor")?,
        }
        if !self.targets.is_empty() {
            write!(f, " {}", joined(&self.targets, " & "))?;
        }
        Ok(())
    }
}

impl fmt::Display for TableRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Center => "center",
            Self::Left => "left",
            Self::Right => "right",
            Self::Front => "front",
            Self::Back => "back",
            Self::Edge => "edge",
        })
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "size",
            Self::Height => "height",
            Self::Length => "length",
            Self::Thickness => "thickness",
        })
    }
}

impl fmt::Display for NounPhrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        if !self.alternatives.is_empty() {
            let selectors = self.selectors.iter().map(|selector| format!(" +{selector}")).collect::<String>();
            return write!(f, "one of ({}){selectors}", joined(&self.alternatives, " or "));
        }
        match (self.quantity, &self.head) {
            (_, Head::It | Head::Them) => {}
            (Quantity::One, _) => words.push("the".to_owned()),
            (Quantity::Any, _) => words.push("a".to_owned()),
            (Quantity::Some(number), _) => words.push(number.to_string()),
            (Quantity::Exactly(number), _) => words.push(format!("the {number}")),
            (Quantity::All, _) => words.push("all".to_owned()),
            (Quantity::Other, _) => words.push("other".to_owned()),
            (Quantity::Others, _) => words.push("others".to_owned()),
        }
        words.extend(self.attributes.iter().map(|attribute| attribute.word.clone()));
        words.extend(self.excluded_attributes.iter().map(|attribute| format!("not-{}", attribute.word)));
        words.push(match &self.head {
            // A name, no count.
            Head::Noun(noun) if noun.starts_with(|c: char| c.is_ascii_digit()) => format!("\"{noun}\""),
            Head::Noun(noun) => noun.clone(),
            Head::Anything => "thing".to_owned(),
            Head::It => "it".to_owned(),
            Head::Them => "them".to_owned(),
        });
        words.extend(self.selectors.iter().map(|selector| format!("+{selector}")));
        words.extend(self.modifiers.iter().map(|modifier| format!("[{modifier}]")));
        words.extend(self.except.iter().map(|except| format!("-({except})")));
        f.write_str(&words.join(" "))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Most(dimension) => write!(f, "most {dimension}"),
            Self::Least(dimension) => write!(f, "least {dimension}"),
            Self::Side(region) => write!(f, "side {region}"),
            Self::Nth(number, region) => write!(f, "nth {number} {region}"),
            Self::Level(top) => write!(f, "side {}", level(*top)),
            Self::NthLevel(number, top) => write!(f, "nth {number} {}", level(*top)),
            Self::Number(number) => write!(f, "number {number}"),
            Self::Closest(targets) => write!(f, "closest ({})", joined(targets, " & ")),
            Self::Farthest(targets) => write!(f, "farthest ({})", joined(targets, " & ")),
            Self::ClosestToRobot => f.write_str("closest (robot)"),
            Self::FarthestFromRobot => f.write_str("farthest (robot)"),
            Self::MoreThan(dimension, targets) => write!(f, "more {dimension} ({})", joined(targets, " & ")),
            Self::LessThan(dimension, targets) => write!(f, "less {dimension} ({})", joined(targets, " & ")),
        }
    }
}

fn level(top: bool) -> &'static str {
    if top { "top" } else { "bottom" }
}

impl fmt::Display for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negated {
            f.write_str("not ")?;
        }
        match self.relation {
            Spatial::InRegion(region) => write!(f, "in region {region}")?,
            other => f.write_str(other.name())?,
        }
        if !self.targets.is_empty() {
            write!(f, " {}", joined(&self.targets, " & "))?;
        }
        Ok(())
    }
}

impl Spatial {
    /// The name of the relation.
    pub fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::In => "in",
            Self::At => "at",
            Self::Near => "near",
            Self::FarFrom => "far_from",
            Self::LeftOf => "left_of",
            Self::RightOf => "right_of",
            Self::InFrontOf => "in_front_of",
            Self::Behind => "behind",
            Self::Between => "between",
            Self::Under => "under",
            Self::Above => "above",
            Self::With => "with",
            Self::PartOf => "part_of",
            Self::OnTable => "on_table",
            Self::InRegion(_) => "in_region",
            Self::Held => "held",
        }
    }

    /// The relation in words, as in "the mug left of the bowl".
    pub fn words(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::In => "in",
            Self::At => "at",
            Self::Near => "near",
            Self::FarFrom => "far from",
            Self::LeftOf => "left of",
            Self::RightOf => "right of",
            Self::InFrontOf => "in front of",
            Self::Behind => "behind",
            Self::Between => "between",
            Self::Under => "under",
            Self::Above => "above",
            Self::With => "with",
            Self::PartOf => "of",
            Self::OnTable => "on the table",
            Self::InRegion(TableRegion::Center) => "in the middle of the table",
            Self::InRegion(TableRegion::Left) => "on the left of the table",
            Self::InRegion(TableRegion::Right) => "on the right of the table",
            Self::InRegion(TableRegion::Front) => "at the front of the table",
            Self::InRegion(TableRegion::Back) => "at the back of the table",
            Self::InRegion(TableRegion::Edge) => "at the edge of the table",
            Self::Held => "in the gripper",
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Where(nps) => write!(f, "where({})", joined(nps, ", ")),
            Self::Count(np) => write!(f, "count({np})"),
            Self::Exists(np) => write!(f, "exists({np})"),
            Self::Which(np) => write!(f, "which({np})"),
            Self::Color(np) => write!(f, "color({np})"),
            Self::Measure(dimension, np) => write!(f, "measure({dimension}; {np})"),
            Self::Compare { dimension, more, options } => {
                let word = if *more { "more" } else { "less" };
                write!(f, "compare({dimension} {word}; {})", joined(options, ", "))
            }
            Self::Is { subject, description } => write!(f, "is({subject}; {description})"),
            Self::Distance(a, b) => write!(f, "distance({a}; {b})"),
            Self::Holding => f.write_str("holding"),
            Self::Abilities => f.write_str("abilities"),
        }
    }
}
