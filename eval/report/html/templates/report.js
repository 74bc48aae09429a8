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
  // Plotly interprets text as HTML.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\n/g, " ");
  const short = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

  // Charts

  const visible = () => data.models.map((style, i) => ({ ...style, i })).filter(({ i }) => !state.off.has(i));
  const ink = (style) => (dark.matches && !printing ? style.dark : style.colour);
  const tint = (hex, alpha) => `rgba(${[1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join(",")},${alpha})`;
  const marker = (style, scale = 1) => ({
    symbol: style.symbol ?? "circle", size: style.size * scale, color: ink(style), line: { color: ink(style), width: style.symbol?.endsWith("-open") ? 1.5 : 0 },
  });
  const hoverText = (style, where, value, low, high) =>
    `<b>${plain(short(style.name))}</b> ${where}<br>${digits(value)}` + (low === null || digits(low) === digits(high) ? "" : `  [${digits(low)}, ${digits(high)}]`);

  function bandOf(style, rates, low, high, alpha) {
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
      x, y, mode: "lines", fill: "toself", fillcolor: tint(ink(style), alpha), hoverinfo: "skip",
      line: { width: 0, shape: "linear" }, meta: { model: style.i, band: true },
    };
  }

  function curvesOf(lines, size) {
    const rates = lines.x ?? data.kinds[state.kind].rates, styles = visible();
    const gaps = rates.includes(null); // then a line may be a single point
    const alpha = 0.16 * Math.min(1, 7 / Math.max(1, styles.length));
    const bands = lines.low ? styles.map((style) => bandOf(style, rates, lines.low[style.i], lines.high[style.i], alpha)) : [];
    const curves = styles.map((style) => ({
      x: rates, y: lines.y[style.i], name: plain(short(style.name)), opacity: style.opacity, meta: { model: style.i },
      mode: [style.dash && "lines", (style.symbol || gaps) && "markers"].filter(Boolean).join("+") || "lines",
      line: { color: ink(style), width: style.dash ? style.width : 0, dash: style.dash ?? "solid", shape: style.shape },
      marker: marker(style, size), hoverinfo: "text",
      hovertext: rates.map((rate, j) => lines.y[style.i][j] === null ? "" :
        hoverText(style, `at ${percent(rate)}`, lines.y[style.i][j], lines.low?.[style.i][j] ?? null, lines.high?.[style.i][j] ?? null)),
    }));
    return [...bands, ...curves];
  }

  function pointsOf() {
    const r = state.rateIndices[state.kind];
    const lines = data.mean[data.metric][state.kind], seconds = data.seconds[state.kind];
    const bar = (of, i) => of.low && of.low[i][r] !== null
      ? { type: "data", symmetric: false, array: [of.high[i][r] - of.y[i][r]], arrayminus: [of.y[i][r] - of.low[i][r]], thickness: 1.2, width: 3 }
      : undefined;
    return visible().map((style) => {
      const x = seconds.y[style.i][r], y = lines.y[style.i][r];
      return {
        x: [x], y: [y], mode: "markers", name: plain(short(style.name)), marker: marker(style, 1.4), opacity: style.opacity,
        error_x: bar(seconds, style.i), error_y: bar(lines, style.i), meta: { model: style.i }, hoverinfo: "text",
        hovertext: [x === null || y === null ? "" : hoverText(style, `${x.toPrecision(3)} s to fit`, y, null, null)],
      };
    });
  }

  const ticks = [1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 1e4].flatMap((from) => [1, 2, 5].map((by) => Number((from * by).toPrecision(1))));

  function layoutOf(quantity, narrow) {
    const axis = {
      gridcolor: colour("--grid"), linecolor: colour("--line"), zerolinecolor: colour("--soft"), zerolinewidth: 1,
      automargin: true, fixedrange: touch.matches, title: { standoff: 8 },
    };
    const title = narrow ? data.short[quantity] : data.labels[quantity];
    const rates = data.kinds[state.kind].rates, tickRates = [];
    for (const rate of rates) { // as many ticks as fit
      if (!tickRates.length || rate - tickRates.at(-1) > (rates.at(-1) - rates[0]) / (narrow ? 6.5 : 11)) tickRates.push(rate);
    }
    const x = quantity === "time"
      ? { ...axis, type: "log", title: { text: `${data.labels.seconds} (log scale)`, standoff: 8 }, zeroline: false, tickvals: ticks, ticktext: ticks.map(String) }
      : { ...axis, title: { text: "noise rate", standoff: 8 }, zeroline: false, tickvals: tickRates, ticktext: tickRates.map(percent) };
    const y = { ...axis, title: { text: quantity === "time" ? data.labels[data.metric] : title, standoff: 8 }, zeroline: quantity === "rla" };
    if (quantity === "rank") Object.assign(y, { range: [data.models.length + 0.3, 0.7] }, data.models.length < 13 ? { dtick: 1 } : {});
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
    modeBarButtons: [["toImage", "resetScale2d"]], // an explicit list, since later versions may add buttons
    toImageButtonOptions: { format: "svg", filename: document.title },
  };
  let printing = false;

  function draw(plot) {
    const quantity = plot.dataset.chart, set = plot.dataset.set;
    const lines = set === undefined ? data.mean : data.sets[Number(set)];
    const small = plot.closest(".small") !== null;
    const traces = quantity === "time" ? pointsOf() : curvesOf(lines[quantity][state.kind], small ? 0.7 : 0.9);
    const layout = layoutOf(quantity, printing || plot.clientWidth < 420);
    if (printing) Object.assign(layout, { width: small ? 224 : 336, height: small ? 192 : 272 }); // as in the style sheet
    if (!traces.some((trace) => trace.y.some((value, j) => value !== null && trace.x[j] !== null))) {
      layout.xaxis.visible = layout.yaxis.visible = false;
      layout.annotations = [{ text: state.off.size === data.models.length ? "no models selected" : "no values", showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5 }];
    }
    Plotly.react(plot, traces, layout, options);
    plot.dataset.drawn = "yes";
    stale.delete(plot);
  }

  const plots = all(".plot"), stale = new Set(plots), near = new Set();
  const drawNearby = () => near.forEach((plot) => stale.has(plot) && draw(plot));
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) near[isIntersecting ? "add" : "delete"](target);
    drawNearby();
  }, { rootMargin: "300px" });
  plots.forEach((plot) => watch.observe(plot));
  const redraw = () => { plots.forEach((plot) => stale.add(plot)); drawNearby(); };
  dark.addEventListener("change", redraw);
  const forPrint = (on) => () => {
    printing = on;
    const visible = plots.filter((plot) => plot.offsetParent !== null);
    visible.forEach(draw);
    if (!on) visible.forEach((plot) => Plotly.Plots.resize(plot)); // otherwise it keeps the print size
  };
  addEventListener("beforeprint", forPrint(true));
  addEventListener("afterprint", forPrint(false));

  // Tables

  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (direction) => (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null); // missing values come last
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
  // Normalise no-break spaces, minus signs and "40 %" to what a user types.
  const searchable = (text) => text.toLowerCase().replace(/\s+/g, " ").replace(/(\d) %/g, "$1%").replace(/−/g, "-");
  const matcher = (typed) => {
    const words = searchable(typed).match(/"[^"]+"?|\S+/g)?.map((word) => word.replace(/^"(?=.)|(?<=.)"$/g, "").trim()) ?? [];
    // 1 matches "set 1" and "10%", but not 0.812.
    const patterns = words.map((word) => RegExp((/^\d/.test(word) ? "(?<![\\d.])" : "") + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
    return (text) => patterns.every((pattern) => pattern.test(text));
  };
  const filterBox = (label, onInput) => {
    const input = element("input", { type: "search", "aria-label": label, placeholder: "Filter rows", title: 'Shows the rows that contain every word; put phrases in "quotation marks"' });
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
    const [tools] = filterBox(`Filter rows: ${table.caption.textContent}`, (text, count) => {
      const matches = matcher(text);
      let matching = 0;
      for (const row of rows) {
        row.hidden = !matches(searchable([...row.cells].map((cell) => cell.textContent).join(" ")));
        matching += !row.hidden;
      }
      count.textContent = text ? `${matching} of ${rows.length} rows` : "";
    });
    table.parentElement.before(tools);
  }

  // The table of all cells, in pages

  const cells = (() => {
    const { dataset, kind, model, columns, titles, errors, error } = data.cells;
    const container = document.getElementById("all-cells"), pageSize = 50;
    const names = Object.keys(columns), n = dataset.length;
    const value = { "data set": (i) => data.datasets[dataset[i]], "kind of noise": (i) => data.kinds[kind[i]].name, model: (i) => data.models[model[i]].name,
      error: (i) => errors[error[i]] ?? null };
    const measures = names.filter((name) => !["noise_rate", "realised_rate", "repeat"].includes(name));
    const order = ["data set", "kind of noise", "noise_rate", "realised_rate", "repeat", "model", ...measures, ...(errors.length ? ["error"] : [])];
    const read = (name, i) => (value[name] ? value[name](i) : columns[name][i]);
    const formatted = (name, found) => found === null ? "–" : name.endsWith("_rate") ? percent(found) : name === "repeat" || typeof found === "string" ? String(found)
      : name.endsWith("_seconds") ? found.toPrecision(3) : name === "leaves" || name === "depth" ? String(Number(found.toPrecision(4))) : digits(found);
    const cellOf = (name, i) => {
      const found = read(name, i);
      if (name === "error") return element("td", { class: "error" }, found ?? "");
      return value[name] ? element("td", { class: "text" }, element("span", { class: "of name" }, found)) : element("td", {}, formatted(name, found));
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
    scroll.append(element("table", {}, element("caption", {}, "Scores of all cells"), element("thead", {}, head), body));
    const [tools, count] = filterBox("Filter all cells", (typed) => { text = typed; choose(); });
    const position = element("span", { class: "note" });
    const turn = (label, by) => {
      const button = element("button", { type: "button" }, label);
      button.addEventListener("click", () => { page += by; show(); });
      return button;
    };
    const [first, back, next, last] = [turn("First", -Infinity), turn("Previous", -1), turn("Next", 1), turn("Last", Infinity)];
    container.append(tools, scroll, element("div", { class: "tools pages" }, first, back, next, last, position));

    function choose() {
      if (text && !texts) texts = Array.from({ length: n }, (_, i) => order.map((name) => formatted(name, read(name, i))).join(" ")).map(searchable);
      const matches = matcher(text);
      chosen = sorted.filter((i) => !state.off.has(model[i]) && (!text || matches(texts[i])));
      count.textContent = chosen.length < n ? `${chosen.length} of ${n} rows` : "";
      page = 0;
      show();
    }
    function show() {
      const pages = Math.max(1, Math.ceil(chosen.length / pageSize));
      page = Math.min(Math.max(page, 0), pages - 1);
      const from = page * pageSize, now = chosen.slice(from, from + pageSize);
      body.replaceChildren(...now.map((i) => element("tr", {}, ...order.map((name) => cellOf(name, i)))));
      position.textContent = chosen.length ? `Rows ${from + 1} to ${from + now.length} of ${chosen.length}` : "No rows";
      first.disabled = back.disabled = page === 0;
      next.disabled = last.disabled = page === pages - 1;
    }
    choose();
    return { choose };
  })();

  // Controls

  const boxes = all("#models input"), modelCount = document.getElementById("model-count");
  function updateModels() {
    state.off = new Set(boxes.filter((box) => !box.checked).map((box) => Number(box.value)));
    boxes.forEach((box) => document.body.classList.toggle(`off-${box.value}`, !box.checked));
    modelCount.textContent = state.off.size ? `(${boxes.length - state.off.size} of ${boxes.length})` : "";
    cells.choose();
    redraw();
  }
  boxes.forEach((box) => box.addEventListener("change", updateModels));
  const setAll = (on) => () => { boxes.forEach((box) => { box.checked = on; }); updateModels(); };
  document.getElementById("all").addEventListener("click", setAll(true));
  document.getElementById("none").addEventListener("click", setAll(false));

  function showChoice() {
    for (const part of all("[data-k]")) {
      const k = Number(part.dataset.k), r = part.dataset.l;
      part.hidden = k !== state.kind || (r !== undefined && Number(r) !== state.rateIndices[k]);
    }
    redraw();
  }
  all("input[name=kind]").forEach((radio) => radio.addEventListener("change", () => { state.kind = Number(radio.value); showChoice(); }));
  all("select.rate").forEach((select) => select.addEventListener("change", () => {
    state.rateIndices[Number(select.dataset.of)] = Number(select.value);
    showChoice();
  }));
  showChoice();

  const sets = all("details.set");
  document.getElementById("open").addEventListener("click", () => sets.forEach((set) => { set.open = true; }));
  document.getElementById("close").addEventListener("click", () => sets.forEach((set) => { set.open = false; }));
  if (matchMedia("(max-width: 860px)").matches && boxes.length > 6) document.getElementById("models").open = false;

  document.getElementById("copy").addEventListener("click", async () => {
    const bibtex = document.getElementById("bibtex"), status = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(bibtex.textContent);
      status.textContent = "Copied.";
    } catch {
      bibtex.closest("details").open = true;
      getSelection().selectAllChildren(bibtex);
      status.textContent = "Text selected; copy it with the keyboard.";
    }
  });
})();
