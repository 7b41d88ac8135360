// The section being read: marked in the contents, and kept by the language switch, as are the widgets' states.
const links = [...document.querySelectorAll(".toc a")];
const headings = [...document.querySelectorAll("main h2[id]")];
const current = () => headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 3);

const mark = () => {
  const here = current();
  for (const link of links)
    if (decodeURIComponent(link.hash.slice(1)) === here?.id) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
};
if (headings.length) {
  new IntersectionObserver(mark, { rootMargin: "0px 0px -66% 0px" }).observe(headings[0]);
  addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
  mark();
}

for (const link of document.querySelectorAll("[data-language]"))
  link.addEventListener("click", () => {
    document.cookie = `language=${link.dataset.language};path=/;max-age=31536000;samesite=lax`;
    if (link.search || document.querySelector(".widget")) link.search = location.search;
    link.hash = current()?.id ?? "";
  });
