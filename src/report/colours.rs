//! The style sheet measured: whether text can be read, and whether colours can be told apart by those who see fewer.
//!
//! Contrast as WCAG 2.2 has it. What people without one kind of cones see is after Machado, Oliveira and Fernandes (2009), at full
//! severity; how far apart two colours are, by OKLab. For scale: 0.02 is just noticed, and what was here before had pairs at 0.01.

use std::collections::BTreeMap;

use super::STYLE;

type Vector = [f64; 3];

const SIGHTS: [(&str, [Vector; 3]); 4] = [
    ("all", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protan",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deutan",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritan",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// Names and values of the style sheet, of the light look and of the dark one.
fn color_schemes() -> [BTreeMap<&'static str, &'static str>; 2] {
    let mut parts = STYLE.split(":root {").skip(1);
    let [light, dark] = [(); 2].map(|()| parts.next().unwrap().split_once('}').unwrap().0);
    [light, dark].map(|text| {
        let line = |it: &'static str| it.trim().strip_prefix("--")?.split_once(": ");
        text.split(';').filter_map(line).collect()
    })
}

fn linear(colour: &str) -> Vector {
    let hex = colour.strip_prefix('#').unwrap();
    let long: String =
        if hex.len() == 3 { hex.chars().flat_map(|it| [it, it]).collect() } else { hex.to_owned() };
    [0, 2, 4].map(|at| {
        let it = f64::from(u8::from_str_radix(&long[at..at + 2], 16).unwrap()) / 255.0;
        if it <= 0.040_45 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: &[Vector; 3], it: Vector) -> Vector {
    matrix.map(|row| row.iter().zip(it).map(|(a, b)| a * b).sum())
}

fn contrast(one: &str, other: &str) -> f64 {
    let [a, b] = [one, other].map(|it| {
        let [r, g, b] = linear(it);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    });
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn oklab(it: Vector) -> Vector {
    let cones = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ];
    let lab = [
        [0.210_454_255_3, 0.793_617_785, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766],
    ];
    times(&lab, times(&cones, it.map(|it| it.max(0.0))).map(f64::cbrt))
}

fn color_distance(one: &str, other: &str, sight: &[Vector; 3]) -> f64 {
    let [a, b] = [one, other].map(|it| oklab(times(sight, linear(it))));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn text_can_be_read_in_both_looks() {
    for (look, colours) in ["light", "dark"].into_iter().zip(color_schemes()) {
        let check = |text: &str, back: &str| {
            let it = contrast(colours[text], colours[back]);
            assert!(it >= 4.5, "{look}: {text} on {back} is {it:.2}");
        };
        for text in ["ink", "soft", "accent", "good", "bad", "warn", "now"] {
            for back in ["paper", "back", "sunk"] {
                check(text, back);
            }
        }
        for it in ["good", "bad", "warn", "now"] {
            check(it, &format!("{it}-back"));
            check("ink", &format!("{it}-back"));
        }
        check("soft", "none-back");
    }
}

#[test]
fn colours_of_plots_are_seen_and_told_apart() {
    let names = super::plot::COLOURS;
    for (look, colours) in ["light", "dark"].into_iter().zip(color_schemes()) {
        for (i, one) in names.iter().enumerate() {
            for back in ["paper", "back"] {
                let it = contrast(colours[one], colours[back]);
                assert!(it >= 3.0, "{look}: {one} on {back} is {it:.2}");
            }
            for other in &names[..i] {
                for (sight, matrix) in &SIGHTS {
                    let it = color_distance(colours[one], colours[other], matrix);
                    assert!(it >= 0.09, "{look}, {sight}: {one} and {other} are {it:.3} apart");
                }
            }
        }
    }
}

#[test]
fn every_colour_is_of_the_style_sheet() {
    for it in super::plot::COLOURS {
        assert!(STYLE.contains(&format!(".{it} {{ fill: var(--{it}); }}")), "{it}");
    }
}
