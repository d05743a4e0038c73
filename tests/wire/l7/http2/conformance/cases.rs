//! The cases, by section.

use super::super::raw::*;

const NO_ERROR: u32 = 0;
const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const STREAM_CLOSED: u32 = 5;
const FRAME_SIZE_ERROR: u32 = 6;
const REFUSED_STREAM: u32 = 7;
const COMPRESSION_ERROR: u32 = 9;
const ENHANCE_YOUR_CALM: u32 = 11;

/// What must become of it.
#[derive(Clone, Copy, Debug)]
pub enum Must {
    /// A connection error with one of these codes.
    EndConnection(&'static [u32]),
    /// An error of this stream with one of these codes.
    EndStream(u32, &'static [u32]),
    /// A 200 on this stream.
    Answer(u32),
    /// The connection goes on.
    NotMind,
}

pub struct Case {
    pub section: &'static str,
    pub what: &'static str,
    /// After the preface and, unless `bare`, SETTINGS.
    pub bytes: Vec<u8>,
    pub bare: bool,
    pub must: Must,
}

pub fn all() -> Vec<Case> {
    let by_section =
        [framing(), streams(), frames(), settings(), windows(), continuations(), fields(), messages(), compression()];
    by_section.into_iter().flatten().collect()
}

fn case(section: &'static str, what: &'static str, must: Must, frames: &[Vec<u8>]) -> Case {
    Case { section, what, bytes: frames.concat(), bare: false, must }
}

fn connection(section: &'static str, what: &'static str, code: &'static [u32], frames: &[Vec<u8>]) -> Case {
    case(section, what, Must::EndConnection(code), frames)
}

fn stream(section: &'static str, what: &'static str, code: &'static [u32], frames: &[Vec<u8>]) -> Case {
    case(section, what, Must::EndStream(1, code), frames)
}

fn head(id: u32, ends: bool, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | if ends { END_STREAM } else { 0 }, id, &block(fields))
}

fn get(id: u32) -> Vec<u8> {
    head(id, true, GET)
}

fn post() -> Vec<u8> {
    head(1, false, POST)
}

fn framing() -> Vec<Case> {
    let mut first = connection("3.4", "first frame other than SETTINGS", &[PROTOCOL_ERROR], &[get(1)]);
    first.bare = true;
    let large = |kind, flags| frame(kind, flags, 1, &vec![0; 16_385]);
    vec![
        first,
        case("4.1", "frame of unknown type", Must::NotMind, &[frame(0x16, 0, 0, &[0; 8])]),
        case("4.1", "PING with undefined flags", Must::NotMind, &[frame(PING, 0x16, 0, &[9; 8])]),
        case("4.1", "PING with the reserved bit of its stream", Must::NotMind, &[frame(PING, 0, 1 << 31, &[9; 8])]),
        case("4.2", "DATA of 2^14 bytes", Must::Answer(1), &[post(), frame(DATA, END_STREAM, 1, &[b'x'; 16_384])]),
        stream("4.2", "DATA above the size", &[FRAME_SIZE_ERROR], &[post(), large(DATA, END_STREAM)]),
        connection("4.2", "HEADERS above the size", &[FRAME_SIZE_ERROR], &[large(HEADERS, END_HEADERS | END_STREAM)]),
        connection(
            "4.3",
            "PRIORITY within a header block",
            &[PROTOCOL_ERROR],
            &[frame(HEADERS, END_STREAM, 1, &block(GET)), frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1])],
        ),
        connection(
            "4.3",
            "HEADERS of another stream within a header block",
            &[PROTOCOL_ERROR],
            &[frame(HEADERS, END_STREAM, 1, &block(GET)), get(3)],
        ),
        connection(
            "5.5",
            "frame of unknown type within a header block",
            &[PROTOCOL_ERROR],
            &[frame(HEADERS, END_STREAM, 1, &block(GET)), frame(0x16, 0, 1, &[0; 8])],
        ),
    ]
}

fn streams() -> Vec<Case> {
    let reset = || frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]);
    let closed = &[STREAM_CLOSED];
    let closed_or_protocol = &[STREAM_CLOSED, PROTOCOL_ERROR];
    let many: Vec<Vec<u8>> = (0..150).map(|n| head(n * 2 + 1, false, POST)).collect();
    vec![
        connection("5.1", "idle: DATA", &[PROTOCOL_ERROR], &[frame(DATA, END_STREAM, 1, b"x")]),
        connection("5.1", "idle: RST_STREAM", &[PROTOCOL_ERROR], &[reset()]),
        connection("5.1", "idle: WINDOW_UPDATE", &[PROTOCOL_ERROR], &[frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 100])]),
        connection("5.1", "idle: CONTINUATION", &[PROTOCOL_ERROR], &[frame(CONTINUATION, END_HEADERS, 1, &block(GET))]),
        case("5.1", "idle: PRIORITY", Must::NotMind, &[frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1])]),
        stream("5.1", "half-closed: DATA", closed, &[get(1), frame(DATA, END_STREAM, 1, b"x")]),
        stream("5.1", "half-closed: HEADERS", closed, &[get(1), get(1)]),
        connection(
            "5.1",
            "half-closed: CONTINUATION",
            closed_or_protocol,
            &[get(1), frame(CONTINUATION, END_HEADERS, 1, &block(GET))],
        ),
        stream("5.1", "closed by RST_STREAM: DATA", closed, &[post(), reset(), frame(DATA, END_STREAM, 1, b"x")]),
        stream("5.1", "closed by RST_STREAM: HEADERS", closed, &[post(), reset(), get(1)]),
        connection(
            "5.1",
            "closed by RST_STREAM: CONTINUATION",
            closed_or_protocol,
            &[post(), reset(), frame(CONTINUATION, END_HEADERS, 1, &block(GET))],
        ),
        connection("5.1.1", "stream of even number", &[PROTOCOL_ERROR], &[get(2)]),
        connection("5.1.1", "stream of a lower number", &[PROTOCOL_ERROR], &[get(5), get(3)]),
        case("5.1.2", "more streams than allowed", Must::EndStream(299, &[PROTOCOL_ERROR, REFUSED_STREAM]), &many),
        connection("5.4.1", "an error is told by GOAWAY", &[FRAME_SIZE_ERROR], &[frame(PING, 0, 0, &[0; 6])]),
    ]
}

fn frames() -> Vec<Case> {
    let p = &[PROTOCOL_ERROR];
    let f = &[FRAME_SIZE_ERROR];
    vec![
        connection("6.1", "DATA on stream 0", p, &[frame(DATA, END_STREAM, 0, b"x")]),
        stream(
            "6.1",
            "DATA with more padding than payload",
            p,
            &[post(), frame(DATA, END_STREAM | PADDED, 1, &[200, 0, 0, 0])],
        ),
        case(
            "6.1",
            "DATA with padding",
            Must::Answer(1),
            &[post(), frame(DATA, END_STREAM | PADDED, 1, &[3, b'x', 0, 0, 0])],
        ),
        connection("6.2", "HEADERS on stream 0", p, &[get(0)]),
        connection(
            "6.2",
            "HEADERS with more padding than payload",
            p,
            &[frame(HEADERS, END_HEADERS | END_STREAM | PADDED, 1, &[&[255][..], &block(GET)].concat())],
        ),
        case(
            "6.2",
            "HEADERS with padding and priority",
            Must::Answer(1),
            &[frame(
                HEADERS,
                END_HEADERS | END_STREAM | PADDED | WITH_PRIORITY,
                1,
                &[&[2, 0, 0, 0, 0, 15][..], &block(GET), &[0, 0]].concat(),
            )],
        ),
        connection("6.3", "PRIORITY on stream 0", p, &[frame(PRIORITY, 0, 0, &[0, 0, 0, 1, 1])]),
        stream("6.3", "PRIORITY of four bytes", f, &[post(), frame(PRIORITY, 0, 1, &[0; 4])]),
        connection("6.4", "RST_STREAM on stream 0", p, &[frame(RST_STREAM, 0, 0, &[0; 4])]),
        connection("6.4", "RST_STREAM of three bytes", f, &[post(), frame(RST_STREAM, 0, 1, &[0; 3])]),
        case("7", "RST_STREAM with an unknown code", Must::NotMind, &[post(), frame(RST_STREAM, 0, 1, &[0xff; 4])]),
        connection(
            "6.6",
            "PUSH_PROMISE",
            p,
            &[post(), frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 2][..], &block(GET)].concat())],
        ),
        case("6.7", "PING with ACK", Must::NotMind, &[frame(PING, ACK, 0, &[5; 8])]),
        connection("6.7", "PING on a stream", p, &[post(), frame(PING, 0, 1, &[0; 8])]),
        connection("6.7", "PING of six bytes", f, &[frame(PING, 0, 0, &[0; 6])]),
        connection("6.8", "GOAWAY on a stream", p, &[post(), frame(GOAWAY, 0, 1, &[0; 8])]),
    ]
}

fn settings() -> Vec<Case> {
    let set = |id: u8, value: u32| frame(SETTINGS, 0, 0, &[&[0, id][..], &value.to_be_bytes()].concat());
    vec![
        connection("6.5", "SETTINGS with ACK and payload", &[FRAME_SIZE_ERROR], &[frame(SETTINGS, ACK, 0, &[0; 6])]),
        connection("6.5", "SETTINGS on a stream", &[PROTOCOL_ERROR], &[post(), frame(SETTINGS, 0, 1, &[])]),
        connection("6.5", "SETTINGS of three bytes", &[FRAME_SIZE_ERROR], &[frame(SETTINGS, 0, 0, &[0, 3, 0])]),
        connection("6.5.2", "ENABLE_PUSH of 2", &[PROTOCOL_ERROR], &[set(2, 2)]),
        connection("6.5.2", "INITIAL_WINDOW_SIZE of 2^31", &[FLOW_CONTROL_ERROR], &[set(4, 1 << 31)]),
        connection("6.5.2", "MAX_FRAME_SIZE of 2^14 - 1", &[PROTOCOL_ERROR], &[set(5, (1 << 14) - 1)]),
        connection("6.5.2", "MAX_FRAME_SIZE of 2^24", &[PROTOCOL_ERROR], &[set(5, 1 << 24)]),
        case("6.5.2", "unknown setting", Must::NotMind, &[set(0xff, 1)]),
        case(
            "6.5.2",
            "the same setting twice",
            Must::NotMind,
            &[frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 100, 0, 4, 0, 0, 0, 1])],
        ),
        case(
            "6.5.3",
            "INITIAL_WINDOW_SIZE of a running stream",
            Must::Answer(1),
            &[post(), set(4, 1), frame(DATA, END_STREAM, 1, b"x")],
        ),
    ]
}

fn windows() -> Vec<Case> {
    let grant = |id: u32, by: u32| frame(WINDOW_UPDATE, 0, id, &by.to_be_bytes());
    let most = (1 << 31) - 1;
    vec![
        connection("6.9", "WINDOW_UPDATE of 0 on the connection", &[PROTOCOL_ERROR], &[grant(0, 0)]),
        stream("6.9", "WINDOW_UPDATE of 0 on a stream", &[PROTOCOL_ERROR], &[post(), grant(1, 0)]),
        connection("6.9", "WINDOW_UPDATE of three bytes", &[FRAME_SIZE_ERROR], &[frame(WINDOW_UPDATE, 0, 0, &[0; 3])]),
        connection(
            "6.9.1",
            "window of the connection above 2^31 - 1",
            &[FLOW_CONTROL_ERROR],
            &[grant(0, most), grant(0, most)],
        ),
        stream(
            "6.9.1",
            "window of a stream above 2^31 - 1",
            &[FLOW_CONTROL_ERROR],
            &[post(), grant(1, most), grant(1, most)],
        ),
        connection(
            "6.9.2",
            "a setting that takes a window above 2^31 - 1",
            &[FLOW_CONTROL_ERROR],
            &[post(), grant(1, most - 65_535), frame(SETTINGS, 0, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff])],
        ),
    ]
}

fn continuations() -> Vec<Case> {
    let whole = block(GET);
    let (first, rest) = whole.split_at(10);
    let (second, third) = rest.split_at(10);
    let begin = |flags| frame(HEADERS, flags, 1, first);
    let flood: Vec<Vec<u8>> = std::iter::once(frame(HEADERS, END_STREAM, 1, first))
        .chain((0..2000).map(|_| frame(CONTINUATION, 0, 1, &[])))
        .collect();
    let large: Vec<Vec<u8>> = std::iter::once(frame(HEADERS, END_STREAM, 1, &whole))
        .chain((0..100).map(|_| frame(CONTINUATION, 0, 1, &block(&[("x", &"a".repeat(10_000))]))))
        .collect();
    vec![
        case(
            "6.10",
            "several CONTINUATION",
            Must::Answer(1),
            &[begin(END_STREAM), frame(CONTINUATION, 0, 1, second), frame(CONTINUATION, END_HEADERS, 1, third)],
        ),
        connection(
            "6.10",
            "CONTINUATION on stream 0",
            &[PROTOCOL_ERROR],
            &[begin(END_STREAM), frame(CONTINUATION, END_HEADERS, 0, rest)],
        ),
        connection(
            "6.10",
            "CONTINUATION after END_HEADERS",
            &[PROTOCOL_ERROR, STREAM_CLOSED],
            &[post(), frame(CONTINUATION, END_HEADERS, 1, rest)],
        ),
        connection(
            "6.10",
            "CONTINUATION after DATA",
            &[PROTOCOL_ERROR, STREAM_CLOSED],
            &[post(), frame(DATA, 0, 1, b"x"), frame(CONTINUATION, END_HEADERS, 1, rest)],
        ),
        connection(
            "10.5",
            "CONTINUATION without an end",
            &[ENHANCE_YOUR_CALM, PROTOCOL_ERROR, COMPRESSION_ERROR],
            &flood,
        ),
        connection(
            "10.5.1",
            "a header block of a megabyte",
            &[ENHANCE_YOUR_CALM, PROTOCOL_ERROR, COMPRESSION_ERROR],
            &large,
        ),
    ]
}

/// A GET with these fields after the pseudo-fields.
fn with(fields: &[(&str, &str)]) -> Vec<u8> {
    head(1, true, &[GET, fields].concat())
}

fn fields() -> Vec<Case> {
    let p = &[PROTOCOL_ERROR];
    let malformed = |section, what, fields: &[(&str, &str)]| stream(section, what, p, &[head(1, true, fields)]);
    let (method, scheme, authority, path) = (GET[0], GET[1], GET[2], GET[3]);
    vec![
        stream("8.2.1", "name in upper case", p, &[with(&[("X-Test", "1")])]),
        stream("8.2.1", "name with a space", p, &[with(&[("x test", "1")])]),
        stream("8.2.1", "name with a colon", p, &[with(&[("x:test", "1")])]),
        stream("8.2.1", "value with CR LF", p, &[with(&[("x", "1\r\ny: 2")])]),
        stream("8.2.1", "value with NUL", p, &[with(&[("x", "1\0")])]),
        stream("8.2.2", "Connection", p, &[with(&[("connection", "keep-alive")])]),
        stream("8.2.2", "Keep-Alive", p, &[with(&[("keep-alive", "1")])]),
        stream("8.2.2", "Transfer-Encoding", p, &[with(&[("transfer-encoding", "chunked")])]),
        stream("8.2.2", "Upgrade", p, &[with(&[("upgrade", "websocket")])]),
        stream("8.2.2", "TE other than trailers", p, &[with(&[("te", "trailers, deflate")])]),
        case("8.2.2", "TE of trailers", Must::Answer(1), &[with(&[("te", "trailers")])]),
        malformed("8.3", "pseudo-field after a field", &[method, scheme, authority, ("x", "1"), path]),
        malformed("8.3", "unknown pseudo-field", &[method, scheme, authority, path, (":test", "1")]),
        malformed("8.3", ":status in a request", &[method, scheme, authority, path, (":status", "200")]),
        malformed("8.3.1", "no :method", &[scheme, authority, path]),
        malformed("8.3.1", "no :scheme", &[method, authority, path]),
        malformed("8.3.1", "no :path", &[method, scheme, authority]),
        malformed("8.3.1", "empty :path", &[method, scheme, authority, (":path", "")]),
        malformed("8.3.1", ":path without a slash", &[method, scheme, authority, (":path", "a")]),
        malformed("8.3.1", ":path in absolute form", &[method, scheme, authority, (":path", "http://t.test/")]),
        malformed("8.3.1", "two :method", &[method, scheme, authority, path, method]),
        malformed("8.3.1", "two :scheme", &[method, scheme, authority, path, scheme]),
        malformed("8.3.1", "two :path", &[method, scheme, authority, path, path]),
        malformed("8.3.1", "two :authority", &[method, scheme, authority, path, authority]),
        malformed("8.3.1", "user in :authority", &[method, scheme, (":authority", "u@t.test"), path]),
        malformed("8.3.1", "Host that differs from :authority", &[method, scheme, authority, path, ("host", "other")]),
        case(
            "8.3.1",
            "Host alone, as of HTTP/1.1",
            Must::Answer(1),
            &[head(1, true, &[method, scheme, path, ("host", "t.test")])],
        ),
        malformed("8.5", "CONNECT with :path", &[(":method", "CONNECT"), scheme, authority, path]),
    ]
}

fn messages() -> Vec<Case> {
    let p = &[PROTOCOL_ERROR];
    let sized = |length| head(1, false, &[POST, &[("content-length", length)]].concat());
    let data = |ends: bool, bytes: &[u8]| frame(DATA, u8::from(ends), 1, bytes);
    vec![
        stream("8.1", "a second HEADERS that ends nothing", p, &[post(), head(1, false, &[("x", "1")])]),
        case("8.1", "trailers", Must::Answer(1), &[post(), data(false, b"x"), head(1, true, &[("x", "1")])]),
        stream(
            "8.1",
            "pseudo-field in trailers",
            p,
            &[post(), data(false, b"x"), head(1, true, &[(":method", "GET")])],
        ),
        stream("8.1.1", "less than Content-Length", p, &[sized("2"), data(true, b"x")]),
        stream("8.1.1", "more than Content-Length", p, &[sized("1"), data(true, b"xx")]),
        stream(
            "8.1.1",
            "more than Content-Length in two frames",
            p,
            &[sized("1"), data(false, b"x"), data(true, b"x")],
        ),
        stream(
            "8.1.1",
            "two Content-Length",
            p,
            &[head(1, false, &[POST, &[("content-length", "1"), ("content-length", "2")]].concat()), data(true, b"x")],
        ),
        case("8.1", "as much as Content-Length", Must::Answer(1), &[sized("2"), data(false, b"x"), data(true, b"x")]),
        connection("6.8", "GOAWAY, then the end", &[NO_ERROR], &[frame(GOAWAY, 0, 0, &[0; 8])]),
    ]
}

fn compression() -> Vec<Case> {
    let c = &[COMPRESSION_ERROR];
    let raw = |bytes: &[u8]| frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes);
    let after = |bytes: &[u8]| raw(&[&block(GET), bytes].concat());
    let huffman = |bytes: &[u8]| after(&[&[0, 1, b'x', 0x80 | u8::try_from(bytes.len()).unwrap()], bytes].concat());
    vec![
        connection("7541 2.3.3", "index beyond the tables", c, &[after(&[0xff, 0x80, 0x01])]),
        connection("7541 6.1", "index 0", c, &[after(&[0x80])]),
        connection("7541 4.2", "table size after a field", c, &[after(&[0x20])]),
        connection(
            "7541 6.3",
            "table size above the setting",
            c,
            &[raw(&[&[0x3f, 0xe1, 0x7f][..], &block(GET)].concat())],
        ),
        connection(
            "7541 5.1",
            "integer without an end",
            c,
            &[after(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
        ),
        connection("7541 5.2", "string longer than its block", c, &[after(&[0, 1, b'x', 100, b'y'])]),
        connection("7541 5.2", "Huffman padding of a byte", c, &[huffman(&[0x1f, 0xff])]),
        connection("7541 5.2", "Huffman padding of zeros", c, &[huffman(&[0x18])]),
        connection("7541 5.2", "Huffman EOS", c, &[huffman(&[0xff, 0xff, 0xff, 0xff])]),
    ]
}
