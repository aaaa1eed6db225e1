// Draws the prompt of an inspector page and answers its reader. All text comes from the page itself and goes back as
// text, never as markup. A long prompt is drawn a group of pieces at a time, where the reader looks or jumps to.

const GROUP_PIECES = 40;
const GROUP_CHARS = 20_000;
const PORTION_CHARS = 65_536;
const DRAWN_AT_ONCE_CHARS = 200_000;
const MOST_LISTED = 100;
const MOST_HITS = 50_000;
const PLAIN = /^[\x20-\x7e\n\t]*$/;
const UNSEEN = /(?:(?![\n\t])[\p{C}\p{Zl}\p{Zp}])+/gu;

const byId = (id) => document.getElementById(id);
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const rowsLeftOut = () => [...document.querySelectorAll("#omissions tbody tr")];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// ---- the prompt as it was written into the page

const prompt = JSON.parse(byId("prompt-data").textContent);
const segments = prompt.segments.map((values) => Object.fromEntries(prompt.facts.map((name, n) => [name, values[n]])));
const shownLayer = (segment) => segment.layer.slice(0, 2);

const escapes = (run) => [...run].map((char) => `\\u{${char.codePointAt(0).toString(16).padStart(4, "0")}}`).join("");
const visible = (text) => (PLAIN.test(text) ? text : text.replace(UNSEEN, escapes));
const shownText = (piece) => (piece.text ??= visible(piece.raw));

// Items stand in order: headings, pieces, marks. A group holds some of them, and one element of the page.
const groups = [];
const pieces = [];
const firstPieceOf = new Map();
const groupOfMark = new Map();

function collect() {
  let group = null;
  const add = (item, chars) => {
    if (!group || group.items.length >= GROUP_PIECES || group.chars + chars > GROUP_CHARS) {
      group = { items: [], chars: 0, node: null, drawn: false };
      groups.push(group);
    }
    group.items.push(item);
    group.chars += chars;
    item.group = group;
  };
  for (const block of prompt.blocks) {
    add({ kind: "heading", title: block.title, pointer: block.pointer }, 0);
    for (const [number, line, continues, sources, text] of block.pieces) {
      const piece = { kind: "piece", number, line, continues, sources, raw: text, text: null, node: null };
      if (number && !firstPieceOf.has(number)) firstPieceOf.set(number, piece);
      piece.first = firstPieceOf.get(number) === piece;
      pieces.push(piece);
      add(piece, text.length);
    }
    if (block.mark) {
      add({ kind: "mark", number: block.mark[0], words: block.mark[1] }, 0);
      groupOfMark.set(block.mark[0], group);
    }
  }
}

// ---- drawing

function drawText(line) {
  const made = document.createElement("div");
  if (PLAIN.test(line)) {
    made.append(line);
    return made;
  }
  let from = 0;
  for (const run of line.matchAll(UNSEEN)) {
    made.append(line.slice(from, run.index), element("span", { class: "unseen" }, escapes(run[0])));
    from = run.index + run[0].length;
  }
  made.append(from ? line.slice(from) : line);
  return made;
}

// Lines of a piece; a part of an overlong line counts as one, and `ends` says whether a line ends with it.
function* linesOf(piece) {
  const sourceOf = (place) => (Array.isArray(piece.sources) ? piece.sources[place] : piece.sources && piece.sources + place);
  for (const [place, line] of piece.raw.split("\n").entries()) {
    let from = 0;
    do {
      const to = endOfPart(line, from);
      const begins = from === 0 && !(piece.continues && place === 0);
      yield { text: line.slice(from, to), number: begins ? piece.line + place : "+", source: sourceOf(place), ends: to === line.length };
      from = to;
    } while (from < line.length);
  }
}

// No part ends within a character.
function endOfPart(line, from) {
  const to = Math.min(line.length, from + PORTION_CHARS);
  return to < line.length && line.codePointAt(to - 1) > 0xffff ? to + 1 : to;
}

function drawPortion(piece) {
  const block = element("div", { class: "t" });
  let room = PORTION_CHARS;
  while (!piece.next.done && (room === PORTION_CHARS || piece.next.value.text.length <= room)) {
    const { text, number, source } = piece.next.value;
    const line = drawText(text);
    line.dataset.n = number;
    if (source) line.dataset.s = source;
    block.append(line);
    piece.lines.push(line);
    room -= text.length + 1;
    piece.next = piece.rest.next();
  }
  piece.more?.remove();
  piece.node.append(block);
  if (piece.next.done) return;
  piece.more = element("button", { type: "button", class: "more" }, "Show more: this text is long, and goes on");
  piece.node.append(piece.more);
}

function drawPiece(piece) {
  const segment = segments[piece.number - 1];
  piece.node = element("div", { class: segment ? `s ${shownLayer(segment)}` : "y" });
  if (piece.first && segment) piece.node.id = `s-${piece.number}`;
  if (segment) {
    const name = ` ${segment.kind} ${segment.source}${segment.conflict ? " · in conflict" : ""}`;
    piece.node.append(element("a", { class: "h", href: `#s-${piece.number}` }, element("b", {}, shownLayer(segment)), name));
  }
  piece.node.piece = piece;
  piece.lines = [];
  piece.rest = linesOf(piece);
  piece.next = piece.rest.next();
  drawPortion(piece);
  return piece.node;
}

function drawItem(item) {
  if (item.kind === "piece") return drawPiece(item);
  if (item.kind === "heading") return element("h3", {}, `${item.title} `, element("code", {}, item.pointer));
  return element("p", { class: "mark", id: `mark-${item.number}` }, element("b", {}, `Cache mark ${item.number}`), `: ${item.words}`);
}

function drawGroup(group) {
  if (group.drawn) return;
  group.drawn = true;
  watcher.unobserve(group.node);
  group.node.append(...group.items.map(drawItem));
  group.node.style.minHeight = "";
}

const watcher = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => drawGroup(entry.target.group)),
  { rootMargin: "1500px 0px" },
);

function drawPrompt() {
  collect();
  const small = pieces.reduce((sum, piece) => sum + piece.raw.length, 0) <= DRAWN_AT_ONCE_CHARS;
  for (const group of groups) {
    group.node = element("div", { class: "group" });
    group.node.group = group;
    group.node.style.minHeight = `${group.items.length * 3 + Math.round(group.chars / 40)}rem`;
  }
  byId("blocks").replaceChildren(...groups.map((group) => group.node));
  groups.forEach((group, place) => (small || place === 0 ? drawGroup(group) : watcher.observe(group.node)));
}

// ---- where a piece comes from, on hover and focus

let current = null;

function showProvenance(piece) {
  const segment = piece && segments[piece.number - 1];
  if (!segment || piece === current) return;
  current?.node.classList.remove("on");
  current = piece;
  piece.node.classList.add("on");
  const facts = Object.entries(segment).filter(([, value]) => value);
  const list = element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  byId("provenance-facts").replaceChildren(list);
  byId("provenance").classList.add("on");
}

for (const kind of ["mouseover", "focusin", "click"]) {
  byId("blocks").addEventListener(kind, (event) => showProvenance(event.target.closest(".s")?.piece));
}

byId("blocks").addEventListener("click", (event) => {
  if (event.target.matches(".more")) drawPortion(event.target.closest(".s, .y").piece);
});

// Escape puts the facts away: on a narrow page they cover a part of the prompt.
addEventListener("keydown", (event) => {
  if (event.key === "Escape") byId("provenance").classList.remove("on");
});

// ---- addresses within the page

function goTo(piece, line = 0) {
  drawGroup(piece.group);
  while (piece.lines.length <= line && !piece.next.done) drawPortion(piece);
  showProvenance(piece);
  const target = line ? piece.lines[line] : piece.node;
  target.scrollIntoView({ block: line ? "center" : "start" });
}

function follow(address) {
  const [, kind, number] = /^#(s|mark)-(\d+)$/.exec(address) ?? [];
  if (kind === "s" && firstPieceOf.has(Number(number))) {
    const piece = firstPieceOf.get(Number(number));
    goTo(piece);
    return piece.node.querySelector(".h");
  }
  if (kind === "mark" && groupOfMark.has(Number(number))) {
    drawGroup(groupOfMark.get(Number(number)));
    byId(address.slice(1)).scrollIntoView({ block: "center" });
  }
  return null;
}

addEventListener("hashchange", () => follow(location.hash)?.focus({ preventScroll: true }));
addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) follow(link.hash)?.focus({ preventScroll: true });
});
addEventListener("beforeprint", () => groups.forEach(drawGroup));

// ---- search

let hits = [];
let place = -1;
let sought = "";

function* occurrences(text, words) {
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) yield at;
}

function search(words) {
  sought = words.toLowerCase();
  [hits, place] = [[], -1];
  const counts = { prompt: 0, source: 0, out: 0 };
  const add = (kind, hit) => {
    counts[kind] += 1;
    if (hits.length < MOST_HITS) hits.push({ kind, ...hit });
  };
  if (sought) {
    for (const row of rowsLeftOut()) if (row.textContent.toLowerCase().includes(sought)) add("out", { row });
    segments.forEach((segment, n) => {
      const names = `${segment.source}\n${segment.rule}`.toLowerCase();
      if (names.includes(sought) && firstPieceOf.has(n + 1)) add("source", { piece: firstPieceOf.get(n + 1) });
    });
    for (const piece of pieces) {
      piece.small ??= shownText(piece).toLowerCase();
      for (const at of occurrences(piece.small, sought)) add("prompt", { piece, at });
    }
  }
  const found = `${plural(counts.prompt, "place")} in the prompt, ${plural(counts.source, "source")} of that name, ${plural(counts.out, "text")} left out`;
  byId("search-count").textContent = !sought ? "" : hits.length ? `${found}.` : "Nothing found.";
  byId("search-found").replaceChildren(...hits.slice(0, MOST_LISTED).map(answer));
  if (hits.length > MOST_LISTED) byId("search-count").textContent += ` The first ${MOST_LISTED} are listed; Next goes on.`;
  CSS.highlights?.delete("found");
}

function answer(hit, number) {
  const segment = hit.piece && segments[hit.piece.number - 1];
  const words = hit.kind === "prompt" ? shownText(hit.piece).slice(Math.max(0, hit.at - 40), hit.at + 80)
    : hit.kind === "source" ? segment.source : hit.row.cells[0].innerText;
  const where = hit.kind === "out" ? "left out" : segment ? `${shownLayer(segment)} ${segment.kind} ${segment.source}` : "between the sources";
  const address = hit.kind === "out" ? hit.row.id : segment ? `s-${hit.piece.number}` : "prompt";
  const link = element("a", { href: `#${address}` }, words.replace(/\s+/g, " ").trim() || "(blank)");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    jump(number);
  });
  return element("li", {}, link, ` (${where})`);
}

function jump(to) {
  if (!hits.length) return;
  place = (to + hits.length) % hits.length;
  const { row, piece, at } = hits[place];
  if (row) {
    row.hidden = false;
    row.scrollIntoView({ block: "center" });
    highlight(row);
  } else {
    const line = at === undefined ? 0 : lineOf(piece, at);
    goTo(piece, line);
    highlight(at === undefined ? piece.node.querySelector(".h") : piece.lines[line]);
  }
  byId("search-count").textContent = `${(place + 1).toLocaleString("en")} of ${hits.length.toLocaleString("en")}`;
}

// The drawn line that holds a character of a piece.
function lineOf(piece, at) {
  let number = 0;
  for (const { text, ends } of linesOf(piece)) {
    at -= visible(text).length + (ends ? 1 : 0);
    if (at < 0) return number;
    number += 1;
  }
  return number - 1;
}

// Marks what was found by ranges, where the browser has them; the page itself stays as it is.
function highlight(node) {
  if (!CSS.highlights) return;
  const ranges = [];
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const small = walker.currentNode.data.toLowerCase();
    if (small.length !== walker.currentNode.data.length) continue;
    for (const at of occurrences(small, sought)) {
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + sought.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

let waiting = 0;
byId("search-words").addEventListener("input", (event) => {
  clearTimeout(waiting);
  waiting = setTimeout(() => search(event.target.value), 120);
});
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  if (byId("search-words").value.toLowerCase() !== sought) search(byId("search-words").value);
  jump(place + 1);
});
byId("search-back").addEventListener("click", () => jump(place < 0 ? -1 : place - 1));

// ---- why is it not here?

// The names by which `context why-not` knows a candidate: its uri, path, rule, section; whole, or the end after a slash.
function namesOf(segmentId, uri, rule) {
  const section = segmentId.replace(/^[^:]*:[^:]*:/, "").replace(/@[^@]*$/, "");
  return [uri, uri.replace(/^[^:]*:/, ""), rule, segmentId, section].filter(Boolean);
}

function considered() {
  const inside = segments.map((segment, n) => {
    const uri = segment.source.replace(/:\d+-\d+$/, "");
    return { segment, number: n + 1, names: namesOf(segment.segment, uri, segment.rule) };
  });
  const outside = rowsLeftOut().map((row) => ({ row, names: namesOf(row.dataset.segment, row.dataset.uri, row.dataset.rule) }));
  return [...outside, ...inside];
}

function ask(query) {
  const all = considered();
  const small = query.toLowerCase();
  let found = all.filter(({ names }) => names.some((name) => name === query || name.endsWith(`/${query}`)));
  const near = found.length === 0;
  if (near) found = all.filter(({ names }) => names.some((name) => name.toLowerCase().includes(small)));
  const never = `${query} was never considered: nothing that was read for this prompt has that name. The search finds texts.`;
  byId("ask-count").textContent = !found.length ? never : near ? `Nothing has just that name; ${plural(found.length, "name")} with it:` : "";
  byId("ask-found").replaceChildren(...found.slice(0, MOST_LISTED).map(outcome));
}

function outcome({ segment, number, row }) {
  if (segment) {
    const link = element("a", { href: `#s-${number}` }, `${segment.source} (${segment.layer})`);
    return element("li", {}, "It was included: ", link, `, ${segment.tokens} tokens, selected by ${segment["selected by"]}.`);
  }
  const [source, verdict, why, by, remedy] = [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim());
  const link = element("a", { href: `#${row.id}` }, source);
  link.addEventListener("click", () => { row.hidden = false; });
  return element("li", {}, link, `: ${verdict}. ${why}. Decided at ${by}.${remedy ? ` To change it: ${remedy}.` : ""}`);
}

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const query = byId("ask-name").value.trim();
  if (query) ask(query);
});

// ---- what was left out, by reason

byId("reason")?.addEventListener("change", (event) => {
  for (const row of rowsLeftOut()) row.hidden = Boolean(event.target.value) && row.dataset.reason !== event.target.value;
});

drawPrompt();
follow(location.hash);
document.documentElement.dataset.readyMilliseconds = Math.round(performance.now());
