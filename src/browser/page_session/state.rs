//! What a page holds besides what it shows: attributes and states of an element, forms, cookies and stored items by name, what was
//! refused. Values that log a person in are never told.

use serde::Deserialize;

use super::{CommandOutput, PageController, Target, cut, plain, quoted};
use crate::{page, steps::MASK};
use commis_base::error::Result;

const ATTRIBUTES: &str = "function () {
  return [...this.attributes].slice(0, 100).map(it => [it.name.slice(0, 100).toWellFormed(), it.value.slice(0, 1000).toWellFormed()]);
}";
const STATES: &str = "function () {
  const style = getComputedStyle(this);
  const box = this.getBoundingClientRect();
  const off = this.matches(':disabled') || this.closest('[aria-disabled=true]') !== null;
  const typed = this.isContentEditable || this.matches('textarea, select, input:not([type=button], [type=submit], [type=reset], [type=image])');
  return {
    visible: this.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && box.width > 0 && box.height > 0,
    enabled: !off,
    checked: this.checked === true || this.getAttribute('aria-checked') === 'true',
    editable: typed && !off && !this.readOnly,
    focused: this.getRootNode().activeElement === this,
    in_view: box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth && style.display !== 'none',
  };
}";
const FORMS: &str = "function () {
  const text = it => String(it ?? '').slice(0, 200).toWellFormed();
  return [...document.forms].slice(0, 50).map(form => ({
    name: text(form.getAttribute('aria-label') || form.getAttribute('name') || form.id),
    method: text(form.getAttribute('method') || 'get'),
    action: text(form.getAttribute('action') || location.pathname),
    fields: [...form.elements].filter(it => it.type !== 'fieldset').slice(0, 100).map(it => ({
      name: text(it.getAttribute('name') || it.id), kind: text(it.type), needed: it.required === true,
      label: text(it.labels?.[0]?.textContent || it.getAttribute('aria-label') || it.placeholder || (it.type === 'submit' ? it.textContent || it.value : '')),
    })),
  }));
}";
const STORAGE: &str = "function () {
  const all = [];
  for (const [kind, get] of [['local', () => localStorage], ['session', () => sessionStorage]]) {
    try {
      const it = get();
      for (let i = 0; i < it.length && i < 500; i++) {
        const name = it.key(i);
        all.push([kind, name.slice(0, 200).toWellFormed(), (it.getItem(name) ?? '').length]);
      }
    } catch { /* a document without an origin has none */ }
  }
  return all;
}";
const LONG: usize = 200;

/// What `is` asks of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElementStateQuery {
    Visible,
    Enabled,
    Checked,
    Editable,
    Focused,
    /// In the part that the window shows.
    InView,
}

fn sanitize(text: &str) -> String {
    quoted(&cut(&plain(&commis_redact::message(text)), LONG))
}

impl PageController {
    pub(super) async fn attrs(&mut self, of: Target) -> Result<CommandOutput> {
        let found = self.resolve_for_act(&of).await?.found;
        let all: Vec<(String, String)> = self.call(&found, ATTRIBUTES, &[]).await?;
        let names = |it: &str| all.iter().find(|(name, _)| name == it).map(|it| it.1.as_str());
        let secret = names("type") == Some("password");
        // What a hidden field is called says whether its value is one of those that stay nowhere.
        let called = names("name").or(names("id")).unwrap_or_default().to_owned();
        let lines = all.iter().map(|(name, value)| {
            let hides = name == "value"
                && (secret || commis_redact::typed_secret(&called, value).is_some())
                || commis_redact::typed_secret(name, value).is_some();
            let value = if hides { MASK.to_owned() } else { sanitize(value) };
            format!("{}={value}", cut(&plain(name), LONG))
        });
        Ok(lines.collect::<Vec<_>>().join("\n").into())
    }

    pub(super) async fn check_state(
        &mut self,
        of: Target,
        asks: ElementStateQuery,
    ) -> Result<CommandOutput> {
        #[derive(Deserialize)]
        struct States {
            visible: bool,
            enabled: bool,
            checked: bool,
            editable: bool,
            focused: bool,
            in_view: bool,
        }
        let found = self.resolve_for_act(&of).await?.found;
        let it: States = self.call(&found, STATES, &[]).await?;
        let holds = match asks {
            ElementStateQuery::Visible => it.visible,
            ElementStateQuery::Enabled => it.enabled,
            ElementStateQuery::Checked => it.checked,
            ElementStateQuery::Editable => it.editable,
            ElementStateQuery::Focused => it.focused,
            ElementStateQuery::InView => it.visible && it.in_view,
        };
        Ok(holds.to_string().into())
    }

    pub(super) async fn forms(&self) -> Result<CommandOutput> {
        #[derive(Deserialize)]
        struct Form {
            name: String,
            method: String,
            action: String,
            fields: Vec<Field>,
        }
        #[derive(Deserialize)]
        struct Field {
            name: String,
            kind: String,
            needed: bool,
            label: String,
        }
        let shared = self.shared();
        let mut lines = Vec::new();
        for frame in shared.frames().await? {
            // One that goes away has none.
            let all: Vec<Form> = page::call(&shared.cdp, &frame, FORMS, &[], page::PATIENCE)
                .await
                .unwrap_or_default();
            for it in all {
                lines.push(format!(
                    "form {} {} {}",
                    sanitize(&it.name),
                    plain(&it.method).to_uppercase(),
                    sanitize(&it.action)
                ));
                lines.extend(it.fields.iter().map(|it| {
                    let needed = if it.needed { " [required]" } else { "" };
                    let kind = plain(&it.kind);
                    format!("  {kind} {} {}{needed}", sanitize(&it.name), sanitize(&it.label))
                }));
            }
        }
        Ok(lines.join("\n").into())
    }

    /// Names and what becomes of them; never values.
    pub(super) async fn cookies(&self) -> Result<CommandOutput> {
        let shared = self.shared();
        let all = page::cookies(&shared.cdp, &shared.id).await?;
        let lines = all.iter().map(|it| {
            let ends = match jiff::Timestamp::from_second(it.expires as i64) {
                Ok(at) if it.expires > 0.0 => format!("until {at}"),
                _ => "until the context is closed".to_owned(),
            };
            let flags = [(it.http_only, " HttpOnly"), (it.secure, " Secure")];
            let flags: String = flags.iter().filter(|it| it.0).map(|it| it.1).collect();
            let site = it.same_site.as_deref().map(|it| format!(" SameSite={it}"));
            format!(
                "{} at {}, {ends}{flags}{}",
                sanitize(&it.name),
                plain(&it.domain),
                site.unwrap_or_default()
            )
        });
        Ok(lines.collect::<Vec<_>>().join("\n").into())
    }

    /// Names and lengths; never values.
    pub(super) async fn storage(&self) -> Result<CommandOutput> {
        let shared = self.shared();
        let frame = shared.main_frame().await?;
        let all: Vec<(String, String, u64)> =
            page::call(&shared.cdp, &frame, STORAGE, &[], page::PATIENCE).await?;
        let lines = all
            .iter()
            .map(|(kind, name, long)| format!("{kind} {}: {long} characters", sanitize(name)));
        Ok(lines.collect::<Vec<_>>().join("\n").into())
    }

    pub(super) fn blocked(&self) -> CommandOutput {
        let all = self.shared().blocked();
        let lines: Vec<String> = all
            .iter()
            .map(|it| format!("{} {}: {}", it.code, sanitize(&it.url), plain(&it.reason)))
            .collect();
        lines.join("\n").into()
    }
}
