//! Keeps RustDDS from taking a process for lost because one of its announcements was.
//!
//! A process announces itself (SPDP) by multicast and without acknowledgement, and says for how long it is to be believed: Cyclone DDS
//! every 8 s for 10 s. Other implementations believe whatever comes from a process; RustDDS 0.15 believes announcements only, and no
//! more than eight at once. So on a busy machine or over a bad network it forgets a process that is well. It does not find it
//! again either: Cyclone DDS announces itself under the same number each time, and RustDDS leaves out what it has had.
//!
//! So a second socket hears the announcements, too, and tells RustDDS of each one again under a new number, at once and a few times until
//! the next one is due. What it sends is what RTPS has for a relay: `INFO_SRC` names whose announcement it is.

use super::matches::Prefix;
use super::range::Range;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tracing::{debug, trace};

/// Where announcements are sent (RTPS 2.5, 9.6.1.4).
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// Who asks to be believed for longer announces itself several times meanwhile.
const LONG: Duration = Duration::from_secs(30);
/// An announcement is told again so often within the time that it is to be believed for ...
const REPEATS: u32 = 5;
/// ... but not at its end, when the next one should have come.
const REPEATED: u32 = 4;
/// Time after which the end of the participant is seen.
const PERIOD: Duration = Duration::from_millis(200);

const HEADER: usize = 20;
const DATA: u8 = 0x15;
const INFO_SRC: u8 = 0x0c;
const LITTLE: u8 = 0x01;
const HAS_INLINE_QOS: u8 = 0x02;
const HAS_DATA: u8 = 0x04;
/// Bytes of the body of `DATA` up to its sequence number, and with it.
const NUMBERED: usize = 20;
const READER: [u8; 4] = [0x00, 0x01, 0x00, 0xc7];
const WRITER: [u8; 4] = [0x00, 0x01, 0x00, 0xc2];
const LEASE_DURATION: u16 = 0x0002;
const SENTINEL: u16 = 0x0001;

/// Bytes of a message, some of which are numbers.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl<'a> Bytes<'a> {
    fn u16(self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self.little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn u32(self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    /// Parameters of the list at `at`, and where it ends.
    fn parameters(self, mut at: usize) -> Option<(HashMap<u16, &'a [u8]>, usize)> {
        let mut found = HashMap::new();
        loop {
            let (id, length) = (self.u16(at)?, usize::from(self.u16(at + 2)?));
            at += 4;
            if id == SENTINEL {
                return Some((found, at));
            }
            found.insert(id, self.bytes.get(at..at + length)?);
            at += length;
        }
    }
}

/// What a process says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Announcement {
    /// Version and vendor of the protocol.
    version: [u8; 4],
    flags: u8,
    /// The body of `DATA`.
    pub(super) data: Vec<u8>,
    lease: Duration,
}

/// What a datagram says of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Here(Announcement),
    Leaving,
}

/// What `datagram` says of whom, if it is an announcement.
pub(super) fn read(datagram: &[u8]) -> Option<(Prefix, Heard)> {
    if !datagram.starts_with(b"RTPS") {
        return None;
    }
    let version = datagram.get(4..8)?.try_into().ok()?;
    let process: Prefix = datagram.get(8..HEADER)?.try_into().ok()?;
    let mut at = HEADER;
    while let [kind, flags] = *datagram.get(at..at + 2)? {
        let little = flags & LITTLE != 0;
        let length = usize::from(Bytes { bytes: datagram, little }.u16(at + 2)?);
        let body = at + 4;
        let end = if length == 0 { datagram.len() } else { body + length };
        let data = datagram.get(body..end)?;
        if kind == INFO_SRC {
            // Somebody's relay.
            return None;
        }
        if kind == DATA && data.len() > NUMBERED && data[8..12] == WRITER {
            let announcement = || {
                Some(Heard::Here(Announcement {
                    version,
                    flags,
                    data: data.to_vec(),
                    lease: lease(Bytes { bytes: data, little }, flags)?,
                }))
            };
            let heard = if flags & HAS_DATA == 0 { Some(Heard::Leaving) } else { announcement() };
            return heard.map(|heard| (process, heard));
        }
        at = end;
    }
    None
}

/// For how long the process that sent the body of `DATA` is to be believed.
fn lease(data: Bytes<'_>, flags: u8) -> Option<Duration> {
    let mut payload = 4 + usize::from(data.u16(2)?);
    if flags & HAS_INLINE_QOS != 0 {
        payload = data.parameters(payload)?.1;
    }
    let little = *data.bytes.get(payload + 1)? & 1 != 0;
    let (parameters, _) = Bytes { little, ..data }.parameters(payload + 4)?;
    let lease = Bytes { bytes: parameters.get(&LEASE_DURATION)?, little };
    // The second word counts parts of 2^-32 s.
    Some(Duration::from_secs(lease.u32(0)?.into()) + Duration::from_secs(lease.u32(4)?.into()) / u32::MAX)
}

impl Announcement {
    /// The datagram that tells `own` of this announcement of `process`, as its `count`th.
    pub(super) fn again(&self, own: Prefix, process: Prefix, count: u32) -> Vec<u8> {
        let mut data = self.data.clone();
        data[4..8].copy_from_slice(&READER);
        // The upper half of the sequence number.
        let number = &mut data[12..16];
        let little = self.flags & LITTLE != 0;
        number.copy_from_slice(&if little { count.to_le_bytes() } else { count.to_be_bytes() });
        let length = u16::try_from(data.len()).unwrap_or(0);
        let mut datagram = Vec::with_capacity(HEADER + 28 + data.len());
        datagram.extend(b"RTPS");
        datagram.extend(self.version);
        datagram.extend(own);
        datagram.extend([INFO_SRC, LITTLE, 20, 0, 0, 0, 0, 0]);
        datagram.extend(self.version);
        datagram.extend(process);
        datagram.extend([DATA, self.flags]);
        datagram.extend(if little { length.to_le_bytes() } else { length.to_be_bytes() });
        datagram.extend(data);
        datagram
    }
}

/// A process that was heard of.
struct Known {
    announcement: Announcement,
    heard: Instant,
    next: Instant,
}

/// Tells RustDDS of what is heard.
struct Relay {
    own: Prefix,
    known: HashMap<Prefix, Known>,
    /// How many were told so far: no number comes twice.
    told: u32,
}

impl Relay {
    fn of(own: Prefix) -> Self {
        Self { own, known: HashMap::new(), told: 0 }
    }

    fn hear(&mut self, datagram: &[u8], now: Instant) {
        match read(datagram) {
            Some((process, Heard::Here(announcement)))
                if process != self.own && announcement.lease < LONG =>
            {
                self.known.insert(process, Known { announcement, heard: now, next: now });
            }
            Some((process, Heard::Leaving)) => drop(self.known.remove(&process)),
            _ => {}
        }
    }

    /// Datagrams that are due.
    fn due(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.known.retain(|_, known| now < known.heard + known.announcement.lease * REPEATED / REPEATS);
        let mut due = Vec::new();
        for (process, known) in &mut self.known {
            if known.next <= now {
                self.told = self.told.wrapping_add(1) & 0x7fff_ffff;
                known.next = now + known.announcement.lease / REPEATS;
                due.push(known.announcement.again(self.own, *process, self.told));
            }
        }
        due
    }
}

/// A socket that gets what is sent to the group in `domain`, besides others.
pub(super) fn listener(domain: u16, range: Range) -> std::io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    // Bound to the group, it takes nobody's datagrams away.
    socket.bind(&SockAddr::from(SocketAddrV4::new(GROUP, 7400 + 250 * domain)))?;
    let wanted = if range == Range::Localhost {
        InterfaceFlags::IFF_UP | InterfaceFlags::IFF_LOOPBACK
    } else {
        InterfaceFlags::IFF_UP | InterfaceFlags::IFF_MULTICAST
    };
    let interfaces = getifaddrs()?.filter(|interface| interface.flags.contains(wanted));
    let addresses = interfaces.filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip()));
    let joined = addresses.filter(|address| socket.join_multicast_v4(&GROUP, address).is_ok()).count();
    if joined == 0 {
        return Err(std::io::Error::new(ErrorKind::NotFound, "no network interface with multicast"));
    }
    let socket = UdpSocket::from(socket);
    socket.set_read_timeout(Some(PERIOD))?;
    Ok(socket)
}

/// Starts the thread that repeats announcements to our own participant, the `id`th on this machine, until it is `closed`. Where nothing can
/// be heard by multicast there is none.
pub(super) fn start(
    domain: u16,
    id: u16,
    own: Prefix,
    range: Range,
    closed: Arc<AtomicBool>,
) -> std::io::Result<()> {
    let heard = listener(domain, range)
        .and_then(|listener| Ok((listener, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?)));
    let (listener, sender) = match heard {
        Ok(sockets) => sockets,
        Err(error) => {
            debug!(%error, "announcements are not repeated");
            return Ok(());
        }
    };
    let ours = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7410 + 250 * domain + 2 * id);
    let run = move || {
        let mut relay = Relay::of(own);
        let mut buffer = vec![0; 0x1_0000];
        while !closed.load(Ordering::SeqCst) {
            match listener.recv(&mut buffer) {
                Ok(length) => relay.hear(&buffer[..length], Instant::now()),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => {
                    debug!(%error, "no announcement was read");
                    std::thread::sleep(PERIOD);
                }
            }
            for datagram in relay.due(Instant::now()) {
                if let Err(error) = sender.send_to(&datagram, ours) {
                    trace!(%error, "an announcement was not repeated");
                }
            }
        }
    };
    std::thread::Builder::new().name("ros-announced".to_owned()).spawn(run).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Prefix = [1; 12];
    const OTHER: Prefix = [2; 12];
    const CYCLONE: [u8; 4] = [2, 1, 1, 0x10];

    /// An announcement as Cyclone DDS sends it, or with the other byte order.
    fn announced(lease: u32, little: bool) -> Vec<u8> {
        let short = |number: u16| if little { number.to_le_bytes() } else { number.to_be_bytes() };
        let long = |number: u32| if little { number.to_le_bytes() } else { number.to_be_bytes() };
        let mut data = [short(0), short(16)].concat();
        data.extend([0; 4]);
        data.extend(WRITER);
        data.extend([long(0), long(1)].concat());
        data.extend([0, if little { 3 } else { 2 }, 0, 0]);
        data.extend([short(0x0015), short(4)].concat());
        data.extend([2, 1, 0, 0]);
        data.extend([short(LEASE_DURATION), short(8)].concat());
        data.extend([long(lease), long(1 << 31)].concat());
        data.extend([short(SENTINEL), short(0)].concat());
        datagram(DATA, u8::from(little) | HAS_DATA, &data)
    }

    fn datagram(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(body.len()).expect("short");
        let length = if flags & LITTLE != 0 { length.to_le_bytes() } else { length.to_be_bytes() };
        let stamp = [0x09, LITTLE, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        [b"RTPS", &CYCLONE[..], &OTHER, &stamp, &[kind, flags], &length, body].concat()
    }

    #[test]
    fn an_announcement_is_read_in_both_byte_orders() {
        for little in [true, false] {
            let (process, heard) = read(&announced(10, little)).expect("an announcement");
            assert_eq!(process, OTHER);
            let Heard::Here(announcement) = heard else { panic!("{heard:?}") };
            assert_eq!(announcement.version, CYCLONE);
            assert_eq!(announcement.lease.as_millis(), 10_500);
        }
    }

    #[test]
    fn what_is_no_announcement_is_left_out() {
        let whole = announced(10, true);
        // The last parameter ends the list: without it, it does not end.
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), None, "{length} bytes");
        }
        let relayed = match read(&whole) {
            Some((process, Heard::Here(announcement))) => announcement.again(OWN, process, 1),
            other => panic!("{other:?}"),
        };
        assert_eq!(read(&relayed), None, "a relay's");
        assert_eq!(read(&datagram(DATA, LITTLE | HAS_DATA, &[0; 24])), None, "another writer's");
    }

    #[test]
    fn garbage_does_no_harm() {
        let mut relay = Relay::of(OWN);
        let now = Instant::now();
        for little in [true, false] {
            let whole = announced(10, little);
            for (at, byte) in (0..whole.len()).flat_map(|at| [0, 1, 4, 0x7f, 0xff].map(|byte| (at, byte))) {
                let mut changed = whole.clone();
                changed[at] = byte;
                relay.hear(&changed, now);
                relay.hear(&changed[..at], now);
            }
        }
        assert!(relay.due(now).iter().all(|datagram| datagram.len() == announced(10, true).len() + 12));
    }

    #[test]
    fn a_silent_process_is_told_of_until_the_next_announcement_is_due() {
        let mut relay = Relay::of(OWN);
        let start = Instant::now();
        let after = |seconds: f64| start + Duration::from_secs_f64(seconds);
        relay.hear(&announced(10, true), start);
        let mut told = Vec::new();
        for tenth in 0..200 {
            told.extend(
                relay.due(after(f64::from(tenth) / 10.0)).into_iter().map(|datagram| (tenth, datagram)),
            );
        }
        assert_eq!(told.iter().map(|(tenth, _)| *tenth).collect::<Vec<_>>(), [0, 21, 42, 63]);

        // The same datagram again, as Cyclone DDS sends it: told under a number of its own.
        relay.hear(&announced(10, true), after(30.0));
        told.extend(relay.due(after(30.0)).into_iter().map(|datagram| (300, datagram)));
        let numbers: Vec<&[u8]> = told.iter().map(|(_, datagram)| &datagram[60..68]).collect();
        let expected: Vec<[u8; 8]> = (1..=5).map(|count| [count, 0, 0, 0, 1, 0, 0, 0]).collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn who_leaves_who_is_believed_for_long_and_we_ourselves_are_not_told_of() {
        let now = Instant::now();
        let mut relay = Relay::of(OWN);
        relay.hear(&announced(50, true), now);
        assert_eq!(relay.due(now).len(), 0, "for long");
        relay.hear(&announced(10, true), now);
        let mut leaving = announced(10, true);
        // Its key instead of its data.
        leaving[33] = LITTLE | 0x08;
        relay.hear(&leaving, now);
        assert_eq!(relay.due(now).len(), 0, "it leaves");
        relay.own = OTHER;
        relay.hear(&announced(10, true), now);
        assert_eq!(relay.due(now).len(), 0, "ourselves");
    }
}
