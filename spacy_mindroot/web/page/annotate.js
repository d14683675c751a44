// The page on which to annotate: shows a sentence as the server describes it, and sends decisions. Nothing is decided
// or drawn here. Text of the user's reaches the page as text alone, never as markup.

/**
 * @typedef {{cells: Record<string, string>, predicted: Record<string, string>}} Word
 * @typedef {[head: number, label: string, prob: number]} Alternative In place of a probability, -1 and -2 stand for the
 *   first and the second annotator.
 * @typedef {{rule: string, word: number, reason: string, intended: boolean}} Violation
 * @typedef {{
 *   number: number, revision: number, name: string, text: string, translations: string[], state: string,
 *   words: Word[], surface: [number, number, string][], heads: number[], labels: string[],
 *   headProbs: (number | null)[], labelProbs: (number | null)[], fixed: number[], changed: number[],
 *   alternatives: Alternative[][], otherLabels: Alternative[][], doubt: number[], violations: Violation[],
 *   valid: boolean, certified: boolean | null, fault: string, steps: number, svg: string, next: number | null
 * }} View
 * @typedef {{
 *   accepted: number, total: number, training: number | null, trained: number, trainingError: string,
 *   parser: boolean, generation: number, unsaved: string
 * }} Status
 * @typedef {{number: number, name: string, text: string, state: string}} Entry
 * @typedef {{value: string, text: string, note?: string}} Option
 */

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
/** @type {Record<string, string>} */
const STATES = { accepted: "accepted", begun: "begun", new: "to do" };
const KEYS = [
  ["Tab, Shift-Tab", "next or previous doubtful word, the least certain first"],
  ["1, 2, 3", "take another head, with its label"],
  ["4, 5, 6", "take another label"],
  ["Space", "confirm the arc as it is"],
  ["l", "choose another label"],
  ["h", "choose any head: type its number or its beginning; or click the word, and then its head"],
  ["r", "make the word the root"],
  ["← →", "previous or next word"],
  ["v", "best valid tree under the rules, around what is decided"],
  ["i", "the violation of a rule is intended, or no longer"],
  ["u, Ctrl-Z", "undo, without limit"],
  ["Enter", "accept the sentence, and go on"],
  ["↑ ↓, Page Up, Page Down", "previous or next sentence"],
  ["/", "search sentences"],
  ["R", "train on what is accepted, in the background"],
  ["Esc", "leave the tree, to reach the rest of the page with Tab"],
  ["?", "show the keys"],
];

const state = {
  /** @type {any} */ start: null,
  /** @type {View | null} */ view: null,
  /** @type {Status | null} */ status: null,
  /** @type {Entry[]} */ entries: [],
  selected: 0,
  touched: -Infinity, // when a key or a pointer was used last
  armed: false, // the next click on a word makes it the head of the selected one
};
const [token, at] = location.hash.slice(1).split("/");

// Talking to the server

const refusal = (/** @type {string} */ text, /** @type {string} */ kind) => Object.assign(new Error(text), { kind });

/**
 * @param {string} path
 * @param {object} [body] Given: sent by POST.
 * @returns {Promise<any>}
 */
async function api(path, body) {
  /** @type {RequestInit} */
  const options = { headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" } };
  if (body) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  let answer, found;
  try {
    answer = await fetch(`api/${path}`, options);
    found = await answer.json();
  } catch {
    throw refusal("The server does not answer. Start it again; nothing that you decided is lost.", "gone");
  }
  if (!answer.ok) throw refusal(found.error ?? `The server answers ${answer.status}.`, found.kind);
  if (found.status) showStatus(found.status);
  return found;
}

/** @type {Promise<void>} */
let queue = Promise.resolve();

/**
 * Do something that may be refused, after all that was asked for before. What is asked for by a key, a click or another
 * event goes through here, and nothing else does.
 * @param {() => unknown} work
 */
function attempt(work) {
  queue = queue.then(work).then(undefined, (error) => {
    if (!error.kind) throw error;
    if (error.kind === "changed") ask(error.message, "Read it anew", reload);
    else if (error.kind === "conflict" && state.view) {
      attempt(() => load(state.view?.number ?? 0).then(() => notify(error.message, true)));
    } else notify(error.message, true);
  });
  return queue;
}

// For tests: what is shown, and a way to wait until all that was asked for is done.
Object.assign(window, { annotation: state, settled: () => queue.then(() => queue) });

const vertical = () => $("work").clientWidth < 620;
const query = () => (vertical() ? "?vertical=1" : "");

/** @param {number} number @param {number} [selected] */
async function load(number, selected = 0) {
  const { view } = await api(`sentence/${number}${query()}`);
  show(view, selected);
}

/** @param {object} step @param {() => string} say */
async function decide(step, say) {
  const view = state.view;
  if (!view) return;
  performance.mark("decided");
  const told = { step, revision: view.revision, vertical: vertical() };
  const found = await api(`sentence/${view.number}/step`, told);
  show(found.view, state.selected);
  requestAnimationFrame(() => performance.measure("decision", "decided"));
  const free = found.free.map((/** @type {number} */ word) => `${word} ${form(word)}`);
  const changed = found.view.changed.length;
  const notes = [say(), free.length ? `No longer decided: ${free.join(", ")}.` : ""];
  if (changed) notes.push(`${changed} other arc${changed > 1 ? "s" : ""} changed.`);
  notify(notes.join(" "));
}

async function accept() {
  const view = state.view;
  if (!view) return;
  const told = { step: { do: "accept" }, revision: view.revision, vertical: vertical() };
  const found = await api(`sentence/${view.number}/step`, told);
  if (found.view.next === null) show(found.view, 0);
  else await load(found.view.next);
  mark(view.number, "accepted");
  notify(`${view.name} is accepted and written.${found.view.next === null ? " That was the last one." : ""}`);
}

async function undo() {
  if (!state.view) return;
  const { number, revision } = state.view;
  const found = await api(`sentence/${number}/undo`, { revision, vertical: vertical() });
  show(found.view, found.view.number === number ? state.selected : 0);
  notify(`Undone.${found.written ? " The file has the sentence as it was accepted until you accept it again." : ""}`);
}

async function train() {
  const { started } = await api("train", {});
  notify(started ? "Training has begun. Go on meanwhile." : "A training is going on already.");
  watch();
}

async function reload() {
  const { changed, next } = await api("reload", {});
  await list();
  const number = state.view?.number ?? next;
  if (number !== null) await load(number < state.entries.length ? number : next);
  notify(`The file was read anew: ${changed} sentence${changed === 1 ? " was" : "s were"} changed.`);
}

/** @param {number} by */
async function move(by) {
  const place = state.entries.findIndex((entry) => entry.number === state.view?.number);
  const entry = state.entries[place + by];
  if (entry) await load(entry.number);
  else notify(by > 0 ? "This is the last sentence." : "This is the first sentence.");
}

async function list() {
  const { sentences } = await api("sentences");
  state.entries = sentences;
  showList();
}

// Elements

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties] Those of the element; with a dash, attributes.
 * @param {...(Node | string)} children
 * @returns {any}
 */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else Object.assign(element, { [name]: value });
  }
  element.append(...children);
  return element;
}

const quiet = (/** @type {string} */ textContent) => make("span", { className: "quiet", textContent });
const kbd = (/** @type {string} */ textContent) => make("kbd", { textContent });

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "path", "rect", "text", "title"]);
const ATTRIBUTES = new Set(
  ("class d x y width height rx viewBox fill stroke stroke-width stroke-dasharray stroke-linecap pointer-events " +
    "font-family font-size font-weight font-style text-anchor display role aria-label").split(" "),
);

/**
 * Return a copy of a picture with nothing in it but what pictures consist of.
 * @param {Element} source
 * @returns {SVGElement | null}
 */
function copied(source) {
  if (!ELEMENTS.has(source.localName)) return null;
  const copy = document.createElementNS(SVG, source.localName);
  for (const { name, value } of source.attributes) if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
  for (const child of source.childNodes) {
    const part = child instanceof Element ? copied(child) : document.createTextNode(child.textContent ?? "");
    if (part) copy.append(part);
  }
  return copy;
}

/** @param {number | null | undefined} prob */
const percent = (prob) => {
  if (prob === null || prob === undefined || prob < 0) return "";
  return prob > 0 && prob < 0.005 ? "<1 %" : prob >= 0.995 && prob < 1 ? ">99 %" : `${Math.round(100 * prob)} %`;
};
/** @param {number} word */
const form = (word) => (word > 0 ? (state.view?.words[word - 1]?.cells.FORM ?? "") : word === 0 ? "ROOT" : "none");
/** @param {number} word */
const arc = (word) => {
  const view = /** @type {View} */ (state.view);
  const [head, label] = [view.heads[word - 1], view.labels[word - 1]];
  return head < 0 ? "no head yet" : `${head || ""} ${form(head)}, ${label === "_" ? "no label yet" : label}`.trim();
};
/** @param {number} word */
const sureness = (word) => {
  const [head, label] = [state.view?.headProbs[word - 1], state.view?.labelProbs[word - 1]];
  return head === null || head === undefined ? null : head * (label ?? 1);
};

// Showing

/** @param {View} view @param {number} selected */
function show(view, selected) {
  state.view = view;
  state.armed = false;
  state.selected = selected && selected <= view.words.length ? selected : (view.doubt[0] ?? 1);
  $("work").hidden = $("words").hidden = false;
  $("empty").hidden = true;
  $("name").textContent = view.name;
  $("state").textContent = STATES[view.state];
  $("state").className = `state ${view.state}`;
  showText(view);
  $("translations").replaceChildren(...view.translations.map((each) => make("p", {}, quiet(each))));
  const picture = new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement;
  const svg = copied(picture);
  $("tree").replaceChildren(...(svg ? [svg] : []));
  $("tree").classList.toggle("vertical", vertical());
  showSelected();
  showViolations(view);
  $("valid").hidden = !state.start.rules || !state.status?.parser;
  $("undo").disabled = false;
  mark(view.number, view.state);
  history.replaceState(null, "", `#${token}/${view.number}`);
  document.title = `${view.name} · ${state.start.file}`;
  const later = () => state.view === view && (showTable(view), showCurrent());
  "requestIdleCallback" in window ? requestIdleCallback(later, { timeout: 300 }) : setTimeout(later, 30);
  if (view.fault) notify(view.fault, true);
}

/** @param {number} number @param {string} now */
function mark(number, now) {
  const entry = state.entries.find((each) => each.number === number);
  if (!entry || entry.state === now) return;
  entry.state = now;
  const dot = $("sentences").querySelector(`[data-number="${number}"] .dot`);
  if (dot) Object.assign(dot, { className: `dot ${now}`, title: STATES[now], ariaLabel: STATES[now] });
}

/** @param {View} view */
function showText(view) {
  const text = view.text;
  /** @type {(Node | string)[]} */
  const parts = [];
  let done = 0;
  view.words.forEach((word, k) => {
    const place = text.indexOf(word.cells.FORM, done);
    if (place < 0 || place > done + 40) return;
    parts.push(text.slice(done, place), make("span", { "data-word": `${k + 1}`, textContent: word.cells.FORM }));
    done = place + word.cells.FORM.length;
  });
  $("text").replaceChildren(...parts, text.slice(done));
}

function showSelected() {
  const { view, selected } = state;
  if (!view) return;
  document.querySelectorAll(".sel").forEach((each) => each.classList.remove("sel"));
  document.querySelectorAll(`#tree .t${selected}, #tree .d${selected}`).forEach((each) => each.classList.add("sel"));
  document.querySelectorAll(`#text [data-word="${selected}"]`).forEach((each) => each.classList.add("sel"));
  $("tree").querySelector(".cursor")?.remove();
  const word = /** @type {SVGGraphicsElement | null} */ ($("tree").querySelector(`.word.t${selected}`));
  if (word) {
    const box = word.getBBox();
    const cursor = document.createElementNS(SVG, "rect");
    const place = { x: box.x - 5, y: box.y - 3, width: box.width + 10, height: box.height + 6, rx: 5 };
    for (const [name, value] of Object.entries(place)) cursor.setAttribute(name, `${value}`);
    cursor.setAttribute("class", state.armed ? "cursor armed" : "cursor");
    word.ownerSVGElement?.prepend(cursor);
    const tree = $("tree");
    const left = box.x * (tree.scrollWidth / Math.max(1, word.ownerSVGElement?.width.baseVal.value ?? 1));
    if (left < tree.scrollLeft + 40 || left > tree.scrollLeft + tree.clientWidth - 80)
      tree.scrollLeft = left - tree.clientWidth / 2;
  }
  showDecision(view, selected);
  document.querySelectorAll("#rows tr").forEach((row, k) => row.setAttribute("aria-selected", `${k + 1 === selected}`));
}

/**
 * Return the other arcs that a key takes: heads with 1 to 3, labels with 4 to 6.
 * @param {View} view @param {number} word
 * @returns {{arc: Alternative, key: number}[]}
 */
const alternatives = (view, word) => [
  ...(view.alternatives[word - 1] ?? []).map((arc, k) => ({ arc, key: k + 1 })),
  ...(view.otherLabels[word - 1] ?? []).map((arc, k) => ({ arc, key: k + 4 })),
];

/** @param {View} view @param {number} word */
function showDecision(view, word) {
  const decided = view.fixed.includes(word);
  const prob = sureness(word);
  const [head, label] = [view.headProbs[word - 1], view.labelProbs[word - 1]];
  const now = make(
    "div",
    { className: "now" },
    make("span", { className: "word-name" }, make("small", { textContent: `${word}` }), ` ${form(word)}`),
    make("span", { className: "arc-name", textContent: arc(word) }),
    quiet(decided ? "decided" : prob === null ? "" : `${percent(head)} head, ${percent(label)} label`),
  );
  const others = alternatives(view, word).map(({ arc: [head, label, chance], key }) => {
    const bar = make("span", { className: "bar" });
    bar.append(make("i", {}));
    bar.firstChild.style.width = `${Math.max(0, 100 * chance)}%`;
    return make(
      "button",
      { className: "alternative", onclick: () => attempt(still(() => take(key))) },
      kbd(`${key}`),
      make("span", { textContent: key > 3 ? "" : `${head ? `${head} ` : ""}${form(head)}` }),
      make("b", { textContent: label }),
      bar,
      quiet(chance < 0 ? ["first", "second"][-chance - 1] : percent(chance)),
    );
  });
  const [names, works] = [["Confirm", "Label", "Head", "Root"], [confirmArc, chooseLabel, chooseHead, makeRoot]];
  const buttons = ["␣", "l", "h", "r"].map((key, k) =>
    make("button", { onclick: () => attempt(still(works[k])) }, kbd(key), ` ${names[k]}`),
  );
  $("decide").replaceChildren(
    now,
    make("div", { className: "more-keys" }, ...buttons),
    make("div", { className: "alternatives" }, ...others),
  );
  const spoken = alternatives(view, word).map(
    ({ arc: [head, label, chance], key }) => `${key}: ${key > 3 ? "" : `${form(head)}, `}${label} ${percent(chance)}`,
  );
  const broken = view.violations.filter((each) => each.word === word && !each.intended).map((each) => each.reason);
  const first = `Word ${word}, ${form(word)}: ${arc(word)} ${decided ? "decided" : percent(prob)}`;
  $("spoken").textContent = [first, ...spoken, ...broken].join(". ");
}

/** @param {View} view */
function showViolations(view) {
  const items = view.violations.map((each) => {
    const onchange = () => attempt(() => intend(each));
    return make(
      "li",
      { className: each.intended ? "intended" : "" },
      make("button", { className: "link", textContent: each.reason, onclick: () => select(each.word) }),
      make("code", { textContent: each.rule }),
      make("label", {}, make("input", { type: "checkbox", checked: each.intended, onchange }), " intended"),
    );
  });
  const texts = ["The tree is valid, but the search reached its limit.", "The tree is certainly the best valid one."];
  if (view.valid && view.certified !== null)
    items.unshift(make("li", { className: "certified", textContent: texts[+view.certified] }));
  $("violations").replaceChildren(...items);
}

/** @param {View} view */
function showTable(view) {
  if (isTyping()) return; // what was typed would be lost
  const focused = document.activeElement?.getAttribute("aria-label");
  const columns = state.start.columns;
  const heads = ["#", ...columns, "HEAD", "DEPREL", ""];
  $("columns").replaceChildren(...heads.map((name) => make("th", { textContent: name, scope: "col" })));
  const rows = view.words.map((word, k) => {
    const cells = columns.map((/** @type {string} */ name) => {
      const input = make("input", {
        defaultValue: word.cells[name] === "_" ? "" : word.cells[name],
        placeholder: word.predicted[name] ?? "",
        spellcheck: false,
        "aria-label": `${name} of word ${k + 1}`,
        onchange: () => {
          input.defaultValue = input.value;
          attempt(still(() => edit(k + 1, name, input.value), view.number));
        },
      });
      if (name === "UPOS") input.setAttribute("list", "upos");
      return make("td", { className: name }, input);
    });
    const head = view.heads[k];
    const number = make("button", { className: "link", textContent: `${k + 1}`, onclick: () => select(k + 1) });
    const onclick = (/** @type {Event} */ event) => event.target instanceof HTMLInputElement || select(k + 1);
    return make(
      "tr",
      { "aria-selected": `${k + 1 === state.selected}`, onclick },
      make("th", { scope: "row" }, number),
      ...cells,
      make("td", { textContent: head < 0 ? "" : head ? `${head} ${form(head)}` : "0" }),
      make("td", { textContent: view.labels[k] === "_" ? "" : view.labels[k] }),
      make("td", { className: "quiet", textContent: view.fixed.includes(k + 1) ? "✓" : percent(sureness(k + 1)) }),
    );
  });
  $("rows").replaceChildren(...rows);
  if (focused) $("rows").querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
}

function showList() {
  const wanted = $("search").value.trim().toLowerCase();
  const found = state.entries.filter((each) => `${each.name} ${each.text}`.toLowerCase().includes(wanted));
  const items = found.slice(0, 300).map((each) => {
    const title = STATES[each.state];
    const button = make(
      "button",
      { onclick: () => attempt(() => load(each.number)).then(() => (toggleList(false), $("work").focus())) },
      make("span", { className: `dot ${each.state}`, title, role: "img", "aria-label": title }),
      make("small", { textContent: each.name }),
      make("span", { className: "line", textContent: each.text }),
    );
    return make("li", { "data-number": `${each.number}` }, button);
  });
  if (found.length > 300) items.push(make("li", {}, quiet(`and ${found.length - 300} more: search`)));
  $("sentences").replaceChildren(...items);
  showCurrent();
}

function showCurrent() {
  $("sentences").querySelector("[aria-current]")?.removeAttribute("aria-current");
  const item = $("sentences").querySelector(`[data-number="${state.view?.number}"]`);
  item?.setAttribute("aria-current", "true");
  item?.scrollIntoView?.({ block: "nearest" });
}

/** @param {Status} status */
function showStatus(status) {
  const before = state.status;
  state.status = status;
  $("count").textContent = `${status.accepted} of ${status.total}`;
  $("progress").setAttribute("aria-valuemax", `${status.total}`);
  $("progress").setAttribute("aria-valuenow", `${status.accepted}`);
  $("progress").firstElementChild.style.width = `${(100 * status.accepted) / Math.max(1, status.total)}%`;
  const left = state.start ? state.start.first - status.accepted : 0;
  const waits = left > 0 && !status.parser && !state.start.second ? `parser after ${left} more` : "";
  const rests = status.trainingError ? "training failed" : status.trained ? `trained on ${status.trained}` : waits;
  const training = status.training ? `training ${status.training} %` : "preparing";
  $("parser").textContent = status.training === null ? rests : training;
  $("parser").title = status.trainingError;
  $("train").disabled = status.training !== null;
  if (status.unsaved || before?.unsaved) banner(status.unsaved);
  if (status.training !== null) watch();
  if (before && before.generation !== status.generation) {
    if (before.trained !== status.trained) notify(`The parser now knows ${status.trained} sentences.`);
    attempt(async () => {
      await list();
      const { next } = await api("status");
      const busy = state.armed || document.querySelector("dialog[open], input:focus, textarea:focus");
      const idle = !busy && performance.now() - state.touched > 3000;
      if (idle && state.view?.state === "new" && next !== null) await load(next);
      else await again();
    });
  }
}

let timer = 0;
function watch() {
  clearTimeout(timer);
  const wait = state.status?.training === null ? 15000 : 1000;
  timer = setTimeout(() => api("status").then(watch, watch), wait);
}

/** @param {string} text @param {boolean} [urgent] */
function notify(text, urgent = false) {
  $("notice").textContent = text.trim();
  $("notice").className = urgent ? "urgent" : "";
}

/** @param {string} text @param {...HTMLElement} buttons */
function banner(text, ...buttons) {
  $("banner").replaceChildren(text, ...buttons);
  $("banner").hidden = !text;
}

/** @param {string} text @param {string} yes @param {() => unknown} action */
function ask(text, yes, action) {
  const close = () => (banner(""), $("work").focus());
  const button = make("button", { className: "primary", textContent: yes, onclick: () => (close(), attempt(action)) });
  banner(text, button, make("button", { textContent: "Not now", onclick: close }));
  button.focus();
}

// Deciding

/** @param {number} word */
function select(word) {
  const count = state.view?.words.length ?? 0;
  if (word < 1 || word > count) return;
  state.selected = word;
  state.armed = false;
  showSelected();
}

/** @param {number} by */
function doubt(by) {
  const view = /** @type {View} */ (state.view);
  const words = view.doubt.length ? view.doubt : view.words.map((_, k) => k + 1);
  const place = words.indexOf(state.selected);
  select(words[place < 0 ? (by > 0 ? 0 : words.length - 1) : (place + by + words.length) % words.length]);
}

/** @param {number} word @param {number} head @param {string} label */
const fix = (word, head, label) => decide({ do: "arc", word, head, label }, () => `${form(word)}: ${arc(word)}.`);

/** @param {number} wanted */
function take(wanted) {
  const found = state.view && alternatives(state.view, state.selected).find(({ key }) => key === wanted)?.arc;
  if (!found) return notify(`There is no alternative ${wanted}.`);
  return fix(state.selected, found[0], found[1]);
}

function confirmArc() {
  const [head, label] = [state.view?.heads[state.selected - 1] ?? -1, state.view?.labels[state.selected - 1] ?? "_"];
  if (head < 0 || label === "_") return notify("There is no arc to confirm yet.", true);
  return fix(state.selected, head, label);
}

const makeRoot = () => fix(state.selected, 0, state.start.root);

/** @param {number} word @param {number} head */
async function attach(word, head) {
  const view = state.view;
  if (!view || word === head) return;
  if (head === 0) return makeRoot();
  const { labels } = await api(`sentence/${view.number}/labels?word=${word}&head=${head}`);
  const best = Object.keys(labels)[0] ?? (view.heads[word - 1] > 0 ? view.labels[word - 1] : "_");
  state.selected = word;
  await fix(word, head, best);
  if (best === "_") await chooseLabel();
}

async function chooseLabel() {
  const { view, selected } = state;
  if (!view) return;
  const head = view.heads[selected - 1];
  if (head < 0) return notify("Choose the head first, with h.", true);
  if (head === 0) return notify(`The root is ${state.start.root}. Choose another head to change that.`, true);
  const { labels } = await api(`sentence/${view.number}/labels?word=${selected}&head=${head}`);
  const names = [...new Set([...Object.keys(labels), ...state.start.labels])];
  choose(
    `Label of ${form(selected)}`,
    names.map((name) => ({ value: name, text: name, note: percent(labels[name]) })),
    (label) => fix(selected, head, label),
    true,
  );
}

function chooseHead() {
  const { view, selected } = state;
  if (!view) return;
  const words = view.words.map((word, k) => ({ value: `${k + 1}`, text: `${k + 1} ${word.cells.FORM}` }));
  const near = words.filter((word) => +word.value !== selected);
  near.sort((one, other) => Math.abs(+one.value - selected) - Math.abs(+other.value - selected));
  choose(`Head of ${form(selected)}`, [...near, { value: "0", text: "0 ROOT" }], (head) => attach(selected, +head));
}

/**
 * Return a function that works only if the page still shows the sentence that it was made for.
 * @param {(...values: any[]) => unknown} work @param {number} [number]
 */
const still = (work, number = state.view?.number) => (/** @type {any[]} */ ...values) =>
  number === state.view?.number ? work(...values) : notify("Another sentence has come meanwhile. Decide again.", true);

/** Whether a cell of the table has been changed and not been sent yet. */
const isTyping = () => [...$("rows").querySelectorAll("input:focus")].some((each) => each.value !== each.defaultValue);

/** @param {number} word @param {string} column @param {string} value */
const edit = (word, column, value) => decide({ do: "cell", word, column, value }, () => `${column} is changed.`);

/** @param {Violation} violation */
const intend = (violation) =>
  decide({ do: "intend", word: violation.word, rule: violation.rule, on: !violation.intended }, () =>
    violation.intended ? "No longer intended." : "Intended; accepting writes that to MISC.",
  );

/** @type {{options: Option[], shown: Option[], at: number, free: boolean, pick: (value: string) => unknown}} */
const choice = { options: [], shown: [], at: 0, free: false, pick: () => {} };

/**
 * Ask for one of several options, which typing filters.
 * @param {string} title
 * @param {Option[]} options
 * @param {(value: string) => unknown} pick
 * @param {boolean} [free] Whether what is typed can be taken if there is no such option.
 */
function choose(title, options, pick, free = false) {
  Object.assign(choice, { options, pick: still(pick), free });
  $("choice-title").textContent = title;
  $("choice-input").value = "";
  filter();
  $("choice").showModal();
  $("choice-input").focus();
}

function filter() {
  const given = $("choice-input").value.trim();
  const typed = given.toLowerCase();
  const rank = (/** @type {Option} */ each) => {
    const text = each.text.toLowerCase();
    if (each.value.toLowerCase() === typed) return 0;
    return text.startsWith(typed) ? 1 : text.split(/[\s:]/).some((part) => part.startsWith(typed)) ? 2 : 3;
  };
  choice.shown = choice.options.filter((each) => !typed || rank(each) < 3);
  if (typed) choice.shown.sort((one, other) => rank(one) - rank(other));
  if (choice.free && typed && !choice.shown.length) choice.shown = [{ value: given, text: `new: ${given}` }];
  choice.at = 0;
  const items = choice.shown.slice(0, 60).map((each, k) => {
    const properties = { role: "option", id: `choice-${k}`, "aria-selected": `${k === 0}`, onclick: () => picked(k) };
    return make("li", properties, each.text, quiet(each.note ?? ""));
  });
  $("choice-options").replaceChildren(...items);
  $("choice-input").setAttribute("aria-activedescendant", items.length ? "choice-0" : "");
}

/** @param {number} k */
function picked(k) {
  const found = choice.shown[k];
  $("choice").close();
  $("work").focus();
  if (found) attempt(() => choice.pick(found.value));
}

$("choice-input").addEventListener("input", filter);
$("choice-input").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    picked(choice.at);
  } else if (step && choice.shown.length) {
    event.preventDefault();
    const items = $("choice-options").children;
    items[choice.at].setAttribute("aria-selected", "false");
    choice.at = (choice.at + step + items.length) % items.length;
    items[choice.at].setAttribute("aria-selected", "true");
    items[choice.at].scrollIntoView({ block: "nearest" });
    $("choice-input").setAttribute("aria-activedescendant", `choice-${choice.at}`);
  }
  event.stopPropagation();
});

// Keys, clicks and touch

/** @type {Record<string, () => unknown>} */
const ACTIONS = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((key) => [key, () => take(key)])),
  " ": confirmArc,
  l: chooseLabel,
  h: chooseHead,
  r: makeRoot,
  v: () => decide({ do: "valid" }, () => "The rest of the tree now meets the rules."),
  i: () => state.view?.violations.filter((each) => each.word === state.selected).slice(0, 1).map(intend)[0],
  u: undo,
  R: train,
  "?": () => $("keys").showModal(),
  "/": () => (toggleList(true), $("search").focus()),
  Enter: accept,
  ArrowLeft: () => select(state.selected - 1),
  ArrowRight: () => select(state.selected + 1),
  ArrowUp: () => move(-1),
  ArrowDown: () => move(1),
  PageUp: () => move(-1),
  PageDown: () => move(1),
  Escape: () => (state.armed ? ((state.armed = false), showSelected()) : $("previous").focus()),
};

for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => (state.touched = performance.now()), true);
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if ($("choice").open || $("keys").open) return;
  const typing = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
  if (event.key === "Escape" && target !== $("work") && !target.closest("dialog")) return $("work").focus();
  if (typing || event.altKey || event.metaKey) return;
  const moves = /^(Arrow|Page|Tab)/.test(event.key);
  if (event.repeat && !moves) return event.preventDefault(); // a key that is held decides once
  if (event.ctrlKey) {
    if (event.key === "z") (event.preventDefault(), attempt(still(undo)));
    return;
  }
  const inside = target === document.body || target === $("work");
  if (event.key === "Tab" && inside && state.view) {
    event.preventDefault();
    attempt(() => doubt(event.shiftKey ? -1 : 1));
    return;
  }
  if (!inside && [" ", "Enter", "ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key)) return;
  const action = ACTIONS[event.key];
  if (action && (state.view || event.key === "?")) {
    event.preventDefault();
    attempt(moves ? action : still(action));
  }
});

/** @param {Element | null} element @param {string} prefix */
const numbered = (element, prefix) => {
  const name = [...(element?.classList ?? [])].find((each) => new RegExp(`^${prefix}[0-9]+$`).test(each));
  return name ? +name.slice(1) : 0;
};

$("tree").addEventListener("click", (/** @type {MouseEvent} */ event) => {
  const target = /** @type {Element} */ (event.target);
  const word = numbered(target, "t");
  const ofArc = numbered(target.closest("[class*=' d'], [class^='d']"), "d");
  if (word && state.armed && word !== state.selected) attempt(() => attach(state.selected, word));
  else if (word) {
    const again = word === state.selected && state.armed;
    select(word);
    state.armed = !again;
    showSelected();
    if (state.armed) notify(`Click the head of ${form(word)}, or choose below.`);
  } else if (ofArc) select(ofArc);
  $("work").focus({ preventScroll: true });
});
$("text").addEventListener("click", (/** @type {MouseEvent} */ event) => {
  select(+(/** @type {HTMLElement} */ (event.target).dataset?.word ?? 0));
});

/** @param {boolean} open */
function toggleList(open) {
  document.body.classList.toggle("list-open", open);
  $("open-list").setAttribute("aria-expanded", `${open}`);
}

const CLICKS = {
  "open-list": () => toggleList(!document.body.classList.contains("list-open")),
  ...{ previous: () => move(-1), following: () => move(1), doubt: () => doubt(1) },
  ...{ undo, accept, train, valid: ACTIONS.v, help: ACTIONS["?"], add: () => ($("empty").hidden = false) },
};
for (const [id, action] of Object.entries(CLICKS)) {
  $(id).addEventListener("click", () => {
    attempt(id === "previous" || id === "following" ? action : still(action));
    if (id === "add") (toggleList(false), setTimeout(() => $("text-new").focus(), 50));
    else if (id !== "help" && id !== "open-list") $("work").focus({ preventScroll: true });
  });
}
$("search").addEventListener("input", showList);
$("empty").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  attempt(async () => {
    const { added, next } = await api("text", { text: $("text-new").value });
    $("text-new").value = "";
    await list();
    if (next !== null) await load(next);
    notify(`Sentences added: ${added}.`);
    $("work").focus();
  });
});
const again = () => state.view && load(state.view.number, state.selected);
let wide = !vertical();
addEventListener("resize", () => wide === vertical() && ((wide = !wide), attempt(again)));
document.addEventListener("visibilitychange", () => document.hidden || attempt(again));

// Beginning
for (const [keys, text] of KEYS) $("key-list").append(make("dt", {}, kbd(keys)), make("dd", {}, text));
attempt(async () => {
  state.start = await api("start");
  $("file").textContent = state.start.file;
  $("upos").replaceChildren(...state.start.upos.map((/** @type {string} */ value) => make("option", { value })));
  showStatus(state.start.status);
  await list();
  const wanted = at !== undefined && +at < state.entries.length ? +at : (state.start.next ?? state.entries[0]?.number);
  if (wanted === undefined) {
    $("empty").hidden = false;
    $("text-new").focus();
  } else {
    $("work").hidden = false;
    await load(wanted);
    $("work").focus();
  }
  watch();
});
