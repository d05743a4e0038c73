//! A number in 16 bits: exact below 2048, to one part in 2048 above, up to 4·10¹².

/// What stands where nothing was measured.
pub const GAP: u16 = u16::MAX;

const BITS: u32 = 11;

pub fn encode(value: u64) -> u16 {
    if value < 1 << BITS {
        return value as u16;
    }
    let shift = value.ilog2() - BITS;
    if shift + 1 > 30 {
        return (31 << BITS) - 1;
    }
    (((shift + 1) << BITS) as u16) | ((value >> shift) as u16 & ((1 << BITS) - 1))
}

pub fn decode(code: u16) -> Option<u64> {
    if code == GAP {
        return None;
    }
    let (exponent, mantissa) = (u32::from(code) >> BITS, u64::from(code) & ((1 << BITS) - 1));
    Some(if exponent == 0 { mantissa } else { ((1 << BITS) | mantissa) << (exponent - 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_exact_and_large_ones_to_one_part_in_two_thousand() {
        for value in 0..100_000 {
            let back = decode(encode(value)).unwrap();
            assert!(back <= value && value - back <= value / 2_048, "{value}: {back}");
        }
        for shift in 12..41 {
            for value in [1_u64 << shift, (1 << shift) + 12_345 % (1 << shift), (2 << shift) - 1] {
                let back = decode(encode(value)).unwrap();
                assert!(back <= value && value - back <= value / 2_048, "{value}: {back}");
            }
        }
        assert_eq!(decode(encode(u64::MAX)), decode((31 << 11) - 1));
        assert_ne!(encode(u64::MAX), GAP);
        assert_eq!(decode(GAP), None);
    }
}
