//! XML that is indented and escaped.

use nalgebra::{Isometry3, Vector3};
use std::fmt::Write;

/// A document being written.
#[derive(Debug)]
pub(super) struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    pub(super) fn new() -> Self {
        Self { text: "<?xml version=\"1.0\"?>\n".to_owned(), depth: 0 }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// An element with what `inside` writes.
    pub(super) fn element(&mut self, tag: &str, attributes: &[(&str, &str)], inside: impl FnOnce(&mut Self)) {
        self.begin(tag, attributes);
        self.text.push_str(">\n");
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.indent();
        self.text.push_str(&format!("</{tag}>\n"));
    }

    /// An element without attributes that holds text.
    pub(super) fn text(&mut self, tag: &str, text: &str) {
        self.leaf(tag, &[], text);
    }

    /// An element that holds text.
    pub(super) fn leaf(&mut self, tag: &str, attributes: &[(&str, &str)], text: &str) {
        self.begin(tag, attributes);
        self.text.push_str(&format!(">{}</{tag}>\n", escaped(text)));
    }

    pub(super) fn number(&mut self, tag: &str, value: f64) {
        self.text(tag, &numbers(&[value]));
    }

    pub(super) fn vector(&mut self, tag: &str, value: &Vector3<f64>) {
        self.text(tag, &numbers(value.as_slice()));
    }

    /// A pose with its quaternion: angles lose digits where they are singular.
    pub(super) fn pose(&mut self, pose: &Isometry3<f64>) {
        let (at, turn) = (pose.translation.vector, pose.rotation.coords);
        let all = numbers(&[at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w]);
        self.leaf("pose", &[("rotation_format", "quat_xyzw")], &all);
    }

    fn begin(&mut self, tag: &str, attributes: &[(&str, &str)]) {
        self.indent();
        self.text.push_str(&format!("<{tag}"));
        for (key, value) in attributes {
            self.text.push_str(&format!(" {key}=\"{}\"", escaped(value)));
        }
    }

    fn indent(&mut self) {
        self.text.push_str(&"  ".repeat(self.depth));
    }
}

/// Numbers with a blank between, each as short as it is exact. A zero has no sign.
pub(super) fn numbers(values: &[f64]) -> String {
    let mut text = String::new();
    for (index, value) in values.iter().enumerate() {
        let gap = if index > 0 { " " } else { "" };
        // Writing to a string does not fail.
        let _ = write!(text, "{gap}{}", value + 0.0);
    }
    text
}

/// Text as it may stand in an element or an attribute; what XML cannot hold is left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => {}
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_numbers_keep_their_digits() {
        let mut xml = Xml::new();
        xml.element("model", &[("name", "a \"big\" <cup> & \u{1}saucer")], |xml| {
            xml.number("mass", 0.1 + 0.2);
            xml.vector("size", &Vector3::new(-0.0, 1e-7, 2.0));
        });
        assert_eq!(
            xml.finish(),
            "<?xml version=\"1.0\"?>\n<model name=\"a &quot;big&quot; &lt;cup&gt; &amp; saucer\">\n  \
             <mass>0.30000000000000004</mass>\n  <size>0 0.0000001 2</size>\n</model>\n"
        );
    }
}
