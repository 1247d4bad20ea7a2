//! Refs drawn into a picture, so that whoever looks at it can act on what it shows. Nothing is written into the page for it.

use serde::Deserialize;
use serde_json::json;

use super::{
    PageController,
    tree::{self, FrameTree, Item, ItemKind},
};
use crate::{cdp::Reply, context_state::ContextInner, page};
use commis_base::error::{Code, Error, Result};

/// Elements that are marked.
const MOST: usize = 300;
/// A browser that is asked for so much at once answers in a moment.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// Pixels of the picture for one of a digit.
const SCALE: i64 = 2;
const PAPER: [u8; 3] = [255, 235, 59];
const INK: [u8; 3] = [20, 20, 20];
const FRAME: [u8; 3] = [213, 0, 109];
/// `0` to `9`, `e` and `c`: rows from the top, five pixels each.
const GLYPHS: [[u8; 7]; 12] = [
    [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
    [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
    [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
    [0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e],
    [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
    [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
    [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
    [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
    [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
    [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
    [0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e],
    [0x00, 0x00, 0x0e, 0x11, 0x10, 0x11, 0x0e],
];

/// A ref, and the box of its element in pixels of the page: left, top, width, height.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub label: String,
    pub at: [f64; 4],
}

impl PageController {
    /// What can be acted on and is drawn, with its refs; `clickable`: also what has no role.
    pub(super) async fn marks(&mut self, clickable: bool) -> Result<Vec<Mark>> {
        let shared = self.shared();
        let asked = tree::request_trees(&shared)?;
        let clicks = clickable.then(|| super::clickable::request_snapshots(&shared)).transpose()?;
        let read = asked.read(&shared).await?;
        let items = tree::items(&read);
        let mut all: Vec<(String, &Item)> = Vec::new();
        for it in items.iter().filter(|it| it.what == ItemKind::Control) {
            all.push((format!("e{}", self.refs.ref_of(&read, it)), it));
        }
        let clicks = match clicks {
            Some(it) => it.read(&read, &items).await,
            None => Vec::new(),
        };
        for it in &clicks {
            all.push((format!("c{}", self.clicks.ref_of(&read, it)), it));
        }
        let corners = corners(&shared, &read).await;
        // Asked for together: a question at a time would cost a page of many elements a second.
        let asked: Vec<(String, usize, Reply)> = all
            .into_iter()
            .take(MOST)
            .map(|(label, it)| {
                let session = Some(&*read[it.frame].frame.session);
                let params = json!({ "backendNodeId": it.backend });
                (label, it.frame, shared.cdp.send(session, "DOM.getContentQuads", params))
            })
            .collect();
        let mut out = Vec::new();
        for (label, frame, reply) in asked {
            #[derive(Deserialize)]
            struct ContentQuads {
                quads: Vec<Vec<f64>>,
            }
            let Ok(ContentQuads { quads }) = reply.read(PATIENCE).await else { continue };
            let Some([x, y, w, h]) = quads.first().and_then(|it| bounds(it)) else { continue };
            let Some([dx, dy]) = corners[frame] else { continue };
            if w >= 1.0 && h >= 1.0 {
                out.push(Mark { label, at: [x + dx, y + dy, w, h] });
            }
        }
        Ok(out)
    }
}

/// Where in the page the places of each frame begin: those of a frame in another process are its own. `None` for one that is
/// inside another of those.
async fn corners(shared: &ContextInner, read: &[FrameTree]) -> Vec<Option<[f64; 2]>> {
    #[derive(Deserialize)]
    struct BoxModelResult {
        model: BoxModel,
    }
    #[derive(Deserialize)]
    struct BoxModel {
        content: Vec<f64>,
    }
    let Some(main) = read.first().map(|it| &it.frame.session) else { return Vec::new() };
    let mut out = Vec::new();
    for it in read {
        let own = &it.frame.session;
        if own == main {
            out.push(Some([0.0, 0.0]));
            continue;
        }
        // The element that the process's outermost frame is in.
        let first = read.iter().find(|it| it.frame.session == *own);
        let corner = match first.and_then(|it| it.owner) {
            Some(owner) => {
                let params = json!({ "backendNodeId": owner });
                let reply = shared.cdp.send(Some(main), "DOM.getBoxModel", params);
                let model = reply.read::<BoxModelResult>(page::PATIENCE).await.ok();
                model.and_then(|it| bounds(&it.model.content)).map(|[x, y, ..]| [x, y])
            }
            None => None,
        };
        out.push(corner);
    }
    out
}

fn bounds(quad: &[f64]) -> Option<[f64; 4]> {
    let xs = || quad.iter().step_by(2).copied();
    let ys = || quad.iter().skip(1).step_by(2).copied();
    let (left, right) = (xs().reduce(f64::min)?, xs().reduce(f64::max)?);
    let (top, bottom) = (ys().reduce(f64::min)?, ys().reduce(f64::max)?);
    Some([left, top, right - left, bottom - top])
}

/// The picture with the marks in it. `from`: the corner of the picture in pixels of the page; `scale`: pixels of the picture for
/// one of the page. Fails with `BROWSER_FAILED` where it is none.
pub fn drawn(png: &[u8], marks: &[Mark], from: [f64; 2], scale: f64) -> Result<Vec<u8>> {
    let mut canvas = Canvas::read(png)?;
    let at = |it: &Mark| {
        let [x, y, w, h] = it.at;
        let whole = |it: f64| (it * scale).round() as i64;
        [whole(x - from[0]), whole(y - from[1]), whole(w), whole(h)]
    };
    for it in marks {
        let [x, y, w, h] = at(it);
        canvas.frame(x, y, w, h);
    }
    // Above all frames.
    for it in marks {
        let [x, y, ..] = at(it);
        if x < canvas.width && y < canvas.height && x > -20 && y > -20 {
            canvas.label(x.max(0), y.max(0), &it.label);
        }
    }
    canvas.write()
}

struct Canvas {
    width: i64,
    height: i64,
    /// Bytes of one pixel: RGB, and what there may be besides.
    step: usize,
    color: png::ColorType,
    pixels: Vec<u8>,
}

impl Canvas {
    fn read(bytes: &[u8]) -> Result<Self> {
        let failed = |err: png::DecodingError| {
            Error::new(Code::BrowserFailed, "the picture of the browser cannot be decoded")
                .source(err)
        };
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(failed)?;
        let size = reader.output_buffer_size().unwrap_or(0);
        let mut pixels = vec![0; size];
        let info = reader.next_frame(&mut pixels).map_err(failed)?;
        let step = info.color_type.samples();
        if step < 3 {
            return Err(Error::new(
                Code::BrowserFailed,
                "the picture of the browser has an unknown format",
            ));
        }
        let (width, height) = (i64::from(info.width), i64::from(info.height));
        Ok(Self { width, height, step, color: info.color_type, pixels })
    }

    fn write(&self) -> Result<Vec<u8>> {
        let failed = |err: png::EncodingError| {
            Error::new(Code::Internal, "the picture cannot be encoded").source(err)
        };
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_color(self.color);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(&self.pixels).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(out)
    }

    fn dot(&mut self, x: i64, y: i64, color: [u8; 3]) {
        if x < 0 || y < 0 || x >= self.width || y >= self.height {
            return;
        }
        let at = (y * self.width + x) as usize * self.step;
        self.pixels[at..at + 3].copy_from_slice(&color);
    }

    /// The lines of a box, no longer than the picture is.
    fn frame(&mut self, x: i64, y: i64, w: i64, h: i64) {
        for i in x.max(0)..(x + w).min(self.width) {
            self.dot(i, y, FRAME);
            self.dot(i, y + h - 1, FRAME);
        }
        for i in y.max(0)..(y + h).min(self.height) {
            self.dot(x, i, FRAME);
            self.dot(x + w - 1, i, FRAME);
        }
    }

    fn label(&mut self, x: i64, y: i64, text: &str) {
        let wide = text.len() as i64 * 6 * SCALE + SCALE;
        let high = 9 * SCALE;
        // At the right and lower edge it moves in.
        let (x, y) = (x.min(self.width - wide).max(0), y.min(self.height - high).max(0));
        for i in 0..wide {
            for j in 0..high {
                self.dot(x + i, y + j, PAPER);
            }
        }
        for (n, it) in text.bytes().enumerate() {
            let glyph = match it {
                b'0'..=b'9' => usize::from(it - b'0'),
                b'e' => 10,
                _ => 11,
            };
            for (row, bits) in GLYPHS[glyph].iter().enumerate() {
                for column in (0..5).filter(|it| bits >> (4 - it) & 1 == 1) {
                    let (left, top) = (n as i64 * 6 + 1 + column, row as i64 + 1);
                    for i in 0..SCALE {
                        for j in 0..SCALE {
                            self.dot(x + left * SCALE + i, y + top * SCALE + j, INK);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank(width: u32, height: u32) -> Vec<u8> {
        let canvas = Canvas {
            width: width.into(),
            height: height.into(),
            step: 3,
            color: png::ColorType::Rgb,
            pixels: vec![255; (width * height * 3) as usize],
        };
        canvas.write().unwrap()
    }

    #[test]
    fn labels_stand_at_their_elements_and_inside_the_picture() {
        let mark = |label: &str, at| Mark { label: label.to_owned(), at };
        let marks = [
            mark("e1", [110.0, 20.0, 40.0, 30.0]),
            mark("e987654321", [190.0, 45.0, 400.0, 300.0]),
            mark("c2", [5000.0, 5000.0, 1.0, 1.0]),
            mark("e3", [-1e12, -1e12, 1e13, 1e13]),
        ];
        let out = drawn(&blank(200, 100), &marks, [100.0, 0.0], 2.0).unwrap();
        let it = Canvas::read(&out).unwrap();
        let at = |x: i64, y: i64| {
            let at = (y * it.width + x) as usize * it.step;
            [it.pixels[at], it.pixels[at + 1], it.pixels[at + 2]]
        };
        assert_eq!((it.width, it.height), (200, 100));
        assert_eq!(at(20, 40), PAPER);
        // The bar of the `e`.
        assert_eq!(at(20 + 4, 40 + 5 * 2), INK);
        assert_eq!(at(99, 45), FRAME, "the right edge of a box 80 wide that begins at 20");
        assert_eq!(at(199, 99), PAPER, "moved in from the edge");
        assert_eq!(at(150, 5), [255; 3]);
        assert!(drawn(b"not a PNG", &marks, [0.0, 0.0], 1.0).is_err());
    }
}
