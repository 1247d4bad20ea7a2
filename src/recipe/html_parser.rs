//! Parses pages: html5gum reads the tokens, html5ever builds the tree. The tree is the one that scraper's own parser makes; on recorded pages
//! this takes three fifths of its time (`docs/explanation/libraries.md`).

use std::{borrow::Cow, convert::Infallible};

use html5ever::{
    Attribute, LocalName, QualName, ns,
    tendril::StrTendril,
    tokenizer::{Doctype, Tag, TagKind, Token, TokenSink, TokenSinkResult, states::RawKind},
    tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink as _},
};
use html5gum::{
    Emitter, ForwardingEmitter, Span, State, Tokenizer,
    emitters::callback::{Callback, CallbackEmitter, CallbackEvent},
};
use scraper::{Html, HtmlTreeSink};

use commis_base::work::step;

/// Returns the tree of a document, as [`Html::parse_document`] does. The caller has checked the text with
/// [`nesting`](super::shape::nesting); each token is a step of the computation's budget.
pub fn parse_document(text: &str) -> Html {
    let sink = HtmlTreeSink::new(Html::new_document());
    let builder = TreeBuilder::new(sink, TreeBuilderOpts::default());
    let tokens = TokenForwarder { builder: &builder, tag: None, drops_value: false, state: None };
    let emitter = DocumentEmitter(CallbackEmitter::new(tokens));
    let Ok(()) = Tokenizer::new_with_emitter(text, emitter).finish();
    builder.sink.finish()
}

/// Makes tokens of html5ever from events of html5gum.
struct TokenForwarder<'a, B> {
    builder: &'a B,
    /// The start tag that is being read.
    tag: Option<Tag>,
    /// The attribute that is being read has the name of one before it, which counts.
    drops_value: bool,
    /// How the builder wants the text after the tag read.
    state: Option<State>,
}

fn decode(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn text(bytes: &[u8]) -> StrTendril {
    StrTendril::from_slice(&decode(bytes))
}

fn tag(kind: TagKind, name: &[u8]) -> Tag {
    Tag {
        kind,
        name: LocalName::from(&*decode(name)),
        self_closing: false,
        attrs: Vec::new(),
        had_duplicate_attributes: false,
    }
}

impl<B: TokenSink> TokenForwarder<'_, B> {
    fn forward(&mut self, token: Token) {
        step(1);
        // Nobody asks for lines.
        self.state = match self.builder.process_token(token, 1) {
            TokenSinkResult::Plaintext => Some(State::PlainText),
            TokenSinkResult::RawData(RawKind::Rcdata) => Some(State::RcData),
            TokenSinkResult::RawData(RawKind::Rawtext) => Some(State::RawText),
            TokenSinkResult::RawData(_) => Some(State::ScriptData),
            // The end of a script.
            TokenSinkResult::Script(_) => Some(State::Data),
            _ => return,
        };
    }

    fn add_attribute(&mut self, name: &[u8]) {
        let Some(tag) = &mut self.tag else { return };
        let local = LocalName::from(&*decode(name));
        self.drops_value = tag.attrs.iter().any(|it| it.name.local == local);
        tag.had_duplicate_attributes |= self.drops_value;
        if !self.drops_value {
            let name = QualName::new(None, ns!(), local);
            tag.attrs.push(Attribute { name, value: StrTendril::new() });
        }
    }
}

impl<B: TokenSink> Callback<Infallible, ()> for TokenForwarder<'_, B> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag = Some(tag(TagKind::StartTag, name)),
            CallbackEvent::AttributeName { name } => self.add_attribute(name),
            CallbackEvent::AttributeValue { value } => {
                let attributes = self.tag.as_mut().filter(|_| !self.drops_value);
                if let Some(it) = attributes.and_then(|it| it.attrs.last_mut()) {
                    it.value = text(value);
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(it) = self.tag.take() {
                    self.forward(Token::TagToken(Tag { self_closing, ..it }));
                }
            }
            CallbackEvent::EndTag { name } => {
                self.forward(Token::TagToken(tag(TagKind::EndTag, name)));
            }
            CallbackEvent::String { value } => {
                for (i, part) in value.split(|it| *it == 0).enumerate() {
                    if i > 0 {
                        self.forward(Token::NullCharacterToken);
                    }
                    if !part.is_empty() {
                        self.forward(Token::CharacterTokens(text(part)));
                    }
                }
            }
            CallbackEvent::Comment { value } => self.forward(Token::CommentToken(text(value))),
            CallbackEvent::Doctype { name, public_identifier, system_identifier, force_quirks } => {
                self.forward(Token::DoctypeToken(Doctype {
                    name: Some(name).filter(|it| !it.is_empty()).map(text),
                    public_id: public_identifier.map(text),
                    system_id: system_identifier.map(text),
                    force_quirks,
                }));
            }
            CallbackEvent::Error(_) => {}
        }
        None
    }
}

/// Lets the tree builder say how the tokenizer goes on.
struct DocumentEmitter<'a, B: TokenSink>(CallbackEmitter<TokenForwarder<'a, B>>);

impl<B: TokenSink> ForwardingEmitter for DocumentEmitter<'_, B> {
    type Token = Infallible;

    fn inner(&mut self) -> &mut impl Emitter<Token = Infallible> {
        &mut self.0
    }

    fn emit_error(&mut self, _: html5gum::Error) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        // It has no state of its own to go on with.
        let _none = self.0.emit_current_tag();
        self.0.callback_mut().state.take()
    }

    fn emit_eof(&mut self) {
        self.0.emit_eof();
        let tokens = self.0.callback_mut();
        tokens.forward(Token::EOFToken);
        tokens.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.0.callback_mut().builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What tokenizers and tree builders must agree on: raw text, character references, tables, foreign elements, bytes that are none.
    const PIECES: &[&str] = &[
        "<",
        "</",
        "<!--",
        "-->",
        "--!>",
        "&amp",
        "&notit;",
        "&#0;",
        "&#x80;",
        "&",
        "=&eacute=",
        "\0",
        "\r\n",
        "\r",
        "\u{c}",
        "\u{1}",
        "\u{fffd}",
        "é😀",
        "<![CDATA[",
        "]]>",
        "<svg>",
        "</svg>",
        "<math><mi>",
        "</math>",
        "<desc>",
        "<foreignObject>",
        "<annotation-xml encoding=text/html>",
        "<p>",
        "</p>",
        "<table>",
        "<tr><td>",
        "</table>x",
        "<caption>",
        "<colgroup><col>",
        "<b>",
        "</b>",
        "<a href=x>",
        "</a>",
        "<nobr>",
        "<font color=x>",
        "<script>",
        "</script>",
        "<!--<script>",
        "<style>",
        "</style>",
        "<textarea>\n",
        "</textarea>",
        "<title>",
        "</title>",
        "<template>",
        "</template>",
        "<template shadowrootmode=open>",
        "<select><option>",
        "</select>",
        "<plaintext>",
        "<noscript>",
        "</noscript>",
        "<iframe>",
        "</iframe>",
        "<xmp>",
        "<x a=1 b a=2 A=3>",
        "<x a='",
        "<x a=\"",
        "<x =y>",
        "<x/ >",
        "<x/>",
        "<!doctype html>",
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\">",
        "<!doctype>",
        "<!x>",
        "<?php x ?>",
        "</>",
        "</ x>",
        "</x y=z>",
        "<frameset>",
        "<form>",
        "</form>",
        "<li>",
        "<br>",
        "</br>",
        "<image>",
        "<input type=hidden>",
        "<pre>\n\n",
        "<body c=d>",
        "<html e=f>",
        "</body>",
        "</html>",
        "<head>",
        "</head>",
        "<h1>",
        "<h2>",
        "<button>",
        " ",
        "a b",
    ];

    #[test]
    fn the_tree_is_that_of_the_usual_parser() {
        use proptest::prelude::*;
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(2_000));
        let pieces = proptest::collection::vec(proptest::sample::select(PIECES), 0..16);
        let is_same = |pieces: Vec<&str>| {
            let page = pieces.concat();
            let (own, usual) = (parse_document(&page), Html::parse_document(&page));
            prop_assert!(own.tree == usual.tree, "{page:?}: {} {}", own.html(), usual.html());
            prop_assert_eq!(own.quirks_mode, usual.quirks_mode);
            Ok(())
        };
        runner.run(&pieces, is_same).unwrap();
    }
}
