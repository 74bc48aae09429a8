"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const touch = matchMedia("(pointer: coarse)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const state = { kind: 0, rateIndices: all("select.rate").map((select) => Number(select.value)), off: new Set() };
  const percent = (rate) => `${Number((100 * rate).toPrecision(4))}\u00a0%`;
  const digits = (value) => (Math.abs(value) < 100 ? value.toFixed(3) : value.toFixed(1)).replace("-", "−");
  // Plotly reads names as a kind of HTML.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\n/g, " ");
  const short = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

  // Charts

  const visible = () => data.models.map((look, i) => ({ ...look, i })).filter(({ i }) => !state.off.has(i));
  const ink = (look) => (dark.matches && !printing ? look.dark : look.colour);
  const tint = (hex, alpha) => `rgba(${[1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join(",")},${alpha})`;
  const marker = (look, scale = 1) => ({
    symbol: look.symbol ?? "circle", size: look.size * scale, color: ink(look), line: { color: ink(look), width: look.symbol?.endsWith("-open") ? 1.5 : 0 },
  });
  const said = (look, where, value, low, high) =>
    `<b>${plain(short(look.name))}</b> ${where}<br>${digits(value)}` + (low === null || digits(low) === digits(high) ? "" : `  [${digits(low)}, ${digits(high)}]`);

  function bandOf(look, rates, low, high, alpha) {
    const x = [], y = [];
    for (let from = 0; from < rates.length; from++) {
      if (low[from] === null) continue;
      let to = from;
      while (to + 1 < rates.length && low[to + 1] !== null) to++;
      const there = rates.slice(from, to + 1), top = high.slice(from, to + 1), bottom = low.slice(from, to + 1);
      x.push(...there, ...there.toReversed(), there[0], null);
      y.push(...top, ...bottom.toReversed(), top[0], null);
      from = to;
    }
    return {
      x, y, mode: "lines", fill: "toself", fillcolor: tint(ink(look), alpha), hoverinfo: "skip",
      line: { width: 0, shape: "linear" }, meta: { model: look.i, band: true },
    };
  }

  function curvesOf(lines, size) {
    const rates = lines.x ?? data.kinds[state.kind].rates, looks = visible();
    const gaps = rates.includes(null); // a line may be a point, then
    const alpha = 0.16 * Math.min(1, 7 / Math.max(1, looks.length));
    const bands = lines.low ? looks.map((look) => bandOf(look, rates, lines.low[look.i], lines.high[look.i], alpha)) : [];
    const curves = looks.map((look) => ({
      x: rates, y: lines.y[look.i], name: plain(short(look.name)), opacity: look.opacity, meta: { model: look.i },
      mode: [look.dash && "lines", (look.symbol || gaps) && "markers"].filter(Boolean).join("+") || "lines",
      line: { color: ink(look), width: look.dash ? look.width : 0, dash: look.dash ?? "solid", shape: look.shape },
      marker: marker(look, size), hoverinfo: "text",
      hovertext: rates.map((rate, j) => lines.y[look.i][j] === null ? "" :
        said(look, `at ${percent(rate)}`, lines.y[look.i][j], lines.low?.[look.i][j] ?? null, lines.high?.[look.i][j] ?? null)),
    }));
    return [...bands, ...curves];
  }

  function pointsOf() {
    const r = state.rateIndices[state.kind];
    const lines = data.mean[data.metric][state.kind], seconds = data.seconds[state.kind];
    const bar = (of, i) => of.low && of.low[i][r] !== null
      ? { type: "data", symmetric: false, array: [of.high[i][r] - of.y[i][r]], arrayminus: [of.y[i][r] - of.low[i][r]], thickness: 1.2, width: 3 }
      : undefined;
    return visible().map((look) => {
      const x = seconds.y[look.i][r], y = lines.y[look.i][r];
      return {
        x: [x], y: [y], mode: "markers", name: plain(short(look.name)), marker: marker(look, 1.4), opacity: look.opacity,
        error_x: bar(seconds, look.i), error_y: bar(lines, look.i), meta: { model: look.i }, hoverinfo: "text",
        hovertext: [x === null || y === null ? "" : said(look, `${x.toPrecision(3)} s to fit`, y, null, null)],
      };
    });
  }

  const ticks = [1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 1e4].flatMap((from) => [1, 2, 5].map((by) => Number((from * by).toPrecision(1))));

  function layoutOf(what, narrow) {
    const axis = {
      gridcolor: colour("--grid"), linecolor: colour("--line"), zerolinecolor: colour("--soft"), zerolinewidth: 1,
      automargin: true, fixedrange: touch.matches, title: { standoff: 8 },
    };
    const title = narrow ? data.short[what] : data.labels[what];
    const rates = data.kinds[state.kind].rates, told = [];
    for (const rate of rates) { // as many as there is room for
      if (!told.length || rate - told.at(-1) > (rates.at(-1) - rates[0]) / (narrow ? 6.5 : 11)) told.push(rate);
    }
    const x = what === "time"
      ? { ...axis, type: "log", title: { text: `${data.labels.seconds}, logarithmic scale`, standoff: 8 }, zeroline: false, tickvals: ticks, ticktext: ticks.map(String) }
      : { ...axis, title: { text: "noise rate", standoff: 8 }, zeroline: false, tickvals: told, ticktext: told.map(percent) };
    const y = { ...axis, title: { text: what === "time" ? data.labels[data.metric] : title, standoff: 8 }, zeroline: what === "rla" };
    if (what === "rank") Object.assign(y, { range: [data.models.length + 0.3, 0.7] }, data.models.length < 13 ? { dtick: 1 } : {});
    return {
      xaxis: x, yaxis: y, showlegend: false, hovermode: "closest", dragmode: touch.matches ? false : "zoom",
      margin: { l: 48, r: 12, t: 8, b: 42 }, paper_bgcolor: "transparent", plot_bgcolor: "transparent",
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 12.5, color: colour("--ink") },
      modebar: { bgcolor: "transparent", color: colour("--soft"), activecolor: colour("--ink") },
      hoverlabel: { align: "left", bgcolor: colour("--page"), bordercolor: colour("--line"), font: { color: colour("--ink") } },
      transition: still.matches ? undefined : { duration: 0 },
    };
  }

  const options = {
    responsive: true, displaylogo: false, displayModeBar: touch.matches ? false : "hover",
    modeBarButtons: [["toImage", "resetScale2d"]], // and none that a later version may bring
    toImageButtonOptions: { format: "svg", filename: document.title },
  };
  let printing = false;

  function draw(plot) {
    const what = plot.dataset.chart, set = plot.dataset.set;
    const lines = set === undefined ? data.mean : data.sets[Number(set)];
    const small = plot.closest(".small") !== null;
    const traces = what === "time" ? pointsOf() : curvesOf(lines[what][state.kind], small ? 0.7 : 0.9);
    const layout = layoutOf(what, printing || plot.clientWidth < 420);
    if (printing) Object.assign(layout, { width: small ? 224 : 336, height: small ? 192 : 272 }); // those of the style sheet
    if (!traces.some((trace) => trace.y.some((value, j) => value !== null && trace.x[j] !== null))) {
      layout.xaxis.visible = layout.yaxis.visible = false;
      layout.annotations = [{ text: state.off.size === data.models.length ? "no model is switched on" : "no values", showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5 }];
    }
    Plotly.react(plot, traces, layout, options);
    plot.dataset.drawn = "yes";
    stale.delete(plot);
  }

  const plots = all(".plot"), stale = new Set(plots), near = new Set();
  const drawWhatIsNear = () => near.forEach((plot) => stale.has(plot) && draw(plot));
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) near[isIntersecting ? "add" : "delete"](target);
    drawWhatIsNear();
  }, { rootMargin: "300px" });
  plots.forEach((plot) => watch.observe(plot));
  const redraw = () => { plots.forEach((plot) => stale.add(plot)); drawWhatIsNear(); };
  dark.addEventListener("change", redraw);
  const forPrint = (on) => () => {
    printing = on;
    const visible = plots.filter((plot) => plot.offsetParent !== null);
    visible.forEach(draw);
    if (!on) visible.forEach((plot) => Plotly.Plots.resize(plot)); // it keeps the size on paper otherwise
  };
  addEventListener("beforeprint", forPrint(true));
  addEventListener("afterprint", forPrint(false));

  // Tables

  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (direction) => (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null); // what is missing comes last
    return direction * (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));
  };
  const sortState = (heads, chosen) => {
    const up = chosen.getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    chosen.setAttribute("aria-sort", up ? "ascending" : "descending");
    return up ? 1 : -1;
  };
  const headButton = (head, onClick) => {
    const button = element("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", onClick);
    head.replaceChildren(button);
  };
  // Spaces that do not break, the sign of minus and "40 %" are written as they are typed.
  const searchable = (text) => text.toLowerCase().replace(/\s+/g, " ").replace(/(\d) %/g, "$1%").replace(/−/g, "-");
  const matcher = (typed) => {
    const words = searchable(typed).match(/"[^"]+"?|\S+/g)?.map((word) => word.replace(/^"(?=.)|(?<=.)"$/g, "").trim()) ?? [];
    // 1 is in "set 1" and "10%", but not in 0.812.
    const patterns = words.map((word) => RegExp((/^\d/.test(word) ? "(?<![\\d.])" : "") + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
    return (text) => patterns.every((pattern) => pattern.test(text));
  };
  const filterBox = (label, onInput) => {
    const input = element("input", { type: "search", "aria-label": label, placeholder: "Filter rows", title: 'Rows that hold every word; "several words" stay together' });
    const count = element("span", { role: "status", class: "note" });
    input.addEventListener("input", () => onInput(input.value.trim(), count));
    return [element("div", { class: "tools" }, input, count), count];
  };
  const keyOf = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    return text === "" || text === "–" ? null : text;
  };

  for (const table of all("table.sortable")) {
    const body = table.tBodies[0], heads = all("thead th", table), rows = [...body.rows];
    if (rows.length > 1) heads.forEach((head, column) => headButton(head, () => {
      const inOrder = compare(sortState(heads, head));
      const keyed = rows.map((row) => [keyOf(row.cells[column]), row]);
      body.append(...keyed.sort((a, b) => inOrder(a[0], b[0])).map(([, row]) => row));
    }));
    if (rows.length <= 10) continue;
    const [tools] = filterBox(`Filter the rows of: ${table.caption.textContent}`, (text, count) => {
      const matches = matcher(text);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !matches(searchable([...row.cells].map((cell) => cell.textContent).join(" ")));
        shown += !row.hidden;
      }
      count.textContent = text ? `${shown} of ${rows.length} rows` : "";
    });
    table.parentElement.before(tools);
  }

  // The table of all cells, a page at a time

  const cells = (() => {
    const { dataset, kind, model, columns, titles, errors, error } = data.cells;
    const place = document.getElementById("all-cells"), atOnce = 50;
    const names = Object.keys(columns), n = dataset.length;
    const value = { "data set": (i) => data.datasets[dataset[i]], noise: (i) => data.kinds[kind[i]].name, model: (i) => data.models[model[i]].name,
      error: (i) => errors[error[i]] ?? null };
    const measures = names.filter((name) => !["noise_rate", "realised_rate", "repeat"].includes(name));
    const order = ["data set", "noise", "noise_rate", "realised_rate", "repeat", "model", ...measures, ...(errors.length ? ["error"] : [])];
    const read = (name, i) => (value[name] ? value[name](i) : columns[name][i]);
    const shownAs = (name, found) => found === null ? "–" : name.endsWith("_rate") ? percent(found) : name === "repeat" || typeof found === "string" ? String(found)
      : name.endsWith("_seconds") ? found.toPrecision(3) : name === "leaves" || name === "depth" ? String(Number(found.toPrecision(4))) : digits(found);
    const cellOf = (name, i) => {
      const found = read(name, i);
      if (name === "error") return element("td", { class: "error" }, found ?? "");
      return value[name] ? element("td", { class: "text" }, element("span", { class: "of name" }, found)) : element("td", {}, shownAs(name, found));
    };
    let sorted = [...Array(n).keys()], page = 0, text = "", chosen = [], texts = null;
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All cells" });
    const head = element("tr"), body = element("tbody");
    const heads = order.map((name) => {
      const made = element("th", { scope: "col", ...(value[name] ? {} : { class: "number" }) }, titles[name] ?? name);
      headButton(made, () => {
        const inOrder = compare(sortState(heads, made));
        sorted = sorted.map((i) => [read(name, i), i]).sort((a, b) => inOrder(a[0], b[0])).map(([, i]) => i);
        choose();
      });
      return made;
    });
    head.append(...heads);
    scroll.append(element("table", {}, element("caption", {}, "Scores of every cell"), element("thead", {}, head), body));
    const [tools, count] = filterBox("Filter all cells", (typed) => { text = typed; choose(); });
    const where = element("span", { class: "note" });
    const turn = (label, by) => {
      const button = element("button", { type: "button" }, label);
      button.addEventListener("click", () => { page += by; show(); });
      return button;
    };
    const [first, back, next, last] = [turn("First", -Infinity), turn("Previous", -1), turn("Next", 1), turn("Last", Infinity)];
    place.append(tools, scroll, element("div", { class: "tools pages" }, first, back, next, last, where));

    function choose() {
      if (text && !texts) texts = Array.from({ length: n }, (_, i) => order.map((name) => shownAs(name, read(name, i))).join(" ")).map(searchable);
      const matches = matcher(text);
      chosen = sorted.filter((i) => !state.off.has(model[i]) && (!text || matches(texts[i])));
      count.textContent = chosen.length < n ? `${chosen.length} of ${n} rows` : "";
      page = 0;
      show();
    }
    function show() {
      const pages = Math.max(1, Math.ceil(chosen.length / atOnce));
      page = Math.min(Math.max(page, 0), pages - 1);
      const from = page * atOnce, now = chosen.slice(from, from + atOnce);
      body.replaceChildren(...now.map((i) => element("tr", {}, ...order.map((name) => cellOf(name, i)))));
      where.textContent = chosen.length ? `Rows ${from + 1} to ${from + now.length} of ${chosen.length}` : "No row";
      first.disabled = back.disabled = page === 0;
      next.disabled = last.disabled = page === pages - 1;
    }
    choose();
    return { choose };
  })();

  // What is shown

  const boxes = all("#models input"), shown = document.getElementById("shown");
  function switched() {
    state.off = new Set(boxes.filter((box) => !box.checked).map((box) => Number(box.value)));
    boxes.forEach((box) => document.body.classList.toggle(`off-${box.value}`, !box.checked));
    shown.textContent = state.off.size ? `(${boxes.length - state.off.size} of ${boxes.length})` : "";
    cells.choose();
    redraw();
  }
  boxes.forEach((box) => box.addEventListener("change", switched));
  const setAll = (on) => () => { boxes.forEach((box) => { box.checked = on; }); switched(); };
  document.getElementById("all").addEventListener("click", setAll(true));
  document.getElementById("none").addEventListener("click", setAll(false));

  function choose() {
    for (const part of all("[data-k]")) {
      const k = Number(part.dataset.k), r = part.dataset.l;
      part.hidden = k !== state.kind || (r !== undefined && Number(r) !== state.rateIndices[k]);
    }
    redraw();
  }
  all("input[name=kind]").forEach((radio) => radio.addEventListener("change", () => { state.kind = Number(radio.value); choose(); }));
  all("select.rate").forEach((select) => select.addEventListener("change", () => {
    state.rateIndices[Number(select.dataset.of)] = Number(select.value);
    choose();
  }));
  choose();

  const sets = all("details.set");
  document.getElementById("open").addEventListener("click", () => sets.forEach((set) => { set.open = true; }));
  document.getElementById("close").addEventListener("click", () => sets.forEach((set) => { set.open = false; }));
  if (matchMedia("(max-width: 860px)").matches && boxes.length > 6) document.getElementById("models").open = false;

  document.getElementById("copy").addEventListener("click", async () => {
    const bibtex = document.getElementById("bibtex"), told = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(bibtex.textContent);
      told.textContent = "Copied.";
    } catch {
      bibtex.closest("details").open = true;
      getSelection().selectAllChildren(bibtex);
      told.textContent = "Selected: copy it with the keyboard.";
    }
  });
})();
