"use strict";
// Sorts tables by their titles, filters samples, and opens what a link leads to. Without it the page shows all.
(() => {
  const LEVELS = { pass: 0, warn: 1, fail: 2 };
  const valueOf = (row, column) => {
    const text = row.cells[column].textContent.trim();
    if (text === "" || text === "\u2013") return null;
    if (text in LEVELS) return LEVELS[text];
    const number = Number(text.replaceAll(",", ""));
    return Number.isNaN(number) ? text : number;
  };
  const compared = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  const sort = (table, column, sign) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
    rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compared(a, b)));
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const titles = [...table.tHead.rows[0].cells];
    titles.forEach((title, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title.textContent;
      title.replaceChildren(button);
      button.addEventListener("click", () => {
        const isUp = title.getAttribute("aria-sort") !== "ascending";
        titles.forEach((other) => other.removeAttribute("aria-sort"));
        title.setAttribute("aria-sort", isUp ? "ascending" : "descending");
        sort(table, column, isUp ? 1 : -1);
      });
    });
  }
  const samples = document.getElementById("samples");
  if (samples) {
    const [text, level, count] = ["text", "verdict", "count"].map((name) => document.getElementById("filter-" + name));
    const filter = () => {
      const words = text.value.toLowerCase().split(/\s+/);
      let shown = 0;
      for (const row of samples.tBodies[0].rows) {
        const own = row.textContent.toLowerCase();
        const isShown =
          words.every((word) => own.includes(word)) && (!level.value || row.cells[1].textContent === level.value);
        row.hidden = !isShown;
        document.querySelector(row.querySelector("a").getAttribute("href")).hidden = !isShown;
        shown += isShown;
      }
      count.textContent = `${shown} of ${samples.tBodies[0].rows.length} samples`;
    };
    text.addEventListener("input", filter);
    level.addEventListener("change", filter);
    document.querySelector(".filter").hidden = false;
    filter();
  }
  const open = () => {
    const target = location.hash && document.querySelector(location.hash + " > details");
    if (target) target.open = true;
  };
  window.addEventListener("hashchange", open);
  open();
})();
