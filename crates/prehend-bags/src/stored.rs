//! Every message of a bag as it is stored, for whoever plays or counts them.

use crate::container::{self, Bag, ContainerError, Halt, Item};
use std::collections::BTreeMap;
use std::path::Path;

/// A message as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredMessage<'a> {
    /// Name of its topic.
    pub topic: &'a str,
    /// `PACKAGE/msg/NAME`.
    pub type_name: &'a str,
    /// When it was recorded, nanoseconds since the epoch.
    pub logged: i64,
    /// CDR bytes after four that tell their encoding; [`prehend_ros::from_cdr`] reads them.
    pub data: &'a [u8],
}

/// Why the reading ended before the end.
enum End {
    Enough,
    Container(ContainerError),
}

impl From<ContainerError> for End {
    fn from(error: ContainerError) -> Self {
        Self::Container(error)
    }
}

/// Shows every message of the bag at `path` to `visit`, in the order in which they are stored, until that says `false`. With `partial` a
/// damage ends the reading and is what is returned. Messages that are not CDR are left out.
///
/// Errors: [`ContainerError`].
pub fn stored_messages(
    path: &Path,
    partial: bool,
    visit: &mut dyn FnMut(StoredMessage<'_>) -> bool,
) -> Result<Option<ContainerError>, ContainerError> {
    let read = Bag::find(path)?.visit::<End>(partial, &mut |item| match item {
        Item::Message(message) if message.topic.encoding == "cdr" => {
            let goes_on = visit(StoredMessage {
                topic: &message.topic.name,
                type_name: &message.topic.type_name,
                logged: message.logged,
                data: message.data,
            });
            if goes_on { Ok(()) } else { Err(Halt::Visitor(End::Enough)) }
        }
        Item::Message(_) | Item::Topic(_) => Ok(()),
    });
    match read {
        Ok(damage) => Ok(damage),
        Err(End::Enough) => Ok(None),
        Err(End::Container(error)) => Err(error),
    }
}

/// The notes that Prehend's recorder left in the bag at `path`; none in other bags.
///
/// Errors: [`ContainerError`].
pub fn notes(path: &Path) -> Result<BTreeMap<String, String>, ContainerError> {
    Bag::find(path)?
        .first_mcap()
        .map_or_else(|| Ok(BTreeMap::new()), |file| container::mcap_notes(file, "prehend"))
}
