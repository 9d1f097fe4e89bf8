//! Raw deflate streams, written and read with little code.
//!
//! Models: RFC 1951; what is written is one block with the fixed code (section 3.2.6).
//! Rule: what is written any inflater reads, and what any compressor wrote is read here; nothing that comes in makes
//! more than the limit come out. It is here because the crates for it weigh 10 kB more in the page, and lists of
//! settings, which repeat themselves, hardly become shorter by them.
//! Leaves out: levels, streams, checksums.

/// Shortest match worth its distance.
const MIN_MATCH: usize = 3;
/// Longest match written; one byte more would be a code of another form.
const MAX_MATCH: usize = 257;
/// How far back a match may lie.
const WINDOW: usize = 32 * 1024;
/// Earlier places looked at for each match.
const TRIES: usize = 64;
const NOWHERE: u32 = u32::MAX;

/// Bits to bytes, the lowest bit first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    n: u32,
}

impl Bits {
    fn put(&mut self, bits: u32, n: u32) {
        self.held |= bits << self.n;
        self.n += n;
        while self.n >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.n -= 8;
        }
    }
    /// A code: its highest bit first.
    fn code(&mut self, code: u32, n: u32) {
        self.put(code.reverse_bits() >> (32 - n), n);
    }
    /// A literal, the end, or a length.
    fn symbol(&mut self, symbol: u32) {
        match symbol {
            0..144 => self.code(0x30 + symbol, 8),
            144..256 => self.code(0x190 + symbol - 144, 9),
            256..280 => self.code(symbol - 256, 7),
            _ => self.code(0xc0 + symbol - 280, 8),
        }
    }
    fn repeat(&mut self, length: usize, distance: usize) {
        // Of both numbers the code says the first bits (2 and 1 behind the highest), the rest follows as it is.
        let (n, extra) = ((length - MIN_MATCH) as u32, extra_bits(length - MIN_MATCH, 2));
        self.symbol(257 + 4 * extra + (n >> extra));
        self.put(n & ((1 << extra) - 1), extra);
        let (n, extra) = ((distance - 1) as u32, extra_bits(distance - 1, 1));
        self.code(2 * extra + (n >> extra), 5);
        self.put(n & ((1 << extra) - 1), extra);
    }
}

fn extra_bits(n: usize, in_code: u32) -> u32 {
    n.checked_ilog2().unwrap_or(0).saturating_sub(in_code)
}

/// Compresses a text of at most 64 KiB or so.
pub fn deflate(data: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    // The last block, with the fixed code.
    bits.put(1, 1);
    bits.put(1, 2);
    let hash =
        |at: usize| (usize::from(data[at]) << 8 ^ usize::from(data[at + 1]) << 4 ^ usize::from(data[at + 2])) & 4095;
    // The last place of each hash, and of each place the one before with the same hash.
    let mut heads = vec![NOWHERE; 4096];
    let mut before = vec![NOWHERE; data.len()];
    let mut at = 0;
    while at < data.len() {
        let (mut length, mut distance) = (1, 0);
        if at + MIN_MATCH <= data.len() {
            let most = MAX_MATCH.min(data.len() - at);
            let mut place = heads[hash(at)];
            for _ in 0..TRIES {
                let from = place as usize;
                if place == NOWHERE || at - from > WINDOW {
                    break;
                }
                let same = (0..most).take_while(|i| data[from + i] == data[at + i]).count();
                if same >= MIN_MATCH && same > length {
                    (length, distance) = (same, at - from);
                }
                place = before[from];
            }
        }
        match distance {
            0 => bits.symbol(u32::from(data[at])),
            _ => bits.repeat(length, distance),
        }
        for at in at..(at + length).min((data.len() + 1).saturating_sub(MIN_MATCH)) {
            before[at] = heads[hash(at)];
            heads[hash(at)] = at as u32;
        }
        at += length;
    }
    bits.symbol(256);
    // What is held of the last byte.
    bits.put(0, 7);
    bits.bytes
}

/// Why a stream cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It ends before its last block does.
    Early,
    /// No compressor wrote this.
    Damaged,
    /// More comes out than the limit.
    TooLong,
    /// Bytes follow its last block.
    Behind,
}

/// Reads a whole stream that holds at most `limit` bytes.
pub fn inflate(data: &[u8], limit: usize) -> Result<Vec<u8>, Broken> {
    let mut source = Source { data, held: 0, n: 0 };
    let mut out = Vec::new();
    loop {
        let last = source.bits(1)? == 1;
        match source.bits(2)? {
            0 => stored(&mut source, &mut out, limit)?,
            1 => {
                let mut lengths = [8u8; 288];
                lengths[144..256].fill(9);
                lengths[256..280].fill(7);
                block(&mut source, &mut out, limit, &Code::new(&lengths)?, &Code::new(&[5; 30])?)?;
            }
            2 => {
                let (lengths, distances) = dynamic(&mut source)?;
                block(&mut source, &mut out, limit, &lengths, &distances)?;
            }
            _ => return Err(Broken::Damaged),
        }
        if last {
            return if source.data.is_empty() { Ok(out) } else { Err(Broken::Behind) };
        }
    }
}

/// Bytes to bits. Never holds a whole byte, so that what is left of `data` is what was not used.
struct Source<'a> {
    data: &'a [u8],
    held: u32,
    n: u32,
}

impl Source<'_> {
    fn bits(&mut self, n: u32) -> Result<u32, Broken> {
        while self.n < n {
            let (byte, rest) = self.data.split_first().ok_or(Broken::Early)?;
            self.held |= u32::from(*byte) << self.n;
            self.n += 8;
            self.data = rest;
        }
        let bits = self.held & ((1 << n) - 1);
        self.held >>= n;
        self.n -= n;
        Ok(bits)
    }
}

/// A canonical Huffman code.
struct Code {
    /// Codes of each length.
    counts: [u16; 16],
    /// In the order of their codes.
    symbols: Vec<u16>,
}

impl Code {
    /// Of the lengths of its symbols' codes; 0 is a symbol without one.
    fn new(lengths: &[u8]) -> Result<Self, Broken> {
        let mut counts = [0u16; 16];
        let mut symbols = Vec::new();
        let mut free = 1i32;
        for length in 1..16u8 {
            let before = symbols.len();
            symbols.extend((0u16..).zip(lengths).filter(|(_, l)| **l == length).map(|(symbol, _)| symbol));
            counts[usize::from(length)] = (symbols.len() - before) as u16;
            free = 2 * free - i32::from(counts[usize::from(length)]);
            if free < 0 {
                return Err(Broken::Damaged);
            }
        }
        Ok(Self { counts, symbols })
    }
    fn next(&self, source: &mut Source) -> Result<u16, Broken> {
        // The code so far, the first code of its length, and how many shorter ones there are.
        let (mut code, mut first, mut shorter) = (0, 0, 0);
        for count in &self.counts[1..] {
            code = code << 1 | source.bits(1)?;
            let count = u32::from(*count);
            if code < first + count {
                return self.symbols.get((shorter + code - first) as usize).copied().ok_or(Broken::Damaged);
            }
            shorter += count;
            first = (first + count) << 1;
        }
        Err(Broken::Damaged)
    }
}

fn stored(source: &mut Source, out: &mut Vec<u8>, limit: usize) -> Result<(), Broken> {
    // The rest of the byte is not used.
    (source.held, source.n) = (0, 0);
    let (length, check) = (source.bits(16)?, source.bits(16)?);
    if length != !check & 0xffff {
        return Err(Broken::Damaged);
    }
    let (bytes, rest) = source.data.split_at_checked(length as usize).ok_or(Broken::Early)?;
    if out.len() + bytes.len() > limit {
        return Err(Broken::TooLong);
    }
    out.extend_from_slice(bytes);
    source.data = rest;
    Ok(())
}

/// The two codes of a block that brings its own.
fn dynamic(source: &mut Source) -> Result<(Code, Code), Broken> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let literals = source.bits(5)? as usize + 257;
    let all = literals + source.bits(5)? as usize + 1;
    let mut meta = [0u8; 19];
    for place in &ORDER[..source.bits(4)? as usize + 4] {
        meta[*place] = source.bits(3)? as u8;
    }
    let meta = Code::new(&meta)?;
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < all {
        let (length, times) = match meta.next(source)? {
            16 => (*lengths.last().ok_or(Broken::Damaged)?, 3 + source.bits(2)?),
            17 => (0, 3 + source.bits(3)?),
            18 => (0, 11 + source.bits(7)?),
            length => (length as u8, 1),
        };
        lengths.extend((0..times).map(|_| length));
    }
    if lengths.len() > all {
        return Err(Broken::Damaged);
    }
    Ok((Code::new(&lengths[..literals])?, Code::new(&lengths[literals..])?))
}

fn block(s: &mut Source, out: &mut Vec<u8>, limit: usize, lengths: &Code, distances: &Code) -> Result<(), Broken> {
    loop {
        let symbol = u32::from(lengths.next(s)?);
        if symbol == 256 {
            return Ok(());
        }
        if symbol < 256 {
            out.push(symbol as u8);
        } else {
            let length = match symbol - 257 {
                n @ 0..8 => n,
                n @ 8..28 => ((4 + n % 4) << (n / 4 - 1)) + s.bits(n / 4 - 1)?,
                28 => 255,
                _ => return Err(Broken::Damaged),
            } as usize
                + MIN_MATCH;
            let distance = match u32::from(distances.next(s)?) {
                n @ 0..4 => n,
                n @ 4..30 => ((2 + n % 2) << (n / 2 - 1)) + s.bits(n / 2 - 1)?,
                _ => return Err(Broken::Damaged),
            } as usize
                + 1;
            let from = out.len().checked_sub(distance).ok_or(Broken::Damaged)?;
            for i in from..from + length {
                out.push(out[i]);
            }
        }
        if out.len() > limit {
            return Err(Broken::TooLong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::deflate::compress_to_vec;
    use miniz_oxide::inflate::decompress_to_vec;

    /// Texts of all lengths and of few letters, so that there are matches of all kinds; now and then all bytes.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let mut x = 1u32;
        let mut next = move |below: u32| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((x >> 16) % below) as u8
        };
        let short = (0..1500usize).map(move |i| {
            let letters = if i % 5 == 0 { 256 } else { 1 + i as u32 % 7 };
            (0..i).map(|_| next(letters)).collect()
        });
        short.chain([b"job0.bs=64KiB".repeat(5000)])
    }

    #[test]
    fn other_inflaters_read_what_is_written() {
        for text in texts() {
            assert_eq!(decompress_to_vec(&deflate(&text)).ok().as_ref(), Some(&text));
            assert_eq!(inflate(&deflate(&text), text.len()).as_ref(), Ok(&text));
        }
        assert!(deflate(&texts().last().unwrap()).len() < 700);
    }

    #[test]
    fn what_other_compressors_wrote_is_read() {
        for text in texts() {
            for level in [0, 1, 6, 10] {
                let packed = compress_to_vec(&text, level);
                assert_eq!(inflate(&packed, text.len()).as_ref(), Ok(&text), "level {level}");
                if let Some(less) = text.len().checked_sub(1) {
                    assert_eq!(inflate(&packed, less), Err(Broken::TooLong), "level {level}");
                }
                assert_eq!(inflate(&[&packed[..], &[0]].concat(), text.len()), Err(Broken::Behind));
                let early = inflate(&packed[..packed.len() - 1], text.len());
                assert_eq!(early, Err(Broken::Early), "level {level}");
            }
        }
    }

    /// Both readers take the same streams and make the same of them.
    #[test]
    fn damaged_streams_are_refused_as_elsewhere() {
        let mut x = 9u64;
        let mut next = |below: usize| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as usize % below
        };
        let texts: Vec<Vec<u8>> = texts().skip(1).step_by(40).collect();
        let mut readable = 0;
        for _ in 0..30_000 {
            let level = [0, 1, 6, 10][next(4)];
            let mut packed = compress_to_vec(&texts[next(texts.len())], level);
            for _ in 0..1 + next(3) {
                let at = next(packed.len());
                packed[at] ^= 1 << next(8);
            }
            let theirs = decompress_to_vec(&packed).ok();
            match inflate(&packed, 1 << 20) {
                Ok(ours) => {
                    readable += 1;
                    assert!(theirs.is_none_or(|theirs| theirs == ours));
                }
                // They do not look at what follows the last block.
                Err(Broken::Behind) => {}
                Err(_) => assert_eq!(theirs, None),
            }
        }
        assert!(readable > 100, "{readable}");
    }
}
