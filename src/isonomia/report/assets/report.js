"use strict";
(function () {
  // ---- pictures: drawings stand in the page; one that the reader explores is drawn again by Plotly -------------------
  var unpacked = null; // the figures and their template, once Plotly is there
  var options = { displayModeBar: false, displaylogo: false, showLink: false, typesetMath: false, responsive: false };
  var NARROW = 560;

  function colour(name) { return getComputedStyle(document.body).getPropertyValue(name).trim(); }
  function copy(value) { return JSON.parse(JSON.stringify(value)); }

  function merge(into, from) {
    Object.keys(from).forEach(function (key) {
      var value = from[key];
      if (value && typeof value === "object" && !Array.isArray(value) && into[key]) merge(into[key], value);
      else into[key] = value;
    });
  }

  function layout(figure, width) {
    var wanted = copy(figure.layout);
    var meta = wanted.meta || {};
    if (width < NARROW && meta.narrow) merge(wanted, meta.narrow);
    var template = copy(unpacked.template);
    template.layout.font.color = colour("--plot-ink");
    ["xaxis", "yaxis"].forEach(function (axis) {
      template.layout[axis].gridcolor = template.layout[axis].linecolor = colour("--plot-line");
    });
    (wanted.annotations || []).forEach(function (note) { if (note.font && note.font.color) note.font.color = colour("--quiet"); });
    (wanted.shapes || []).forEach(function (shape) { shape.line.color = colour("--quiet"); });
    wanted.template = template;
    wanted.width = width;
    return wanted;
  }

  function draw(live) {
    var figure = unpacked.figures[Number(live.dataset.figure)];
    Plotly.react(live, copy(figure.data), layout(figure, live.clientWidth), options);
  }
  function redraw() { if (unpacked) document.querySelectorAll(".explored .live").forEach(draw); }

  // Plotly is packed in the page to keep it small; the page's policy names the hash of what comes out of it
  function unpack(element) {
    var packed = Uint8Array.from(atob(element.textContent), function (letter) { return letter.charCodeAt(0); });
    var stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }
  var loading = null;
  function load() {
    loading = loading || Promise.all(["plotly", "pictures"].map(function (id) { return unpack(document.getElementById(id)); })).then(function (texts) {
      var script = document.createElement("script");
      script.textContent = texts[0];
      document.body.appendChild(script);
      unpacked = JSON.parse(texts[1]);
    });
    return loading;
  }

  document.querySelectorAll(".explore").forEach(function (button) {
    var figure = button.closest("figure");
    var live = figure.querySelector(".live");
    button.addEventListener("click", function () {
      if (figure.classList.contains("explored")) {
        figure.classList.remove("explored");
        button.setAttribute("aria-pressed", "false");
        return;
      }
      load().then(function () {
        figure.classList.add("explored");
        button.setAttribute("aria-pressed", "true");
        draw(live);
      });
    });
    button.hidden = false;
  });

  var wait = null, last = window.innerWidth;
  window.addEventListener("resize", function () {
    if (window.innerWidth === last) return;
    last = window.innerWidth;
    clearTimeout(wait);
    wait = setTimeout(redraw, 150);
  });
  if (window.matchMedia) window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  // ---- on paper everything is open --------------------------------------------------------------------------------
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("main details:not([open])").forEach(function (box) { box.open = true; box.dataset.shut = "1"; });
  });
  window.addEventListener("afterprint", function () {
    document.querySelectorAll("main details[data-shut]").forEach(function (box) { box.open = false; delete box.dataset.shut; });
  });

  // ---- an address within the page opens what it points at -----------------------------------------------------------
  function open() {
    var target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (var box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", open);
  open();
  var contents = document.querySelector("nav details");
  if (contents && window.innerWidth >= 1024) contents.open = true;

  // ---- pairs are shown one at a time, from the rows of their table; texts from data are only ever set as texts --------
  document.querySelectorAll(".browser").forEach(function (browser) {
    var table = document.getElementById(browser.dataset.of).querySelector("table");
    var heads = Array.prototype.map.call(table.tHead.rows[0].cells, function (head) { return head.textContent.trim(); });
    var pairs = Array.prototype.map.call(table.tBodies[0].rows, function (row) {
      return Array.prototype.map.call(row.cells, function (cell) {
        var same = cell.textContent.trim();
        var differs = cell.dataset.before !== undefined;
        return { differs: differs, sides: differs ? [cell.dataset.before, cell.dataset.after] : [same, same] };
      });
    });
    var select = browser.querySelector("select"), body = browser.querySelector("tbody"), status = browser.querySelector(".place");
    var back = browser.querySelector(".back"), on = browser.querySelector(".on");
    var shown = pairs, place = 0, MOST = 40;

    heads.forEach(function (head, column) {
      var values = [];
      pairs.forEach(function (pair) {
        if (pair[column].differs) pair[column].sides.forEach(function (value) {
          if (values.indexOf(value) < 0) values.push(value);
        });
      });
      if (!values.length || values.length > MOST) return;
      var group = document.createElement("optgroup");
      group.label = head;
      values.sort().forEach(function (value) {
        var option = document.createElement("option");
        option.textContent = value;
        option.value = JSON.stringify([column, value]);
        group.appendChild(option);
      });
      select.appendChild(group);
    });

    function cell(kind, text, marked) {
      var made = document.createElement(kind);
      if (kind === "th") made.scope = "row";
      var inner = marked ? made.appendChild(document.createElement("mark")) : made;
      inner.textContent = text;
      return made;
    }
    function show() {
      body.textContent = "";
      status.textContent = status.dataset.words.replace("{place}", shown.length ? place + 1 : 0).replace("{all}", shown.length);
      back.disabled = place <= 0;
      on.disabled = place >= shown.length - 1;
      (shown[place] || []).forEach(function (part, column) {
        var row = document.createElement("tr");
        var head = row.appendChild(cell("th", heads[column], false));
        if (part.differs) {
          var said = head.appendChild(document.createElement("span"));
          said.className = "hidden";
          said.textContent = " (" + body.dataset.differs + ")";
          row.className = "differs";
        }
        part.sides.forEach(function (text) { row.appendChild(cell("td", text, part.differs)); });
        body.appendChild(row);
      });
    }
    function move(by) { place = Math.max(0, Math.min(shown.length - 1, place + by)); show(); }
    back.addEventListener("click", function () { move(-1); });
    on.addEventListener("click", function () { move(1); });
    browser.addEventListener("keydown", function (event) {
      if (event.target === select || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "ArrowLeft") move(-1);
      else if (event.key === "ArrowRight") move(1);
      else return;
      event.preventDefault();
    });
    select.addEventListener("change", function () {
      var wanted = select.value ? JSON.parse(select.value) : null;
      shown = wanted ? pairs.filter(function (pair) {
        return pair[wanted[0]].differs && pair[wanted[0]].sides.indexOf(wanted[1]) >= 0;
      }) : pairs;
      place = 0;
      show();
    });
    browser.hidden = false;
    show();
  });

  // ---- tables are sorted by a click on a heading; what has no value stays last ---------------------------------------
  var comma = document.documentElement.lang.indexOf("pt") === 0;
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var body = table.tBodies[0];
    table.querySelectorAll("thead th").forEach(function (head, column) {
      head.querySelector("button").addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        var rows = Array.prototype.slice.call(body.rows);
        var numeric = head.classList.contains("number");
        // a number as the page's language writes it; what is no number stays last
        function key(row) {
          var text = (row.cells[column].firstChild || {}).textContent || "";
          if (!numeric) return text;
          var bare = text.replace(/[^\d.,e+-]/g, "");
          var plain = comma ? bare.replace(/\./g, "").replace(",", ".") : bare.replace(/,/g, "");
          var value = /inf/.test(text) ? Infinity * (/^-/.test(text) ? -1 : 1) : parseFloat(plain);
          return isNaN(value) ? "" : value;
        }
        rows.sort(function (one, other) {
          var a = key(one), b = key(other);
          if (a === "" || b === "") return (a === "" ? 1 : 0) - (b === "" ? 1 : 0);
          var order = numeric ? (a === b ? 0 : a - b) : a.localeCompare(b);
          return down ? -order : order;
        });
        rows.forEach(function (row) { body.appendChild(row); });
      });
    });
  });
})();
