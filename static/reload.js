// Loaded by `perennial serve --reload` alone. The page is loaded again when its bytes have changed, and stays where it is;
// while the content has faults, they stand at its foot.
const look = async () => {
  const { headers } = await fetch(location.href, { method: "HEAD", cache: "no-store", headers: { Accept: "text/html" } });
  return headers.get("etag")?.replaceAll('"', "");
};
const [page] = performance.getEntriesByType("navigation");
const { edits, etag } = Object.fromEntries((page?.serverTiming ?? []).map(({ name, description }) => [name, description]));
const shown = edits ? etag : await look(); // some browsers tell a page of it over HTTPS alone
let seen = edits;

// What stands on the screen: each block by its words, with its place there and on the page.
const blocks = () => [...document.querySelectorAll("main :is(h1, h2, h3, h4, p, li, dt, dd, pre, tr, figure)")]
  .filter((one) => one.offsetParent && one.textContent.trim() && !one.closest(".toc, .footnotes, .result")) // which stand still
  .map((one) => ({ words: one.textContent, top: one.getBoundingClientRect().top, height: one.offsetHeight }));
const opened = () => [...document.querySelectorAll("main details")].map((one) => [one.querySelector("summary")?.textContent, one.open]);

const again = () => {
  const visible = blocks().filter(({ top, height }) => top + height > 0 && top < innerHeight);
  const place = { href: location.href, y: scrollY, visible, opened: opened() };
  if (shown) sessionStorage.setItem("place", JSON.stringify(place)); // not of the page that says there is none
  history.scrollRestoration = "manual";
  location.reload();
};

const place = JSON.parse(sessionStorage.getItem("place"));
if (shown) sessionStorage.removeItem("place");
if (place?.href === location.href) {
  for (const one of document.querySelectorAll("main details")) {
    const at = place.opened.findIndex(([summary]) => summary === one.querySelector("summary")?.textContent);
    if (at >= 0) one.open = place.opened.splice(at, 1)[0][1];
  }
  const now = blocks();
  const far = (was, is) => Math.abs(was.top + place.y - is.top - scrollY);
  const moved = place.visible.flatMap((was) => {
    const [is] = now.filter(({ words }) => words === was.words).sort((a, b) => far(was, a) - far(was, b));
    return is ? [scrollY + is.top - was.top] : [];
  });
  scrollTo({ top: moved[0] ?? place.y, behavior: "instant" });
  addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto")));
}

const tell = (faults) => {
  document.getElementById("faults")?.remove();
  if (!faults.length) return;
  const list = Object.assign(document.createElement("ul"), { id: "faults", className: "problems", role: "alert" });
  Object.assign(list.style, { position: "fixed", inset: "auto 0 0", margin: 0, padding: "1rem 2rem", background: "Canvas", zIndex: 99, borderTop: "3px solid", maxHeight: "40vh", overflow: "auto" });
  list.append(...faults.map((fault) => Object.assign(document.createElement("li"), { textContent: fault, lang: "en" })));
  document.body.append(list);
};

const told = async ({ data }) => {
  const { edits, faults } = JSON.parse(data);
  const waits = "faults" in document.documentElement.dataset;
  if (!waits) tell(faults);
  seen ??= String(edits);
  if (String(edits) === seen) return;
  if (waits || (!faults.length && (!shown || (await look()) !== shown))) return again();
  seen = String(edits);
};

// Hidden pages let go of their stream and ask when they are seen again: a browser has six for all pages of a site.
let stream;
const follow = () => {
  stream?.close();
  stream = document.hidden ? undefined : new EventSource("/api/reload");
  stream?.addEventListener("message", told);
};
document.addEventListener("visibilitychange", follow);
follow();
