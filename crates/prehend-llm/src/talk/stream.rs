//! A stream of bytes as events, cut at any byte.

/// How events stand in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events (WHATWG HTML, 9.2): the data of each; comments, which keep a connection alive, are none.
    Sse,
    /// One JSON object a line.
    Lines,
}

/// Takes bytes as they come and gives whole events.
#[derive(Debug)]
pub(super) struct Frames {
    framing: Framing,
    line: Vec<u8>,
    /// The last byte ended a line with a carriage return: a line feed belongs to it.
    after_return: bool,
    data: Option<String>,
}

impl Frames {
    pub(super) fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), after_return: false, data: None }
    }

    /// The events that end within these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if std::mem::take(&mut self.after_return) => {}
                b'\n' => self.end_line(&mut events),
                b'\r' if self.framing == Framing::Sse => {
                    self.end_line(&mut events);
                    self.after_return = true;
                }
                byte => {
                    self.after_return = false;
                    self.line.push(*byte);
                }
            }
        }
        events
    }

    /// What is left when the stream ends: a last line without its end counts where lines are events; half a server-sent event does not.
    pub(super) fn end(mut self) -> Vec<String> {
        let mut events = Vec::new();
        if self.framing == Framing::Lines {
            self.end_line(&mut events);
        }
        events
    }

    fn end_line(&mut self, events: &mut Vec<String>) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        match self.framing {
            Framing::Lines => {
                let line = line.trim();
                if !line.is_empty() {
                    events.push(line.to_owned());
                }
            }
            Framing::Sse if line.is_empty() => events.extend(self.data.take()),
            Framing::Sse => {
                let (field, value) = line.split_once(':').unwrap_or((&line, ""));
                let value = value.strip_prefix(' ').unwrap_or(value);
                if field == "data" {
                    match &mut self.data {
                        Some(data) => {
                            data.push('\n');
                            data.push_str(value);
                        }
                        None => self.data = Some(value.to_owned()),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(framing: Framing, bytes: &[u8], cut: usize) -> Vec<String> {
        let mut frames = Frames::new(framing);
        let mut events: Vec<String> = bytes.chunks(cut).flat_map(|chunk| frames.push(chunk)).collect();
        events.extend(frames.end());
        events
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let sse = ": ping\r\n\r\nevent: x\r\ndata: {\"a\": \"é\"}\r\n\r\ndata:one\ndata: two\n\nid: 3\rdata: [DONE]\r\rdata: half";
        let expected = ["{\"a\": \"é\"}", "one\ntwo", "[DONE]"];
        for cut in 1..=sse.len() {
            assert_eq!(all(Framing::Sse, sse.as_bytes(), cut), expected, "{cut}");
        }
        let lines = "{\"a\": 1}\n\n {\"b\": \"ü\"}\r\n{\"c\": 3}";
        for cut in 1..=lines.len() {
            let found = all(Framing::Lines, lines.as_bytes(), cut);
            assert_eq!(found, ["{\"a\": 1}", "{\"b\": \"ü\"}", "{\"c\": 3}"], "{cut}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_no_panic() {
        assert_eq!(all(Framing::Sse, b"data: \xff\xfe\n\n", 1).len(), 1);
        assert_eq!(all(Framing::Lines, b"\xc3", 1).len(), 1);
    }
}
