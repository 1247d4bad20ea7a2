//! Pictures as pixels: places blackened, two of them compared.

use std::io::Cursor;

use commis_base::error::{Code, Error, Result};

/// Of one picture; a stranger's may say that it is as large as it likes.
const MOST: u64 = 16_000_000;
/// What a channel may differ by and be the same to whoever looks.
const SAME: u8 = 8;

/// Three bytes a pixel, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    rgb: Vec<u8>,
}

fn unread(why: impl std::fmt::Display) -> Error {
    Error::new(Code::ArtifactCorrupt, format!("a picture cannot be read: {why}"))
}

/// Fails with `ARTIFACT_CORRUPT`, also beyond 16 million pixels.
pub fn decode(bytes: &[u8]) -> Result<Pixels> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(unread)?;
    let (width, height) = (reader.info().width, reader.info().height);
    if u64::from(width) * u64::from(height) > MOST {
        return Err(unread("it is too large"));
    }
    let size = reader.output_buffer_size().ok_or_else(|| unread("it is too large"))?;
    let mut out = vec![0; size];
    let frame = reader.next_frame(&mut out).map_err(unread)?;
    out.truncate(frame.buffer_size());
    let each = frame.color_type.samples();
    let rgb = match frame.color_type {
        png::ColorType::Rgb => out,
        png::ColorType::Rgba => {
            out.chunks_exact(each).flat_map(|it| [it[0], it[1], it[2]]).collect()
        }
        png::ColorType::Grayscale | png::ColorType::GrayscaleAlpha => {
            out.chunks_exact(each).flat_map(|it| [it[0]; 3]).collect()
        }
        png::ColorType::Indexed => return Err(unread("its colours are not its own")),
    };
    Ok(Pixels { width, height, rgb })
}

impl Pixels {
    /// Fails with `INTERNAL`.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let failed = |err: png::EncodingError| {
            Error::new(Code::Internal, "a picture cannot be written").source(err)
        };
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(&self.rgb).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(out)
    }

    /// From `[left, top, right, bottom]`, a pixel more on each side.
    pub fn blacken(&mut self, [left, top, right, bottom]: [f64; 4]) {
        let within = |it: f64, most: u32| it.clamp(0.0, f64::from(most)) as usize;
        let (from, to) = (within(left - 1.0, self.width), within(right.ceil() + 1.0, self.width));
        let (first, last) =
            (within(top - 1.0, self.height), within(bottom.ceil() + 1.0, self.height));
        let row = self.width as usize * 3;
        for y in first..last {
            if from < to {
                self.rgb[y * row + from * 3..y * row + to * 3].fill(0);
            }
        }
    }

    fn at(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 3;
        Some([self.rgb[at], self.rgb[at + 1], self.rgb[at + 2]])
    }
}

/// How many pixels differ, in ten thousandths, rounded down; and the first picture, pale, with those in red. What only one has
/// differs.
pub fn compare(one: &Pixels, other: &Pixels) -> (u32, Pixels) {
    let (width, height) = (one.width.max(other.width), one.height.max(other.height));
    let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
    let mut differ = 0_u64;
    for y in 0..height {
        for x in 0..width {
            let (a, b) = (one.at(x, y), other.at(x, y));
            let same = match (a, b) {
                (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= SAME),
                (None, None) => true,
                _ => false,
            };
            if same {
                let pale = |it: u8| 192 + it / 4;
                rgb.extend(a.unwrap_or([255; 3]).map(pale));
            } else {
                differ += 1;
                rgb.extend([220, 0, 0]);
            }
        }
    }
    let all = (u64::from(width) * u64::from(height)).max(1);
    ((differ * 10_000 / all) as u32, Pixels { width, height, rgb })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, it: u8) -> Pixels {
        Pixels { width, height, rgb: vec![it; width as usize * height as usize * 3] }
    }

    #[test]
    fn what_is_blackened_is_black_and_nothing_else() {
        let mut it = plain(10, 10, 200);
        it.blacken([2.5, 3.0, 4.0, 5.0]);
        it.blacken([-50.0, 9.9, 1e9, 1e9]);
        let black = |x, y| it.at(x, y) == Some([0; 3]);
        assert!(black(1, 2) && black(4, 5) && black(0, 9) && black(9, 9));
        assert!(!black(0, 2) && !black(6, 5) && !black(5, 7));
        assert_eq!(decode(&it.encode().unwrap()).unwrap(), it);
    }

    #[test]
    fn pixels_that_differ_are_counted_and_shown() {
        let (one, mut other) = (plain(10, 10, 200), plain(10, 10, 203));
        assert_eq!(compare(&one, &other).0, 0);
        other.blacken([3.0, 3.0, 3.0, 3.0]);
        let (share, shown) = compare(&one, &other);
        assert_eq!((share, shown.at(3, 3)), (400, Some([220, 0, 0])));
        assert_eq!(compare(&one, &plain(10, 20, 200)).0, 5000);
    }

    #[test]
    fn a_picture_of_a_stranger_is_refused() {
        let mut huge = plain(1, 1, 0).encode().unwrap();
        huge[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        for bytes in [b"".as_slice(), b"<svg/>", &huge, &plain(9, 9, 1).encode().unwrap()[..60]] {
            assert_eq!(decode(bytes).unwrap_err().code(), Code::ArtifactCorrupt);
        }
    }
}
