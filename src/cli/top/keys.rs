//! Keys of a terminal, from its bytes.

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    Char(char),
}

/// The keys of what was read at once. What no key is known for is left out; an escape that nothing follows is the key.
pub(super) fn keys(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.as_ref();
    let mut keys = Vec::new();
    while let Some(first) = rest.chars().next() {
        let sequence = match first {
            '\x1b' if rest.starts_with("\x1b[") || rest.starts_with("\x1bO") => {
                // Parameters, then the letter that ends it.
                let end = rest[2..].find(|c: char| ('@'..='~').contains(&c)).map_or(rest.len(), |at| at + 3);
                keys.extend(of_sequence(&rest[2..end]));
                end
            }
            '\x1b' => {
                keys.push(Key::Escape);
                1
            }
            '\r' | '\n' => {
                keys.push(Key::Enter);
                1
            }
            '\x7f' | '\x08' => {
                keys.push(Key::Backspace);
                1
            }
            other if other.is_control() => other.len_utf8(),
            other => {
                keys.push(Key::Char(other));
                other.len_utf8()
            }
        };
        rest = &rest[sequence..];
    }
    keys
}

fn of_sequence(sequence: &str) -> Option<Key> {
    Some(match sequence {
        "A" => Key::Up,
        "B" => Key::Down,
        "5~" => Key::PageUp,
        "6~" => Key::PageDown,
        "H" | "1~" | "7~" => Key::Home,
        "F" | "4~" | "8~" => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_terminal_are_keys() {
        assert_eq!(keys(b"\x1b[A\x1bOBj"), [Key::Up, Key::Down, Key::Char('j')]);
        assert_eq!(keys(b"\x1b[5~\x1b[6~\x1b[H\x1b[4~"), [Key::PageUp, Key::PageDown, Key::Home, Key::End]);
        assert_eq!(keys(b"30\r\x7f\x1b"), [Key::Char('3'), Key::Char('0'), Key::Enter, Key::Backspace, Key::Escape]);
        assert_eq!(keys("ä".as_bytes()), [Key::Char('ä')]);
        assert_eq!(keys(b"\x1b[1;5C\x01\x1b["), [], "what no key is known for");
    }
}
