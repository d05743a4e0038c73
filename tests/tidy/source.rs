//! The sources as the rules see them: every file with its text, its code without comments and literals, and whether it is
//! test code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One Rust file.
pub struct Source {
    /// Relative to the root, with `/`: `src/machine/check.rs`.
    pub path: String,
    pub text: String,
    /// The code: comments and the insides of literals blanked, lines kept.
    pub code: String,
    /// The code without `#[cfg(test)]` modules; empty for a file that only such a module declares.
    pub product: String,
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files under these folders, sorted.
pub fn rust_files(folders: &[&str]) -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in folders {
        walk(&root().join(folder), &mut paths);
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    paths.sort();
    let mut sources: Vec<Source> = paths.iter().map(|path| read(path)).collect();
    let tests: BTreeSet<String> = sources.iter().flat_map(test_files).collect();
    for source in &mut sources {
        if tests.iter().any(|test| source.path == format!("{test}.rs") || source.path.starts_with(&format!("{test}/")))
        {
            source.product.clear();
        }
    }
    assert!(!sources.is_empty(), "no sources in {folders:?}");
    sources
}

/// Every file below `folder` that belongs to the project, as text and its path. What is not UTF-8 is left out.
pub fn text_files(folder: &Path) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    walk(folder, &mut paths);
    paths.sort();
    paths.iter().filter_map(|path| Some((relative(path), std::fs::read_to_string(path).ok()?))).collect()
}

pub fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// The number of the line that holds the byte at `at`.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn read(path: &Path) -> Source {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let code = code_of(&text);
    let product = without_tests(&code);
    Source { path: relative(path), text, code, product }
}

/// Hidden folders other than `.ci`, build output and run-time state are not the project's text.
fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_foreign = (name.starts_with('.') && name != ".ci" && name != ".gitignore")
            || matches!(&*name, "target" | "state" | "demo-state" | "Cargo.lock");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !is_foreign => walk(&entry.path(), into),
            Ok(kind) if kind.is_file() && !is_foreign => into.push(entry.path()),
            _ => {}
        }
    }
}

/// Blanks comments and the insides of string, byte and character literals; newlines stay.
pub fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => end_of_line(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => end_of_block_comment(bytes, at),
            b'"' => end_of_string(bytes, at),
            b'r' if !follows_word(bytes, at) && raw_hashes(bytes, at).is_some() => end_of_raw_string(bytes, at),
            b'\'' => end_of_char(bytes, at),
            _ => at + 1,
        };
        if end > at + 1 {
            code[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        at = end;
    }
    String::from_utf8(code).expect("only whole characters were blanked")
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'b' || bytes[at - 1] == b'_')
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n)
}

fn end_of_block_comment(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i < bytes.len() {
        if bytes[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if bytes[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                break;
            }
        } else {
            i += 1;
        }
    }
    i
}

fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut i = at + 1;
    while i < bytes.len() && bytes[i] != b'"' {
        i += if bytes[i] == b'\\' { 2 } else { 1 };
    }
    (i + 1).min(bytes.len())
}

/// How many `#` open a raw string at `r`; `None` where there is none.
fn raw_hashes(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|&&b| b == b'#').count();
    (bytes.get(at + 1 + hashes) == Some(&b'"')).then_some(hashes)
}

fn end_of_raw_string(bytes: &[u8], at: usize) -> usize {
    let hashes = raw_hashes(bytes, at).unwrap_or(0);
    let close = [b"\"".to_vec(), vec![b'#'; hashes]].concat();
    let inside = at + 2 + hashes;
    let length = bytes[inside..].windows(close.len()).position(|w| w == close);
    length.map_or(bytes.len(), |n| inside + n + close.len())
}

/// A character literal, or one byte on where the quote begins a lifetime.
fn end_of_char(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at + 1..];
    match rest {
        [b'\\', ..] => rest.iter().skip(2).position(|&b| b == b'\'').map_or(at + 1, |n| at + 1 + 2 + n + 1),
        _ => {
            let width = rest.first().map_or(1, |&b| match b {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            });
            if rest.get(width) == Some(&b'\'') { at + 1 + width + 1 } else { at + 1 }
        }
    }
}

/// Blanks what follows `#[cfg(test)]`: one item, to its brace or semicolon.
fn without_tests(code: &str) -> String {
    let mut product = code.as_bytes().to_vec();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let at = from + found;
        let end = end_of_item(code, at + "#[cfg(test)]".len());
        product[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        from = end;
    }
    String::from_utf8(product).expect("only whole items were blanked")
}

fn end_of_item(code: &str, from: usize) -> usize {
    let mut depth = 0;
    for (i, byte) in code[from..].bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return from + i + 1;
                }
            }
            b';' if depth == 0 => return from + i + 1,
            _ => {}
        }
    }
    code.len()
}

/// Paths, without `.rs`, of the files that `#[cfg(test)] mod NAME;` declares.
fn test_files(source: &Source) -> Vec<String> {
    let mut files = Vec::new();
    let mut rest = &*source.code;
    while let Some(found) = rest.find("#[cfg(test)]") {
        rest = &rest[found + "#[cfg(test)]".len()..];
        let item = rest.split(['{', ';']).next().unwrap_or("");
        if let Some((_, name)) = item.split_once("mod ") {
            files.push(format!("{}/{}", folder_of_children(&source.path), name.trim()));
        }
    }
    files
}

/// Where the modules that a file declares stand: `src/a` for `src/a.rs`, `src` for `src/lib.rs`, `tests` for
/// `tests/a.rs`, `benches/a` for `benches/a/main.rs`.
pub fn folder_of_children(path: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let is_crate_root = matches!(stem, "src/lib" | "src/main") || matches!(folder, "tests" | "benches");
    if is_crate_root || matches!(name, "main" | "mod") { folder.to_owned() } else { stem.to_owned() }
}

#[test]
fn comments_and_literals_are_not_code() {
    let text =
        "let a = \"x // y\"; // z\nlet b = 'c'; let d: &'static str = r#\"e\"f\"#; /* g /* h */ i */ j('\\'', b'k')";
    let code = code_of(text);
    assert_eq!(code.len(), text.len());
    assert!(!["x", "y", "z", "e\"f", "g", "h", "i */", "k"].iter().any(|gone| code.contains(gone)), "{code}");
    assert!(code.contains("let d: &'static str =") && code.contains("j("), "{code}");
}

#[test]
fn test_modules_are_not_the_product() {
    let code = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { c() } }\nfn d() {}\n#[cfg(test)]\nmod e;\nfn f() {}";
    let product = without_tests(code);
    assert!(!product.contains("b()") && !product.contains("mod e"), "{product}");
    assert!(product.contains("fn a") && product.contains("fn d") && product.contains("fn f"), "{product}");
}
