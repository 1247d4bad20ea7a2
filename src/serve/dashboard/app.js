// The dashboard's script: gets in by the code in the address, keeps a page as things are, and sends what changes something with
// the page's own proof. Whatever it shows is text; nothing is ever read as markup but our own pages.
"use strict";

(() => {
  const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content;
  const byId = (id) => document.getElementById(id);
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

  // --- In: the fragment never reaches a log, the code works once.
  const enter = () => {
    const code = /^#([0-9a-f]{32})$/.exec(location.hash);
    const door = location.pathname === "/watch" ? "/watch/in" : "/bootstrap";
    if (code) location.replace(`${door}?code=${code[1]}`);
    return Boolean(code);
  };
  if (enter()) return;
  addEventListener("hashchange", enter);

  // --- Text: as the daemon does, what turns its surroundings around or cannot be seen shows as such.
  const STRANGE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
  const clean = (text) => String(text).replace(STRANGE, (it) => (it === "\n" ? it : "\ufffd"));
  const element = (name, text, attributes = {}) => {
    const out = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
    if (text !== undefined) out.textContent = clean(text);
    return out;
  };

  // --- Moments, in words and in the reader's own time.
  const ago = (seconds) => {
    if (seconds < 10) return "just now";
    if (seconds < 60) return `${Math.floor(seconds)} s ago`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
    return `${Math.floor(seconds / 86400)} d ago`;
  };
  const moments = () => {
    for (const it of document.querySelectorAll("time.ago")) {
      const at = new Date(it.dateTime);
      const text = ago(Math.max(0, (Date.now() - at) / 1000));
      if (it.textContent !== text) it.textContent = text;
      it.title = at.toLocaleString();
    }
  };
  moments();
  setInterval(moments, 20_000);

  const signed = document.querySelector("main[data-signed]");
  if (!signed) return;

  // The last event that was seen; none where the page stays as it was made.
  let last = meta("after");
  let over = false;
  let timer = null;
  let askedAt = 0;
  let asking = false;
  let stream = null;
  const end = () => {
    over = true;
    stream?.abort();
    byId("closed").hidden = false;
    tell("off", "closed");
  };

  // --- What changes something.
  const post = async (address, body) => {
    const headers = { "X-CSRF": meta("csrf") ?? "", "Content-Type": "application/json" };
    const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
    if (answer.status === 401) end();
    let said = {};
    try {
      said = await answer.json();
    } catch {
      // Told below as what it is.
    }
    if (said.ok) return { status: answer.status, data: said.data, meta: said.meta };
    const error = said.error ?? {};
    const why = [error.message ?? `the daemon answered ${answer.status}`, error.hint].filter(Boolean).join(" — ");
    throw new Error(error.error_code ? `${why} (${error.error_code})` : why);
  };

  const trouble = (button, text) => {
    const place = button.closest("dialog, article, section, #ends")?.querySelector("[data-trouble]");
    if (!place) return;
    place.textContent = clean(text);
    place.hidden = !text;
  };

  const press = async (button) => {
    button.disabled = true;
    trouble(button, "");
    try {
      const done = await post(button.dataset.post, JSON.parse(button.dataset.body ?? "{}"));
      if (button.dataset.then === "task" && done.data?.task_id) {
        location.assign(`/tasks/${encodeURIComponent(done.data.task_id)}`);
        return;
      }
      button.closest("dialog")?.close();
      soon(0);
    } catch (error) {
      trouble(button, error.message);
    }
    button.disabled = false;
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button) return;
    if (button.dataset.dialog) byId(button.dataset.dialog)?.showModal();
    else if ("close" in button.dataset) button.closest("dialog").close();
    else if (button.dataset.post) press(button);
  });

  // --- A recipe's form.
  const COLUMNS = 12;
  const ROWS = 200;
  const isRecord = (it) => it !== null && typeof it === "object" && !Array.isArray(it);
  const box = (data) => {
    const out = element("pre", undefined, { class: "code", tabindex: "0", role: "region", "aria-label": "Data as JSON" });
    const text = JSON.stringify(data, null, 2) ?? "null";
    out.append(element("code", text.length > 50_000 ? `${text.slice(0, 50_000)}\n…` : text));
    return out;
  };
  const table = (rows) => {
    const names = [...new Set(rows.flatMap((it) => Object.keys(it)))].slice(0, COLUMNS);
    const out = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Data as a table" });
    const made = out.appendChild(element("table", undefined, { class: "data" }));
    const head = made.appendChild(element("thead")).appendChild(element("tr"));
    const isNumber = (name) => rows.every((it) => it[name] === undefined || it[name] === null || typeof it[name] === "number");
    for (const name of names) head.append(element("th", name, isNumber(name) ? { scope: "col", class: "n" } : { scope: "col" }));
    const body = made.appendChild(element("tbody"));
    for (const row of rows.slice(0, ROWS)) {
      const line = body.appendChild(element("tr"));
      for (const name of names) {
        const value = row[name];
        const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
        const cut = text.length > 300 ? `${text.slice(0, 300)}…` : text;
        line.append(element("td", cut, isNumber(name) ? { class: "n" } : {}));
      }
    }
    return out;
  };
  const show = (data) => {
    const place = byId("run-data");
    place.replaceChildren();
    if (Array.isArray(data) && data.length && data.every(isRecord)) {
      place.append(table(data));
      const more = place.appendChild(element("details", undefined, { class: "more" }));
      more.append(element("summary", "The same as JSON"), box(data));
    } else {
      place.append(box(data));
    }
    place.hidden = false;
  };
  const items = (data) => {
    if (!Array.isArray(data)) return "";
    const shown = data.length > ROWS ? `, the first ${ROWS} of them below` : "";
    return data.length === 1 ? "1 item" : `${data.length} items${shown}`;
  };

  const report = (text, kind) => {
    const place = byId("run-said");
    place.textContent = clean(text);
    place.className = `notice ${kind}`;
    place.hidden = false;
  };
  // A run that takes longer is a task; its end is waited for here.
  const until = async (id) => {
    for (let pause = 1000; ; pause = Math.min(pause * 1.5, 8000)) {
      await sleep(pause);
      const answer = await fetch(`/api/tasks/${encodeURIComponent(id)}`);
      if (answer.status === 401) return end();
      const task = (await answer.json()).data;
      if (task?.state === "done") return (await (await fetch(`/api/tasks/${encodeURIComponent(id)}/result`)).json()).data;
      if (task && !["queued", "running", "waiting_for_approval"].includes(task.state)) {
        throw new Error(task.error?.message ?? `the task is ${task.state}`);
      }
    }
  };
  const run = async (form) => {
    const button = form.querySelector("button[type=submit]");
    const params = {};
    for (const it of form.querySelectorAll("[data-param]")) {
      if (it.value !== "") params[it.dataset.param] = it.value;
    }
    const body = "draft" in form.dataset ? { params, draft: true } : { params };
    button.disabled = true;
    byId("run-data").hidden = true;
    report("It runs …", "");
    try {
      let done = await post(form.dataset.run, body);
      if (done.status === 202) {
        report("It takes longer, and goes on as a task …", "");
        done = { data: await until(done.data.task_id), meta: {} };
      }
      const ms = done.meta?.timings_ms?.total;
      const parts = ["It worked", items(done.data), ms === undefined ? "" : `${Math.round(ms)} ms`];
      report(parts.filter(Boolean).join(" · "), "good");
      show(done.data);
    } catch (error) {
      report(`It failed: ${error.message}`, "bad");
    }
    button.disabled = false;
    soon(300);
  };
  // Some forms come while the page is open.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if ("run" in form.dataset) {
      event.preventDefault();
      run(form);
    }
  });

  // --- The form that begins to learn.
  const say = (text) => (byId("said").textContent = clean(text));
  const learning = (form) => {
    const MIB = 1024 * 1024;
    const most = () => Number(form.dataset.max);
    const file = byId("learn-har");
    const size = (bytes) => (bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`);
    // What is wrong is told where it is, and read out.
    const wrong = (text, field) => {
      const place = byId("learn-trouble");
      place.textContent = clean(text);
      place.hidden = !text;
      for (const it of form.querySelectorAll("[aria-invalid]")) it.removeAttribute("aria-invalid");
      if (!text || !field) return;
      field.setAttribute("aria-invalid", "true");
      for (let it = field.closest("details"); it; it = it.parentElement.closest("details")) it.open = true;
      field.focus();
    };
    const from = () => form.querySelector("[name=source]:checked").value;
    const choose = (source) => {
      form.querySelector(`[name=source][value=${source}]`).checked = true;
      for (const it of form.querySelectorAll("[data-source]")) it.hidden = it.dataset.source !== source;
    };
    const isTooLarge = (it) => {
      if (it.size <= most()) return false;
      wrong(
        `${it.name} has ${size(it.size)}, and at most ${size(most())} can be uploaded. Export the HAR of fewer pages, or learn in a terminal: commis recipe learn --har FILE reads up to 256 MiB.`,
        file,
      );
      return true;
    };
    const chosen = () => {
      const it = file.files[0];
      wrong("");
      byId("learn-har-said").textContent = it ? clean(`${it.name}, ${size(it.size)}`) : "No file is chosen.";
      if (it) isTooLarge(it);
    };
    file.addEventListener("change", chosen);
    choose(from());

    // A file may be dropped anywhere on the page; else the browser would open it in place of the page.
    const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    const over = (is) => form.querySelector("[data-drop]").classList.toggle("over", is);
    document.addEventListener("dragover", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      choose("har");
      over(true);
    });
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) over(false);
    });
    document.addEventListener("drop", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      over(false);
      choose("har");
      file.files = event.dataTransfer.files;
      chosen();
      if (file.files[0]) say(`${file.files[0].name} is chosen`);
    });

    const rows = (kind) => [...form.querySelector(`[data-rows=${kind}]`).children];
    const field = (row, name) => row.querySelector(`[data-field=${name}]`);
    const add = (kind) => {
      const row = form.querySelector(`template[data-row=${kind}]`).content.firstElementChild.cloneNode(true);
      form.querySelector(`[data-rows=${kind}]`).append(row);
      if (kind === "step") fits(row);
      return row;
    };
    // What a step does not take is not asked for.
    const fits = (row) => {
      const { element = "false", value = "false" } = field(row, "kind").selectedOptions[0].dataset;
      for (const [name, is] of [["role", element], ["element", element], ["value", value]]) field(row, name).closest("label").hidden = is !== "true";
    };
    rows("step").forEach(fits);
    // Words of the sentence that stand for values have a row each.
    const named = () => {
      const texts = [byId("learn-task").value, byId("learn-url").value];
      const wanted = [...new Set(texts.flatMap((it) => [...it.matchAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map((it) => it[1])))];
      const known = new Set(rows("value").map((it) => field(it, "name").value.trim()));
      for (const name of wanted.filter((it) => !known.has(it))) {
        const free = rows("value").find((it) => !field(it, "name").value.trim() && !field(it, "first").value);
        field(free ?? add("value"), "name").value = name;
      }
    };
    form.addEventListener("change", (event) => {
      const it = event.target;
      if (it.name === "source") choose(it.value);
      else if (it.dataset.field === "kind") fits(it.closest("li"));
      else if (it.id === "learn-task" || it.id === "learn-url") named();
    });
    form.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.add) add(button.dataset.add).querySelector("select, input").focus();
      else if (button && "remove" in button.dataset) {
        const list = button.closest("[data-rows]");
        button.closest("li").remove();
        // The focus goes to what is next, never to nowhere.
        (list.querySelector("li:last-child [data-remove]") ?? form.querySelector(`[data-add=${list.dataset.rows}]`)).focus();
      }
    });

    const step = (row) => {
      const kind = field(row, "kind").value;
      const value = field(row, "value").value;
      const name = field(row, "element").value.trim();
      const role = field(row, "role").value;
      const element = role === "label" ? { label: name } : { role, name };
      if (kind === "press") return { press: value };
      if (kind === "wait_for") return { wait_for: { text: value } };
      return { [kind]: kind === "click" ? element : { ...element, value } };
    };
    // The arguments, or nothing where something is missing.
    const asked = () => {
      const task = byId("learn-task");
      if (from() === "url" && !/^https?:\/\/\S+$/i.test(byId("learn-url").value.trim())) return wrong("Give the address of the page; it begins with http:// or https://.", byId("learn-url"));
      if (from() === "har") {
        if (!file.files[0] && !form.dataset.upload) return wrong("Choose a HAR file.", file);
        if (file.files[0] && isTooLarge(file.files[0])) return;
      }
      if (!task.value.trim()) return wrong("Say in a sentence what the visit is for.", task);
      const out = { task: task.value.trim(), params: {}, second: {} };
      for (const row of rows("value")) {
        const [name, first, second] = ["name", "first", "second"].map((it) => field(row, it).value.trim());
        if (!name && !first && !second) continue;
        if (!name) return wrong("A value has no name of its parameter.", field(row, "name"));
        if (name in out.params) return wrong(`The parameter ${name} is given twice.`, field(row, "name"));
        if (!first) return wrong(`The parameter ${name} has no value.`, field(row, "first"));
        out.params[name] = first;
        if (second) out.second[name] = second;
      }
      const given = Object.keys(out.second).length;
      const without = rows("value").find((it) => field(it, "name").value.trim() && !field(it, "second").value.trim());
      if (given && without) return wrong("The second example needs a value for each parameter.", field(without, "second"));
      if (from() === "url") {
        out.url = byId("learn-url").value.trim();
        const steps = rows("step").filter((it) => field(it, "kind").value);
        const unnamed = steps.find((it) => !field(it, "element").closest("label").hidden && !field(it, "element").value.trim());
        if (unnamed) return wrong("A step does not name its element.", field(unnamed, "element"));
        if (steps.length) out.steps = steps.map(step);
      }
      for (const name of ["name", "login"]) {
        const value = byId(`learn-${name}`).value.trim();
        if (value) out[name] = value;
      }
      if (byId("learn-force").checked) out.force = true;
      return out;
    };
    // The file itself: it goes to the daemon of this machine, which holds it in memory.
    const upload = async (it) => {
      const headers = { "X-CSRF": meta("csrf") ?? "", "Content-Type": "application/json" };
      const answer = await fetch("/api/uploads/har", { method: "POST", headers, body: it });
      if (answer.status === 401) end();
      const said = await answer.json().catch(() => ({}));
      if (said.ok) return said.data;
      throw new Error([said.error?.message ?? `the daemon answered ${answer.status}`, said.error?.hint].filter(Boolean).join(" — "));
    };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      named();
      wrong("");
      const body = asked();
      if (!body) return;
      const button = form.querySelector("button[type=submit]");
      const said = byId("learn-said");
      button.disabled = true;
      try {
        if (from() === "har" && file.files[0]) {
          said.textContent = "The file is handed over …";
          const it = await upload(file.files[0]);
          form.dataset.upload = it.upload;
          said.textContent = `${it.entries} requests; learning begins …`;
        } else {
          said.textContent = "Learning begins …";
        }
        if (from() === "har") body.upload = form.dataset.upload;
        const done = await post("/api/recipes/learn", body);
        location.assign(`/tasks/${encodeURIComponent(done.data.task_id)}`);
      } catch (error) {
        said.textContent = "";
        wrong(error.message);
        button.disabled = false;
      }
    });
    named();
  };
  const learn = document.querySelector("form[data-learn]");
  if (learn) learning(learn);

  // --- As things are: events say that something is another now, and the page is asked for again.
  function tell(kind, text) {
    const place = byId("live");
    place.className = `live ${kind}`;
    place.textContent = text;
    place.hidden = false;
  }

  const focused = (region) => {
    const it = document.activeElement;
    if (!it || it === document.body || !region.contains(it)) return null;
    const all = [...region.querySelectorAll("a[href], button, summary, [tabindex]")];
    return { href: it.getAttribute("href"), at: all.indexOf(it) };
  };
  const refocus = (region, was) => {
    const all = [...region.querySelectorAll("a[href], button, summary, [tabindex]")];
    const it = all.find((it) => was.href && it.getAttribute("href") === was.href) ?? all[was.at];
    if (it) it.focus({ preventScroll: true });
    else byId("main").focus({ preventScroll: true });
  };
  const swap = (old, fresh) => {
    const selected = getSelection();
    if (selected && !selected.isCollapsed && old.contains(selected.anchorNode)) return;
    const open = [...old.querySelectorAll("details")].map((it) => it.open);
    [...fresh.querySelectorAll("details")].forEach((it, i) => {
      if (open[i]) it.open = true;
    });
    const was = focused(old);
    const made = document.adoptNode(fresh);
    old.replaceWith(made);
    if (was) refocus(made, was);
  };
  const refresh = async () => {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.status === 429) return soon(1000 * (Number(answer.headers.get("Retry-After")) || 5));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.querySelector("main[data-signed]")) return end();
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh) old.remove();
      // What came once is left as a person fills it in.
      else if ("once" in old.dataset && old.childElementCount) continue;
      else if (!old.isEqualNode(fresh)) swap(old, fresh);
    }
    moments();
  };

  // Not more often than every two seconds, and never two at once.
  function soon(ms) {
    if (over || last === undefined || timer !== null) return;
    const wait = Math.max(ms, askedAt + 2000 - Date.now());
    timer = setTimeout(async () => {
      timer = null;
      if (asking) return soon(500);
      asking = true;
      askedAt = Date.now();
      try {
        await refresh();
      } catch {
        // The stream ends then, too, and comes back when the daemon does.
      }
      asking = false;
    }, wait);
  }

  // Ends are said to who does not see them, several in one sentence.
  const ended = {};
  let saying = null;
  const announce = (kind) => {
    ended[kind] = (ended[kind] ?? 0) + 1;
    saying ??= setTimeout(() => {
      saying = null;
      const parts = Object.entries(ended).map(([kind, n]) => `${n} ${n === 1 ? "task" : "tasks"} ${kind}`);
      for (const it of Object.keys(ended)) delete ended[it];
      byId("said").textContent = parts.join(", ");
    }, 4000);
  };

  const happened = (event) => {
    if (event.id) last = event.id;
    if (event.kind === "stage") {
      let data = {};
      try {
        data = JSON.parse(event.data).data ?? {};
        data.task = JSON.parse(event.data).task_id;
      } catch {
        return;
      }
      for (const it of document.querySelectorAll("[data-task]")) {
        if (it.dataset.task !== data.task) continue;
        const bar = it.querySelector("progress");
        const name = it.querySelector("[data-stage]");
        if (bar && Number.isInteger(data.progress)) bar.value = data.progress + 0.5;
        // Who looks at this task alone hears of each of its stages.
        if (it.id === "state" && data.stage) say(`${String(data.stage).replaceAll("_", " ")}, stage ${data.progress + 1} of ${data.total}`);
        if (name && data.stage) name.textContent = clean(`${String(data.stage).replaceAll("_", " ")}, stage ${data.progress + 1} of ${data.total}`);
      }
    }
    if (["done", "failed", "cancelled", "interrupted"].includes(event.kind)) announce(event.kind);
    soon(150);
  };

  // Server-sent events (WHATWG HTML, 9.2.6), as far as ours use them.
  const read = async (body, happened) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const event = { id: "", kind: "", data: "" };
        for (const line of block.split("\n")) {
          const at = line.indexOf(": ");
          if (at < 1) continue;
          const name = line.slice(0, at);
          if (name === "id") event.id = line.slice(at + 2);
          else if (name === "event") event.kind = line.slice(at + 2);
          else if (name === "data") event.data += line.slice(at + 2);
        }
        if (event.kind) happened(event);
      }
    }
  };

  const visible = () =>
    new Promise((done) => {
      if (!document.hidden) return done();
      const look = () => {
        if (document.hidden) return;
        document.removeEventListener("visibilitychange", look);
        done();
      };
      document.addEventListener("visibilitychange", look);
    });
  // Who does not look holds no stream: there are few.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stream?.abort();
  });
  addEventListener("pagehide", () => stream?.abort());

  const watch = async () => {
    let pause = 1000;
    let again = false;
    while (!over) {
      await visible();
      stream = new AbortController();
      try {
        const headers = { Accept: "text/event-stream", "Last-Event-ID": last };
        const answer = await fetch("/api/events", { headers, signal: stream.signal });
        if (answer.status === 401) return end();
        if (answer.ok) {
          tell("on", "live");
          pause = 1000;
          if (again) soon(0);
          again = true;
          await read(answer.body, happened);
        } else {
          // Too many look at once.
          pause = Math.max(pause, 15_000);
        }
      } catch {
        // The daemon is gone, or nobody looks.
      }
      if (over) return;
      if (document.hidden) continue;
      tell("off", "not live");
      await sleep(pause);
      pause = Math.min(pause * 2, 30_000);
    }
  };
  if (last !== undefined) watch();

  // --- What no event tells of is asked for again.
  const every = Number(meta("every"));
  if (every) {
    setInterval(() => {
      if (!over && !document.hidden) refresh().catch(() => {});
    }, every);
  }

  // --- A page that stays, as somebody works on it.
  const LINES = 300;
  const list = document.querySelector("[data-stream]");
  const line = (it) => {
    // Who reads further up is left there.
    const box = list.parentElement;
    const follows = box.scrollTop + box.clientHeight >= box.scrollHeight - 40;
    const made = list.appendChild(element("li", undefined, { "data-kind": it.kind }));
    const kind = element("b", String(it.kind).replaceAll("_", " "));
    kind.title = new Date(it.at_ms).toLocaleTimeString();
    made.append(kind, element("span", it.text));
    while (list.children.length > LINES) list.firstChild.remove();
    if (follows) box.scrollTop = box.scrollHeight;
  };
  const follow = async () => {
    let seen;
    let pause = 1000;
    let closed = false;
    const told = (event) => {
      if (event.id) seen = event.id;
      try {
        line(JSON.parse(event.data));
      } catch {
        return;
      }
      if (event.kind === "closed") closed = true;
    };
    while (!over && !closed) {
      await visible();
      stream = new AbortController();
      try {
        const headers = { Accept: "text/event-stream", ...(seen ? { "Last-Event-ID": seen } : {}) };
        const answer = await fetch(list.dataset.stream, { headers, signal: stream.signal });
        if (answer.status === 401) return end();
        if (answer.status === 404) closed = true;
        if (answer.ok) {
          tell("on", "live");
          pause = 1000;
          await read(answer.body, told);
        } else {
          pause = Math.max(pause, 15_000);
        }
      } catch {
        // The daemon is gone, or nobody looks.
      }
      if (over || closed || document.hidden) continue;
      tell("off", "not live");
      await sleep(pause);
      pause = Math.min(pause * 2, 30_000);
    }
    if (closed) tell("off", "closed");
  };
  const picture = async () => {
    for (let n = 0; !over && document.querySelector("#standing .facts"); n += 1) {
      await visible();
      const old = document.querySelector("img[data-picture]");
      const fresh = old.cloneNode();
      const loaded = new Promise((done) => {
        fresh.onload = () => done(true);
        fresh.onerror = () => done(false);
      });
      const join = old.dataset.picture.includes("?") ? "&" : "?";
      fresh.src = `${old.dataset.picture}${join}n=${n}`;
      if (await loaded) old.replaceWith(fresh);
      await sleep(1000);
    }
  };
  if (list) {
    follow();
    picture();
  }
})();
