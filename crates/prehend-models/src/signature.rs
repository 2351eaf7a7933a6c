//! What goes into a model and what comes out of it: as the file says, and as its kind must have it.

use std::fmt;

/// Type of the numbers of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// 32-bit floats.
    Float32,
    /// 64-bit integers.
    Int64,
    /// Any other type, by its name; no model here takes or gives it.
    Other(String),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Float32 => "float32",
            Self::Int64 => "int64",
            Self::Other(name) => name,
        })
    }
}

/// Length along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Always this.
    Fixed(usize),
    /// Free (a dynamic axis), with its name; the name may be empty.
    Free(String),
}

impl Axis {
    /// A free axis of this name.
    pub fn free(name: &str) -> Self {
        Self::Free(name.to_owned())
    }

    /// The length, when it is fixed.
    pub fn fixed(&self) -> Option<usize> {
        match self {
            Self::Fixed(length) => Some(*length),
            Self::Free(_) => None,
        }
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(length) => write!(f, "{length}"),
            Self::Free(name) if name.is_empty() => f.write_str("?"),
            Self::Free(name) => f.write_str(name),
        }
    }
}

/// One input or output of a model file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlet {
    /// Its name.
    pub name: String,
    /// Type of its numbers.
    pub element: Element,
    /// Its axes; empty for one number, or when the file does not say.
    pub axes: Vec<Axis>,
}

impl fmt::Display for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {} {}", self.name, self.element, Axes(&self.axes))
    }
}

struct Axes<'a>(&'a [Axis]);

impl fmt::Display for Axes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.0.iter().map(Axis::to_string).collect();
        write!(f, "[{}]", axes.join(", "))
    }
}

/// One input or output that a kind of model must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Names under which exports of this kind have it; none: it is the only one, whatever its name.
    pub names: &'static [&'static str],
    /// Type of its numbers.
    pub element: Element,
    /// Its axes; a free one fits any length.
    pub axes: Vec<Axis>,
    /// Whether a model may do without it.
    pub optional: bool,
}

impl Expected {
    /// The only input or output, of 32-bit floats.
    pub fn only(axes: Vec<Axis>) -> Self {
        Self { names: &[], element: Element::Float32, axes, optional: false }
    }

    /// An input or output of 32-bit floats under one of these names.
    pub fn named(names: &'static [&'static str], axes: Vec<Axis>) -> Self {
        Self { names, ..Self::only(axes) }
    }

    /// An input of pictures of any size, `[batch, 3, height, width]`, under one of these names; none: the only one.
    pub fn pictures(names: &'static [&'static str]) -> Self {
        let free = Axis::free;
        Self::named(names, vec![free("batch"), Axis::Fixed(3), free("height"), free("width")])
    }

    /// Where it is among the outlets of a model.
    pub fn position(&self, outlets: &[Outlet]) -> Option<usize> {
        match self.names {
            [] => (outlets.len() == 1).then_some(0),
            names => names.iter().find_map(|name| outlets.iter().position(|outlet| outlet.name == *name)),
        }
    }

    /// A free axis of the file fits every length; what comes out is checked again when the model has run.
    fn fits(&self, outlet: &Outlet) -> bool {
        let fits = |(wanted, found): (&Axis, &Axis)| match (wanted, found) {
            (Axis::Fixed(wanted), Axis::Fixed(found)) => wanted == found,
            _ => true,
        };
        let unsaid = outlet.axes.is_empty();
        outlet.element == self.element
            && (unsaid
                || outlet.axes.len() == self.axes.len() && self.axes.iter().zip(&outlet.axes).all(fits))
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names {
            [] => f.write_str("exactly one")?,
            names => write!(f, "`{}`", names.join("` or `"))?,
        }
        write!(f, " {} {}", self.element, Axes(&self.axes))?;
        f.write_str(if self.optional { " (or none)" } else { "" })
    }
}

/// All inputs and outputs that a kind of model must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Inputs.
    pub inputs: Vec<Expected>,
    /// Outputs that are read; a model may have more when these have names.
    pub outputs: Vec<Expected>,
}

/// One input or output that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// `input` or `output`.
    pub side: &'static str,
    /// What must be there; `None` for an input of the model that nothing is known to put into.
    pub expected: Option<Expected>,
    /// What the file has there.
    pub found: Vec<Outlet>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected ", self.side)?;
        match &self.expected {
            Some(expected) => write!(f, "{expected}")?,
            None => f.write_str("no other input")?,
        }
        let found: Vec<String> = self.found.iter().map(Outlet::to_string).collect();
        write!(f, ", found {}", if found.is_empty() { "none".to_owned() } else { found.join(", ") })
    }
}

impl Signature {
    /// Everything that does not fit; empty when the model is of this kind.
    pub fn misfits(&self, inputs: &[Outlet], outputs: &[Outlet]) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        for (side, wanted, outlets) in [("input", &self.inputs, inputs), ("output", &self.outputs, outputs)] {
            for expected in wanted {
                let found = match expected.position(outlets) {
                    Some(place) if expected.fits(&outlets[place]) => continue,
                    Some(place) => vec![outlets[place].clone()],
                    None if expected.optional => continue,
                    None => outlets.to_vec(),
                };
                misfits.push(Misfit { side, expected: Some(expected.clone()), found });
            }
        }
        let known: Vec<usize> = self.inputs.iter().filter_map(|expected| expected.position(inputs)).collect();
        let nameless = self.inputs.iter().any(|expected| expected.names.is_empty());
        for (place, input) in inputs.iter().enumerate() {
            if !nameless && !known.contains(&place) {
                misfits.push(Misfit { side: "input", expected: None, found: vec![input.clone()] });
            }
        }
        misfits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlet(name: &str, element: Element, axes: Vec<Axis>) -> Outlet {
        Outlet { name: name.to_owned(), element, axes }
    }

    fn picture(side: Axis) -> Vec<Axis> {
        vec![Axis::free("batch"), Axis::Fixed(3), side.clone(), side]
    }

    /// Misfits of a model with this input against one that takes pictures of 640 x 640.
    fn check(found: &[Outlet], expected: &[&str]) {
        let signature = Signature {
            inputs: vec![Expected::named(&["images"], picture(Axis::Fixed(640)))],
            outputs: vec![],
        };
        let misfits: Vec<String> = signature.misfits(found, &[]).iter().map(Misfit::to_string).collect();
        assert_eq!(misfits, expected, "{found:?}");
    }

    #[test]
    fn a_model_is_of_a_kind_or_what_does_not_fit_is_said() {
        let float = Element::Float32;
        check(&[outlet("images", float.clone(), picture(Axis::Fixed(640)))], &[]);
        check(&[outlet("images", float.clone(), picture(Axis::free("height")))], &[]);
        check(&[outlet("images", float.clone(), vec![])], &[]);
        check(
            &[outlet("images", float.clone(), picture(Axis::Fixed(320)))],
            &[
                "input: expected `images` float32 [batch, 3, 640, 640], found `images` float32 [batch, 3, 320, 320]",
            ],
        );
        check(
            &[outlet("images", Element::Other("float16".into()), picture(Axis::free("")))],
            &[
                "input: expected `images` float32 [batch, 3, 640, 640], found `images` float16 [batch, 3, ?, ?]",
            ],
        );
        check(
            &[outlet("images", float.clone(), vec![Axis::Fixed(3)])],
            &["input: expected `images` float32 [batch, 3, 640, 640], found `images` float32 [3]"],
        );
        let image = outlet("image", float.clone(), picture(Axis::Fixed(640)));
        check(
            &[image],
            &[
                "input: expected `images` float32 [batch, 3, 640, 640], found `image` float32 [batch, 3, 640, 640]",
                "input: expected no other input, found `image` float32 [batch, 3, 640, 640]",
            ],
        );
    }

    #[test]
    fn an_output_without_a_name_must_be_the_only_one() {
        let signature = Signature { inputs: vec![], outputs: vec![Expected::only(vec![Axis::Fixed(5)])] };
        let output = |name| outlet(name, Element::Float32, vec![Axis::Fixed(5)]);
        assert_eq!(signature.misfits(&[], &[output("758")]), []);
        let two = signature.misfits(&[], &[output("a"), output("b")]);
        assert_eq!(
            two[0].to_string(),
            "output: expected exactly one float32 [5], found `a` float32 [5], `b` float32 [5]"
        );
    }
}
