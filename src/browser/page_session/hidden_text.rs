//! What instructs and is seen by nobody: left out, and counted.
//!
//! A page is asked for what it hides only when some of its words instruct, so ordinary pages cost nothing. Other hidden words stay:
//! labels for those who listen to a page are hidden from eyes in the same ways.

use serde_json::Value;

use super::{
    prompt_injection,
    text_sanitizer::{cut, plain},
    tree::{Item, ItemKind},
};
use crate::{context_state::ContextInner, page};

/// Words shorter than this are not looked for: they would be found in others.
const SHORT: usize = 6;
/// As names of the tree are cut.
const NAME: usize = 120;
/// Of one frame.
const MOST: usize = 500;

/// Texts that are drawn, and not to be seen: transparent, tiny, of the colour behind them, clipped, beside the page, behind others.
const TEXTS: &str = "function (most) {
  const out = [];
  const clear = /rgba?\\(([^)]*)\\)/;
  const colour = it => { const all = (clear.exec(it)?.[1] ?? '').split(/[ ,/]+/).map(Number); return all.length < 3 ? null : [all[0], all[1], all[2], all[3] ?? 1]; };
  const known = new Map();
  const around = it => {
    if (!it) return false;
    if (known.has(it)) return known.get(it);
    const style = getComputedStyle(it);
    const box = it.getBoundingClientRect();
    const clips = style.overflowX !== 'visible' || style.overflowY !== 'visible' || style.position === 'absolute' && style.clip !== 'auto';
    const inset = /inset\\((?:50|[6-9]\\d|100)(?:\\.\\d+)?%|circle\\(0|polygon\\(0(?:px|%)? 0(?:px|%)?, 0(?:px|%)? 0/.test(style.clipPath);
    const own = Number(style.opacity) < 0.06 || inset || clips && (box.width <= 2 || box.height <= 2)
      || /rect\\((?:0px|1px),? (?:0px|1px),? (?:0px|1px),? (?:0px|1px)\\)/.test(style.clip) || /opacity\\(0(?:\\.0\\d*)?%?\\)/.test(style.filter);
    const hides = own || around(it.parentElement ?? it.getRootNode().host);
    known.set(it, hides);
    return hides;
  };
  const behind = it => {
    for (let at = it; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== 'none') return null;
      const found = colour(style.backgroundColor);
      if (found && found[3] > 0.5) return found;
    }
    return [255, 255, 255, 1];
  };
  const hides = (node, it) => {
    if (around(it)) return true;
    const style = getComputedStyle(it);
    if (parseFloat(style.fontSize) < 3) return true;
    const front = colour(style.webkitTextFillColor || style.color);
    if (front && front[3] < 0.1) return true;
    const back = behind(it);
    if (front && back && style.textShadow === 'none' && [0, 1, 2].every(n => Math.abs(front[n] - back[n]) < 12)) return true;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = Array.from(range.getClientRects());
    if (!boxes.length) return false;
    const beside = b => b.right + scrollX <= 0 || b.bottom + scrollY <= 0 || b.width < 1 || b.height < 2;
    if (boxes.every(beside)) return true;
    const covered = b => {
      const [x, y] = [b.left + b.width / 2, b.top + b.height / 2];
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
      const top = document.elementFromPoint(x, y);
      return top && top !== it && !it.contains(top) && !top.contains(it) && it.getRootNode() === document;
    };
    return boxes.every(covered);
  };
  const roots = [document];
  for (let i = 0; i < roots.length; i++) {
    for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 1000) roots.push(it.shadowRoot);
    const walk = document.createTreeWalker(roots[i].body ?? roots[i], NodeFilter.SHOW_TEXT);
    let seen = 0;
    for (let node = walk.nextNode(); node && out.length < most && seen < 20000; node = walk.nextNode()) {
      seen++;
      const it = node.parentElement;
      if (!it || !node.data.trim() || /^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(it.tagName)) continue;
      if (hides(node, it)) out.push(node.data.slice(0, 2000).toWellFormed());
    }
  }
  return out;
}";

async fn texts(shared: &ContextInner) -> Vec<String> {
    let mut out = Vec::new();
    for frame in shared.frames().await.unwrap_or_default() {
        let most = [Value::from(MOST)];
        let found =
            page::call::<Vec<String>>(&shared.cdp, &frame, TEXTS, &most, page::PATIENCE).await;
        for it in found.unwrap_or_default() {
            // Of several lines, each is looked for, too: a page's text is read line by line.
            out.push(plain(&it));
            out.extend(it.lines().map(plain));
        }
    }
    out.retain(|it| it.chars().count() >= SHORT);
    let short: Vec<String> =
        out.iter().map(|it| cut(it, NAME)).filter(|it| it.ends_with('…')).collect();
    out.extend(short);
    out.sort_by_key(|it| std::cmp::Reverse(it.len()));
    out.dedup();
    out
}

/// The words without those that are hidden; `None` where there are none of those.
fn without(words: &str, hidden: &[String]) -> Option<String> {
    let mut out = words.to_owned();
    for it in hidden {
        if out.contains(it.as_str()) {
            out = out.replace(it.as_str(), " ");
        }
    }
    (out != words).then(|| plain(&out))
}

/// Which items instruct, without those that nobody sees; and how many places that were.
pub async fn leave_out(shared: &ContextInner, items: &mut Vec<Item>) -> (Vec<bool>, usize) {
    let judged = |all: &[Item]| -> Vec<bool> {
        prompt_injection::judge(all.iter().map(|it| it.name.as_str()))
            .iter()
            .map(Option::is_some)
            .collect()
    };
    let found = judged(items);
    if !found.contains(&true) {
        return (found, 0);
    }
    let hidden = texts(shared).await;
    let mut left = 0;
    let mut found_now = found.iter();
    items.retain_mut(|it| {
        if !found_now.next().is_some_and(|it| *it) {
            return true;
        }
        let Some(rest) = without(&it.name, &hidden) else { return true };
        if !rest.is_empty() && it.what != ItemKind::Text {
            return true;
        }
        left += 1;
        let stays = !rest.is_empty();
        it.name = rest;
        stays
    });
    if left == 0 {
        return (found, 0);
    }
    (judged(items), left)
}

/// The same for lines of a page's text.
pub async fn lines(shared: &ContextInner, lines: Vec<String>) -> (Vec<String>, usize) {
    let found = prompt_injection::judge(lines.iter().map(String::as_str));
    if found.iter().all(Option::is_none) {
        return (lines, 0);
    }
    let hidden = texts(shared).await;
    let mut left = 0;
    let mut out = Vec::with_capacity(lines.len());
    for (line, found) in lines.into_iter().zip(found) {
        match without(&line, &hidden).filter(|_| found.is_some()) {
            Some(rest) => {
                left += 1;
                out.extend(Some(rest).filter(|it| !it.is_empty()));
            }
            None => out.push(line),
        }
    }
    (out, left)
}

pub fn counted(n: usize) -> Option<String> {
    match n {
        0 => None,
        1 => Some("1 that nobody sees was left out".to_owned()),
        n => Some(format!("{n} that nobody sees were left out")),
    }
}
