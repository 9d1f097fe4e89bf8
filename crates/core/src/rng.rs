//! Seeded random numbers in named streams.
//!
//! Models: nothing (fio's own generators are not reproduced: which zone comes next differs, the law does not).
//! Rule: a stream depends on the seed and its name only, so one more draw in the drive never changes a workload.
//! Leaves out: floating point.

/// One stream: splitmix64 over a counter, so its state is one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a 64 of a stream's name.
const fn name_hash(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut h = 0xcbf2_9ce4_8422_2325u64;
    let mut i = 0;
    while i < bytes.len() {
        h = (h ^ bytes[i] as u64).wrapping_mul(0x100_0000_01b3);
        i += 1;
    }
    h
}

impl Rng {
    /// Stream `name`, number `index`, of a seed.
    pub fn stream(seed: u64, name: &str, index: u64) -> Self {
        Self { state: mix(seed ^ name_hash(name)).wrapping_add(mix(index.wrapping_mul(0x9e37_79b9_7f4a_7c15))) }
    }
    /// Next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }
    /// Uniform in `0..n` (n > 0), by multiply and shift.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |name, i| Rng::stream(42, name, i).next_u64();
        assert_eq!(draw("job", 0), draw("job", 0));
        assert_ne!(draw("job", 0), draw("job", 1));
        assert_ne!(draw("job", 0), draw("phase", 0));
        let mut r = Rng::stream(1, "x", 0);
        assert!((0..1000).map(|_| r.below(7)).all(|v| v < 7));
    }
}
