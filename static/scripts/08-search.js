// Search: "/" leads to its box, arrows through what was found, Escape back. Results follow the typing, though never a
// composition under way; the address is written when the words are settled: on Enter, or on leaving the box.
const box = document.querySelector("[data-find]"), form = document.querySelector("form[data-search]");
const PAUSE = 80;

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!box || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const stops = [box, ...(form ? document.querySelectorAll("[data-result]") : [])], at = stops.indexOf(target);
  const next = { ArrowDown: stops[at + 1], ArrowUp: stops[at - 1] }[key];
  if (key === "/" && !target.closest("input, textarea, select, [contenteditable]")) {
    event.preventDefault();
    if (!box.checkVisibility()) return box.form.submit();
    box.focus();
    box.select();
  } else if (at >= 0 && key === "Escape") {
    event.preventDefault();
    if (at > 0) box.focus();
    else if (box.value) {
      box.value = "";
      box.dispatchEvent(new Event("input", { bubbles: true }));
    } else box.blur();
  } else if (at >= 0 && next && !event.shiftKey) {
    event.preventDefault();
    next.focus();
  }
});

if (form) {
  const status = document.getElementById("search-status"), results = document.getElementById("search-results");
  let wait;
  const ask = () => {
    clearTimeout(wait);
    wait = setTimeout(() => form.dispatchEvent(new Event("ask")), PAUSE);
  };
  const settle = () => {
    if (!("live" in document.documentElement.dataset)) return;
    const asked = new URLSearchParams([...new FormData(form)].filter(([, text]) => text.trim()));
    history.replaceState(history.state, "", location.pathname + (asked.size ? `?${asked}` : ""));
    document.querySelector("[data-language]").search = location.search;
  };
  form.addEventListener("compositionstart", () => clearTimeout(wait));
  form.addEventListener("input", (event) => event.isComposing || ask());
  form.addEventListener("compositionend", ask);
  form.addEventListener("submit", () => clearTimeout(wait));
  for (const name of ["change", "submit"]) form.addEventListener(name, settle);
  // Who went down into results that are about to be replaced stays on the page.
  form.addEventListener("htmx:before:swap", () => results.contains(document.activeElement) && box.focus());
  form.addEventListener("htmx:error", () => { status.textContent = form.dataset.unreachable; });
}
