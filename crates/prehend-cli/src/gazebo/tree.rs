//! An XML document as a tree that can be changed and written again. Comments are dropped.

use xml::common::XmlVersion;
use xml::reader::{EventReader, XmlEvent as Read};
use xml::writer::{EmitterConfig, EventWriter, XmlEvent as Write};

/// An element: its text, then its children.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Element {
    pub(super) tag: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    pub(super) fn new(tag: &str, attributes: &[(&str, &str)]) -> Self {
        let attributes =
            attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Self { tag: tag.to_owned(), attributes, ..Self::default() }
    }

    pub(super) fn text(tag: &str, text: &str) -> Self {
        Self { tag: tag.to_owned(), text: text.to_owned(), ..Self::default() }
    }

    /// With these children.
    pub(super) fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    /// Errors: what is not XML, with its place.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut open = vec![Self::default()];
        for event in EventReader::from_str(text) {
            match event.map_err(|error| error.to_string())? {
                Read::StartElement { name, attributes, .. } => {
                    let attributes =
                        attributes.into_iter().map(|own| (own.name.local_name, own.value)).collect();
                    open.push(Self { tag: name.local_name, attributes, ..Self::default() });
                }
                Read::Characters(text) | Read::CData(text) => {
                    if let Some(element) = open.last_mut() {
                        element.text.push_str(text.trim());
                    }
                }
                Read::EndElement { .. } => {
                    if let Some(done) = open.pop()
                        && let Some(parent) = open.last_mut()
                    {
                        parent.children.push(done);
                    }
                }
                _ => {}
            }
        }
        open.pop().and_then(|mut all| all.children.pop()).ok_or_else(|| "there is no element".to_owned())
    }

    /// Errors: what XML cannot hold.
    pub(super) fn to_xml(&self) -> Result<String, String> {
        let config = EmitterConfig::new().perform_indent(true).pad_self_closing(false);
        let mut writer = EventWriter::new_with_config(Vec::new(), config);
        let started =
            Write::StartDocument { version: XmlVersion::Version10, encoding: None, standalone: None };
        writer.write(started).map_err(|error| error.to_string())?;
        self.write(&mut writer).map_err(|error| error.to_string())?;
        let mut text = String::from_utf8(writer.into_inner()).map_err(|error| error.to_string())?;
        text.push('\n');
        Ok(text)
    }

    fn write(&self, writer: &mut EventWriter<Vec<u8>>) -> xml::writer::Result<()> {
        let mut start = Write::start_element(self.tag.as_str());
        for (key, value) in &self.attributes {
            start = start.attr(key.as_str(), value);
        }
        writer.write(start)?;
        if !self.text.is_empty() {
            writer.write(Write::characters(&self.text))?;
        }
        for child in &self.children {
            child.write(writer)?;
        }
        writer.write(Write::end_element())
    }

    pub(super) fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    pub(super) fn set(&mut self, key: &str, value: String) {
        match self.attributes.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((key.to_owned(), value)),
        }
    }

    pub(super) fn child(&self, tag: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.tag == tag)
    }

    /// The child of this tag; made when it is not there.
    pub(super) fn child_mut(&mut self, tag: &str) -> &mut Self {
        let index = self.children.iter().position(|child| child.tag == tag).unwrap_or_else(|| {
            self.children.push(Self::new(tag, &[]));
            self.children.len() - 1
        });
        &mut self.children[index]
    }

    /// Numbers of an attribute of a child; `None` when it is not there or is none.
    pub(super) fn numbers(&self, tag: &str, key: &str) -> Option<Vec<f64>> {
        self.child(tag)?.attribute(key)?.split_whitespace().map(|word| word.parse().ok()).collect()
    }
}
