//! Brotli without a packer, which would be a thirtieth of the program: bodies are stored as they are (RFC 7932, section 9.2).

/// The largest block whose length fits four digits of four bits.
const BLOCK: usize = 1 << 16;

/// A whole body: every decoder reads it, nothing gets smaller.
pub fn encode_stored(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + body.len() / BLOCK * 3 + 4);
    for (at, block) in body.chunks(BLOCK).enumerate() {
        // From the lowest bit: not the last block (0), four digits (00), length less one, uncompressed (1).
        let header = ((block.len() as u32 - 1) << 3) | (1 << 19);
        // Before the first block: a window of 64 KiB (0).
        let header = if at == 0 { header << 1 } else { header };
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    // The last block, empty (11); a stream without a block still begins with its window.
    out.push(if body.is_empty() { 0b110 } else { 0b11 });
    out
}

/// A mebibyte of zeros: the beginning of a stream, as a packer of quality 5 and a window of 256 KiB writes and flushes it.
pub const FIRST_ZEROS: &[u8] = &[
    0xa3, 0xff, 0xff, 0x03, 0x40, 0x02, 0x20, 0x1e, 0x0b, 0x24, 0xf7, 0xfe, 0x40, 0xff, 0xff, 0x07,
    0x80, 0x04, 0x40, 0x1c, 0x16, 0x80, 0xee, 0xfd, 0x81, 0x01,
];
/// Another mebibyte, any number of times.
pub const MORE_ZEROS: &[u8] = &[
    0xfa, 0xff, 0x3f, 0x00, 0x24, 0x00, 0xe2, 0xb0, 0x00, 0x74, 0xef, 0x0f, 0xf4, 0xff, 0x7f, 0x00,
    0x48, 0x00, 0xc4, 0x61, 0x01, 0xe8, 0xde, 0x1f, 0x18,
];

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_stored_is_read_back() {
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7] {
            let body: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let packed = encode_stored(&body);
            let mut out = Vec::new();
            brotli_decompressor::Decompressor::new(&packed[..], 4096)
                .read_to_end(&mut out)
                .unwrap_or_else(|err| panic!("{len}: {err}"));
            assert!(out == body, "{len}");
        }
    }
}
