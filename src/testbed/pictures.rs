//! Images small enough to make on the spot.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// A transparent GIF of one pixel, what trackers send.
pub const PIXEL: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00\
    !\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

/// A PNG of 16 by 16 pixels in one colour.
pub fn png(rgb: [u8; 3]) -> Vec<u8> {
    const SIDE: usize = 16;
    let mut rows = Vec::new();
    for _ in 0..SIDE {
        rows.push(0); // filter: none
        rows.extend(rgb.iter().cycle().take(SIDE * 3));
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to a Vec cannot fail.
    let _ = packed.write_all(&rows);
    let packed = packed.finish().unwrap_or_default();

    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    // Width, height, 8 bits a channel, RGB, no interlacing.
    chunk(&mut file, *b"IHDR", &[0, 0, 0, SIDE as u8, 0, 0, 0, SIDE as u8, 8, 2, 0, 0, 0]);
    chunk(&mut file, *b"IDAT", &packed);
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], payload: &[u8]) {
    file.extend((payload.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend(payload);
    let mut crc = Crc::new();
    crc.update(&file[start..]);
    file.extend(crc.sum().to_be_bytes());
}
