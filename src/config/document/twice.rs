//! What is defined twice, in words that name it and its first place: the parser only says that a key is duplicate.

/// `start` is where the second one stands. `None`: an echo of a table that stands twice, which has been reported.
pub fn describe(text: &str, start: usize) -> Option<String> {
    let at = text[..start].matches('\n').count();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let second = *lines.get(at)?;
    if let Some(header) = header(second) {
        return Some(match first(&lines[..at], header) {
            Some(line) => format!("[{header}] stands twice; first in line {line}"),
            None => format!("[{header}] is defined already, by a key of the table that holds it"),
        });
    }
    let Some(key) = key(second) else { return Some("a key stands twice in an inline table".into()) };
    let table = lines[..at].iter().rposition(|line| header(line).is_some());
    let own = table.map_or(0, |table| table + 1);
    if let Some(line) = lines[own..at].iter().position(|line| self::key(line) == Some(key)) {
        return Some(format!("`{key}` stands twice in one table; first in line {}", own + line + 1));
    }
    let table = table.map(|table| (table, header(lines[table]).unwrap_or_default()));
    match table {
        Some((table, header)) if first(&lines[..table], header).is_some() => None,
        _ => Some(format!("`{key}` is defined already")),
    }
}

/// The 1-based line on which a header stands for the first time.
fn first(lines: &[&str], wanted: &str) -> Option<usize> {
    lines.iter().position(|line| header(line) == Some(wanted)).map(|at| at + 1)
}

/// `service.a` of `[service.a]   # why`
fn header(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('[').filter(|rest| !rest.starts_with('['))?;
    Some(rest.split_once(']')?.0.trim())
}

/// `port` of `port = 80`
fn key(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    (!key.is_empty() && !key.starts_with(['[', '{', '#'])).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<String> {
        describe(&text.replace('|', ""), text.find('|').unwrap())
    }

    #[test]
    fn a_name_that_is_defined_twice_is_named_with_its_first_place() {
        let said = |text| told(text).unwrap();
        assert_eq!(said("[a.b]\nx = 1\n[|a.b] # again\n"), "[a.b] stands twice; first in line 1");
        assert_eq!(said("[a]\nx = 1\ny = 2\n|x = 3\n"), "`x` stands twice in one table; first in line 2");
        assert_eq!(said("[a]\nb = {}\n[|a.b]\n"), "[a.b] is defined already, by a key of the table that holds it");
    }

    #[test]
    fn what_follows_from_a_table_that_stands_twice_is_not_told_again() {
        assert_eq!(told("[a]\nx = 1\n[a]\n|x = 1\n"), None);
    }
}
