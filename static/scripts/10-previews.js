// Previews of notes, sections and concepts, opened beside their links and closed again; 10-previews-when.js says when.
// A preview stands right after its link, so Tab leads into it, and what it opens itself stays with it.
const GAP = 6;
const asked = new Map(), shown = new Map();
let count = 0;

const still = "copy" in document.documentElement.dataset; // there each preview is a file

const address = ({ pathname, hash }) => {
  const section = hash && `section=${hash.slice(1).replaceAll("&", "%26").replaceAll("+", "%2B")}`;
  return still ? `${pathname}preview/${section && `${section}/`}` : `${pathname}/preview${section && `?${section}`}`;
};

const fragment = (from) => {
  const lost = () => { asked.delete(from); return ""; };
  if (!asked.has(from)) asked.set(from, fetch(from).then((answer) => (answer.ok ? answer.text() : lost()), lost));
  return asked.get(from);
};

// Below the link or above it, where there is room, never over it; it scrolls with the text until it is pinned.
const place = (link, preview) => {
  const lines = [...link.getClientRects()], wide = document.documentElement.clientWidth;
  const above = lines[0].top - 2 * GAP, below = innerHeight - lines.at(-1).bottom - 2 * GAP;
  const under = preview.offsetHeight <= below || below >= above, line = lines.at(under ? -1 : 0);
  preview.style.maxHeight = `${Math.min(under ? below : above, preview.offsetHeight)}px`;
  preview.style.left = `${scrollX + Math.max(GAP, Math.min(line.left, wide - preview.offsetWidth - GAP))}px`;
  preview.style.top = `${scrollY + (under ? line.bottom + GAP : line.top - GAP - preview.offsetHeight)}px`;
};

const open = async (link, tapped) => {
  const box = document.createElement("template"), from = address(link);
  box.innerHTML = await fragment(from);
  if (still) // and its links start from there
    for (const name of ["href", "src"])
      for (const inner of box.content.querySelectorAll(`[${name}]`))
        inner.setAttribute(name, new URL(inner.getAttribute(name), new URL(from, location)));
  const preview = box.content.firstElementChild;
  if (!preview && tapped) location.assign(link.href);
  if (!preview || shown.has(link) || !(tapped || link.matches(":hover, :focus"))) return;
  tidy(link);
  link.after(preview);
  for (const inner of preview.querySelectorAll("a[href]")) // so the states of this page stay as they are
    if (inner.pathname === location.pathname && inner.hash && !inner.search) inner.setAttribute("href", inner.hash);
  shown.set(link, preview);
  preview.showPopover();
  place(link, preview);
  preview.querySelector(".excerpt").id = `preview-${++count}`;
  for (const [name, value] of [["expanded", "true"], ["describedby", `preview-${count}`]]) link.setAttribute(`aria-${name}`, value);
  link.dataset.title = link.title; // the browser would show it on top of the preview
  link.removeAttribute("title");
};

const close = (link) => {
  const preview = shown.get(link), inside = preview.contains(document.activeElement);
  for (const inner of shown.keys()) if (preview.contains(inner)) close(inner);
  shown.delete(link);
  preview.remove();
  for (const name of ["aria-expanded", "aria-describedby"]) link.removeAttribute(name);
  if (link.dataset.title) link.title = link.dataset.title;
  link.dataset.closed = ""; // the focus comes back without opening it again
  if (inside) link.focus({ preventScroll: true });
  delete link.dataset.closed;
};

const kept = (preview) => preview.matches(":has(:focus-visible), [data-pinned], :has([data-pinned])");
const tidy = (at) => {
  for (const [link, preview] of shown) if (!kept(preview) && !link.contains(at) && !preview.contains(at)) close(link);
};

document.addEventListener("garden:preview", ({ target, detail }) => open(target, detail));
document.addEventListener("garden:elsewhere", ({ detail }) => tidy(detail));
document.addEventListener("keydown", ({ key }) => {
  const links = [...shown.keys()], last = links.findLast((link) => !shown.get(link).matches("[data-pinned]")) ?? links.at(-1);
  if (key === "Escape" && last) close(last);
});
document.addEventListener("click", ({ target }) => {
  const preview = target.closest("[data-close]")?.closest(".preview");
  if (preview) close([...shown].find(([, one]) => one === preview)[0]);
});
