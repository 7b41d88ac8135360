// When previews open and close: the pointer rests on a link, the focus comes to it, a finger taps it once;
// both go elsewhere. A tap on the link of an open preview follows it, and a pinned preview stays where it is.
const LINKS = ':is(main, .preview) :is(a.note, a.term), .prose a[href^="#"]:not(.ran, .anchor, .footnote-back, .fnref a)';
const OPEN = 250, GRACE = 300;
let opening, closing, last, touch = false;

const ask = (link, tapped) => link.dispatchEvent(new CustomEvent("garden:preview", { bubbles: true, detail: tapped }));
const leave = (target) => document.dispatchEvent(new CustomEvent("garden:elsewhere", { detail: target }));
const within = (target) => Boolean(target?.closest?.(".preview, a[aria-expanded]"));

const look = (target) => {
  const link = target.closest?.(LINKS), before = last;
  last = target;
  clearTimeout(opening);
  if (link && !link.ariaExpanded) opening = setTimeout(ask, OPEN, link, false);
  if (within(target) || within(before)) { clearTimeout(closing); closing = setTimeout(() => leave(last), GRACE); }
};

document.addEventListener("pointerover", ({ target, pointerType }) => { if (pointerType !== "touch") look(target); });
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(":focus-visible:not([data-closed])")) look(target);
});
document.addEventListener("pointerdown", ({ target, pointerType }) => { touch = pointerType === "touch"; leave(target); });
document.addEventListener("keydown", ({ key }) => { if (key === "Escape") clearTimeout(opening); });

document.addEventListener("click", (event) => {
  const link = event.target.closest("a"), pin = event.target.closest(".preview [data-pin]");
  if (pin) {
    const preview = pin.closest(".preview"), { left, top } = preview.getBoundingClientRect();
    const pinned = preview.toggleAttribute("data-pinned");
    pin.setAttribute("aria-pressed", pinned);
    preview.style.left = `${left + (pinned ? 0 : scrollX)}px`;
    preview.style.top = `${top + (pinned ? 0 : scrollY)}px`;
  } else if (touch && event.detail && link?.matches(LINKS) && !link.ariaExpanded && !event.defaultPrevented) {
    event.preventDefault();
    ask(link, true);
  } else if (link) {
    clearTimeout(opening);
    setTimeout(leave, 0, null);
  }
});
