//! Bodies that are small on the wire and large when unpacked: 512 MiB of zeros in each coding.
//!
//! One block of zeros is packed, and flushed, after another; from then on the packer's state is always the same, so the
//! second block can be sent any number of times. No end marker follows: whoever reads that far has lost.

use std::io::Write;

use bytes::Bytes;
use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};

use super::Step;
use crate::brotli;

const BLOCK: usize = 1 << 20;
/// Of one mebibyte each.
const BLOCKS: u64 = 512;

/// Zeros packed by one coding (`gzip`, `deflate`, `br`, `zstd`) or several (`gzip, br`: the last was applied last).
pub fn bomb(coding: &str) -> Vec<Step> {
    let mut codings = coding.split(',').map(str::trim);
    let innermost = codings.next().unwrap_or("");
    let (start, block) = blocks(innermost);
    let rest: Vec<&str> = codings.collect();
    if rest.is_empty() {
        return vec![Step::Send(start), Step::Repeat(block, BLOCKS - 1)];
    }
    let mut body = start.to_vec();
    for _ in 1..BLOCKS {
        body.extend_from_slice(&block);
    }
    vec![Step::Send(rest.into_iter().fold(body, |body, coding| pack(coding, &body)).into())]
}

/// What begins the stream, with its first block, and what every further block looks like.
fn blocks(coding: &str) -> (Bytes, Bytes) {
    fn two<W: Write>(mut packer: W, written: impl Fn(&W) -> Vec<u8>) -> (Bytes, Bytes) {
        let mut ends = [0; 2];
        for end in &mut ends {
            // Writing to a Vec cannot fail.
            let _ = packer.write_all(&vec![0; BLOCK]);
            let _ = packer.flush();
            *end = written(&packer).len();
        }
        let mut all = Bytes::from(written(&packer));
        let first = all.split_to(ends[0]);
        (first, all)
    }
    let level = Compression::best();
    match coding {
        "gzip" => two(GzEncoder::new(Vec::new(), level), |it| it.get_ref().clone()),
        "deflate" => two(ZlibEncoder::new(Vec::new(), level), |it| it.get_ref().clone()),
        "raw-deflate" => two(DeflateEncoder::new(Vec::new(), level), |it| it.get_ref().clone()),
        "br" => (Bytes::from_static(brotli::FIRST_ZEROS), Bytes::from_static(brotli::MORE_ZEROS)),
        "zstd" => match zstd::stream::write::Encoder::new(Vec::new(), 3) {
            Ok(packer) => two(packer, |it| it.get_ref().clone()),
            Err(_) => (Bytes::new(), Bytes::new()),
        },
        _ => (Bytes::from(vec![0; BLOCK]), Bytes::from(vec![0; BLOCK])),
    }
}

/// A whole body in one coding.
pub fn pack(coding: &str, body: &[u8]) -> Vec<u8> {
    let level = Compression::best();
    let mut out = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = match coding {
        "gzip" => GzEncoder::new(&mut out, level).write_all(body),
        "deflate" => ZlibEncoder::new(&mut out, level).write_all(body),
        "br" => out.write_all(&brotli::encode_stored(body)),
        "zstd" => zstd::stream::copy_encode(body, &mut out, 3),
        _ => out.write_all(body),
    };
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn blocks_can_be_repeated() {
        for coding in ["gzip", "deflate", "raw-deflate", "br", "zstd"] {
            let (start, block) = blocks(coding);
            assert!(start.len() + block.len() < 4096, "{coding}: {}", block.len());
            let packed = [&start[..], &block, &block, &block].concat();
            let mut reader: Box<dyn Read> = match coding {
                "gzip" => Box::new(flate2::read::GzDecoder::new(&packed[..])),
                "deflate" => Box::new(flate2::read::ZlibDecoder::new(&packed[..])),
                "raw-deflate" => Box::new(flate2::read::DeflateDecoder::new(&packed[..])),
                "br" => Box::new(brotli_decompressor::Decompressor::new(&packed[..], 4096)),
                _ => Box::new(zstd::stream::read::Decoder::new(&packed[..]).unwrap()),
            };
            let mut zeros = vec![1; 4 * BLOCK];
            reader.read_exact(&mut zeros).unwrap_or_else(|err| panic!("{coding}: {err}"));
            assert!(zeros.iter().all(|it| *it == 0), "{coding}");
        }
    }
}
