// Loaded by `perennial serve --reload` alone. The page is loaded again when its bytes have changed, and stays where it is;
// while the content has faults, they stand at its foot.
const [shown] = performance.getEntriesByType("navigation").map(({ serverTiming = [] }) =>
  Object.fromEntries(serverTiming.map(({ name, description }) => [name, description])));
let seen = Number(shown?.edits ?? 0);

const changed = async () => {
  const answer = await fetch(location.href, { method: "HEAD", cache: "no-store", headers: { Accept: "text/html" } });
  const etag = answer.headers.get("etag")?.replaceAll('"', "");
  return !etag || etag !== shown?.etag;
};

const above = () => [...document.querySelectorAll("main [id]")].filter((one) => one.getBoundingClientRect().top < innerHeight / 3).at(-1);

const again = () => {
  const anchor = above();
  sessionStorage.setItem("place", JSON.stringify([location.href, anchor?.id, anchor?.getBoundingClientRect().top, scrollY]));
  history.scrollRestoration = "manual";
  location.reload();
};

const [href, id, top, y] = JSON.parse(sessionStorage.getItem("place") ?? "[]");
sessionStorage.removeItem("place");
if (href === location.href) {
  const anchor = id && document.getElementById(id);
  scrollTo({ top: anchor ? scrollY + anchor.getBoundingClientRect().top - top : y, behavior: "instant" });
  history.scrollRestoration = "auto";
}

const tell = (faults) => {
  document.getElementById("faults")?.remove();
  if (!faults.length) return;
  const list = Object.assign(document.createElement("ul"), { id: "faults", className: "problems", role: "alert" });
  Object.assign(list.style, { position: "fixed", inset: "auto 0 0", margin: 0, padding: "1rem 2rem", background: "Canvas", zIndex: 99, borderTop: "3px solid", maxHeight: "40vh", overflow: "auto" });
  list.append(...faults.map((fault) => Object.assign(document.createElement("li"), { textContent: fault, lang: "en" })));
  document.body.append(list);
};

new EventSource("/api/reload").addEventListener("message", async ({ data }) => {
  const { edits, faults } = JSON.parse(data);
  const waits = "faults" in document.documentElement.dataset;
  if (!waits) tell(faults);
  if (edits === seen) return;
  if (waits || (!faults.length && (await changed()))) return again();
  seen = edits;
});
