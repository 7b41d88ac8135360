// The controls of a widget: a range moves its text field and the other way round;
// a preset, or a number of the text that was computed, puts a whole state into the fields.
const fields = (widget) => [...widget.querySelectorAll("form [data-parameter]")];

const follow = (text) => {
  const range = text.form.querySelector(`[data-for="${CSS.escape(text.id)}"]`);
  const value = (text.value || text.placeholder || "").normalize("NFKC").replace("\u2212", "-").trim();
  if (range && value !== "" && Number.isFinite(Number(value))) range.value = Number(value);
};

const enter = (widget, href) => {
  const asked = new URL(href, location).searchParams;
  const base = JSON.parse(widget.dataset.base);
  for (const field of fields(widget)) {
    field.value = asked.get(field.name) ?? base[field.name];
    follow(field);
  }
  widget.querySelector("form").dispatchEvent(new Event("change", { bubbles: true }));
};

document.addEventListener("garden:live", () => {
  for (const range of document.querySelectorAll(".widget [data-for]")) {
    range.hidden = false;
    follow(document.getElementById(range.dataset.for));
  }
});

document.addEventListener("input", ({ target }) => {
  if (target.dataset.for) document.getElementById(target.dataset.for).value = target.value;
  else if (target.dataset.parameter) follow(target);
}, true);

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-preset], a.ran");
  if (!link || !("live" in document.documentElement.dataset) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const widget = link.closest(".widget") ?? document.getElementById(link.hash.slice(1));
  if (!widget?.matches(".widget") || new URL(link.href).pathname !== location.pathname) return;
  event.preventDefault();
  if (link.matches(".ran")) {
    // Back leads to the sentence again, as it would from a page of its own.
    if (!link.id) link.id = `ran-${[...document.querySelectorAll("a.ran")].indexOf(link)}`;
    history.replaceState(history.state, "", `#${link.id}`);
    history.pushState(null, "", `#${widget.id}`);
    widget.dataset.sought = link.firstChild.textContent.trim();
    widget.focus();
  }
  enter(widget, link.href);
});
