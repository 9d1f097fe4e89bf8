//! Short lists in order, without the library's sort: each of its instances costs the page 2 kB.
//!
//! Models: nothing.
//! Rule: two numbers are packed in one, the first leads; lists are hundreds long at most and nearly in order.
//! Leaves out: long lists.

/// Two numbers as one that sorts by the first, then the second.
pub fn pack(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// What [`pack`] packed.
pub fn unpack(packed: u64) -> (u32, u32) {
    ((packed >> 32) as u32, packed as u32)
}

/// Puts a list in ascending order.
pub fn ascending(list: &mut [u64]) {
    for n in 1..list.len() {
        let value = list[n];
        let at = list[..n].partition_point(|v| *v <= value);
        list.copy_within(at..n, at + 1);
        list[at] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_in_order() {
        let mut list: Vec<u64> = (0..200).map(|n| pack(n * 37 % 101, n)).collect();
        let mut sorted = list.clone();
        sorted.sort_unstable();
        ascending(&mut list);
        assert_eq!(list, sorted);
        assert_eq!(unpack(pack(7, u32::MAX)), (7, u32::MAX));
    }
}
