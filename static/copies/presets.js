// A preset, pressed in a note, shows its state in place: what stands on the preset's own page is taken over from there.
const PARTS = [".result", ".values", ".rows > .scroll", ".provenance"];
const asked = new Map();

const page = async (href) => {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(answer.statusText);
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const link of found.querySelectorAll(".widget a[href]"))
    link.setAttribute("href", new URL(link.getAttribute("href"), answer.url));
  return found.querySelector(".widget");
};

document.addEventListener("click", async (event) => {
  const preset = event.target.closest("a[data-preset]"), widget = preset?.closest(".page:not(.tool) .widget");
  if (!widget || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  widget.dataset.wanted = preset.dataset.state;
  try {
    if (!asked.has(preset.href)) asked.set(preset.href, page(preset.href));
    const shown = await asked.get(preset.href);
    if (widget.dataset.wanted !== preset.dataset.state) return;
    for (const part of PARTS) widget.querySelector(part).replaceChildren(...shown.querySelector(part).cloneNode(true).childNodes);
  } catch {
    return location.assign(preset.href);
  }
  for (const one of widget.querySelectorAll("a[data-preset]")) one.removeAttribute("aria-current");
  preset.setAttribute("aria-current", "true");
  widget.querySelector("[role=status]").textContent = widget.querySelector(".headline").textContent;
});
