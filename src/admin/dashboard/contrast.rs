//! Contrast of the tokens of `style.css` in both themes, by WCAG 2.2: 4.5 for text, 3 for parts that carry meaning.

/// Text and what it stands on.
const TEXT: &[(&str, &str)] = &[
    ("ink", "bg"),
    ("ink", "s1"),
    ("ink", "s2"),
    ("ink2", "bg"),
    ("ink2", "s1"),
    ("ink2", "s2"),
    ("ink3", "bg"),
    ("ink3", "s1"),
    ("ink3", "s2"),
    ("act", "bg"),
    ("act", "s1"),
    ("act", "s2"),
    ("on-act", "act"),
    ("bad", "bg"),
    ("bad", "s1"),
    ("bad", "bad-t"),
    ("warn", "s1"),
    ("warn", "warn-t"),
    ("hand", "bg"),
    ("hand", "s1"),
    ("hand", "hand-t"),
    ("off", "off-t"),
    ("ink", "warn-t"),
    ("ink", "bad-t"),
    ("ink", "hand-t"),
    ("ink", "off-t"),
    ("bg", "ink"),
    ("s1", "bad"),
    ("s1", "hand"),
];

/// Parts: dots, lines, edges of controls, hatching.
const PARTS: &[(&str, &str)] = &[
    ("ok", "s1"),
    ("edge", "s1"),
    ("edge", "bg"),
    ("flow", "s1"),
    ("flow", "bg"),
    ("idle", "s1"),
    ("ink", "s2"),
    ("warn", "s2"),
    ("bad", "s1"),
    ("hand", "s1"),
];

/// `--ink:light-dark(#171c1e,#e7ebe9);`, of one theme.
fn token(style: &str, name: &str, theme: usize) -> [f64; 3] {
    let start = style.find(&format!("--{name}:light-dark(")).unwrap_or_else(|| panic!("no token --{name}"));
    let inner = style[start..].split(['(', ')']).nth(1).unwrap();
    let hex = inner.split(',').nth(theme).unwrap().trim().trim_start_matches('#');
    let wide: String = if hex.len() == 3 { hex.chars().flat_map(|c| [c, c]).collect() } else { hex.to_owned() };
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&wide[at..at + 2], 16).unwrap()) / 255.0)
}

fn luminance(colour: [f64; 3]) -> f64 {
    let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    let [red, green, blue] = colour.map(linear);
    0.2126f64.mul_add(red, 0.7152f64.mul_add(green, 0.0722 * blue))
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn every_pair_of_tokens_has_contrast_enough_in_both_themes() {
    let style = include_str!("style.css");
    let mut faint = Vec::new();
    for (theme, of) in ["light", "dark"].iter().enumerate() {
        for (pairs, least) in [(TEXT, 4.5), (PARTS, 3.0)] {
            for (one, other) in pairs {
                let found = contrast(token(style, one, theme), token(style, other, theme));
                if found < least {
                    faint.push(format!("{of}: --{one} on --{other} has {found:.2}, at least {least}"));
                }
            }
        }
    }
    assert!(faint.is_empty(), "{}", faint.join("\n"));
    let (black, white) = ([0.0; 3], [1.0; 3]);
    assert!((contrast(black, white) - 21.0).abs() < 1e-9, "as WCAG has it");
}
