// Footnotes beside the lines that refer to them, where the margin is wide and nothing else stands in it.
// They stay where they are in the document: only their place on the screen changes, never the reading order.
const notes = document.querySelector(".footnotes ol"), text = document.querySelector("main.page");
const margin = matchMedia("(min-width: 78rem)");
const GAP = 14;

const arrange = () => {
  const items = [...notes.children], origin = text.getBoundingClientRect();
  text.toggleAttribute("data-sidenotes", margin.matches);
  for (const item of items) item.style.top = "";
  if (!margin.matches) return;
  const blocked = [...text.querySelectorAll(".wide")].map((wide) => wide.getBoundingClientRect());
  let free = 0;
  for (const item of items) {
    const line = document.querySelector(`.fnref a[href="#${CSS.escape(item.id)}"]`).getBoundingClientRect();
    const height = item.offsetHeight;
    let top = Math.max(line.top - origin.top, free);
    for (const { top: from, bottom } of blocked)
      if (top + height + GAP > from - origin.top && top < bottom - origin.top + GAP) {
        const above = from - origin.top - height - GAP;
        top = above >= free ? above : bottom - origin.top + GAP;
      }
    item.style.top = `${top}px`;
    free = top + height + GAP;
  }
};

if (notes) {
  new ResizeObserver(() => requestAnimationFrame(arrange)).observe(text);
  margin.addEventListener("change", arrange);
}
