// The search of a copy: pagefind looks in its index, part by part; words of Chinese are parted as the browser parts them.
const form = document.querySelector("[data-at]");
const PAGE = 10, PAUSE = 150;

const parted = (words) => {
  const language = document.documentElement.lang;
  if (!language.startsWith("zh") || !Intl.Segmenter) return words;
  return [...new Intl.Segmenter(language, { granularity: "word" }).segment(words)].map(({ segment }) => segment).join(" ");
};

// Where a word is not there, pagefind offers what begins alike; in quotes it does not. So each word is looked for alone
// too, and what lacks one is left out.
const whole = async (pagefind, asked) => {
  const words = parted(asked).replaceAll('"', " ").split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const [all, ...each] = await Promise.all([words.join(" "), ...words.map((word) => `"${word}"`)].map((query) => pagefind.search(query)));
  const held = each.map(({ results }) => new Set(results.map(({ id }) => id)));
  return words.length ? all.results.filter(({ id }) => held.every((ids) => ids.has(id))) : [];
};

if (form) {
  const [box, status, results, more, living] = ["box", "status", "results", "more", "living"].map((id) => document.getElementById(`still-${id}`));
  const bundle = new URL(form.dataset.at, location), root = new URL("../", bundle);
  let index, found = [], asked = "", wait;

  const entry = ({ url, meta, excerpt }) => {
    const item = document.createElement("li"), link = document.createElement("a"), title = document.createElement("h2"), text = document.createElement("p");
    item.className = "entry";
    link.href = new URL(url.replace(/^\//, ""), root);
    link.textContent = meta.title;
    title.append(link);
    text.innerHTML = excerpt; // escaped by pagefind but for its <mark>
    item.append(title, text);
    return item;
  };

  const show = async () => {
    const words = asked, next = await Promise.all(found.slice(results.children.length, results.children.length + PAGE).map((one) => one.data()));
    if (words !== asked) return;
    results.append(...next.map(entry));
    more.hidden = results.children.length >= found.length;
  };

  const look = async () => {
    asked = box.value.normalize("NFKC").trim();
    const words = asked, query = asked && `?${new URLSearchParams({ q: asked })}`;
    history.replaceState(history.state, "", location.pathname + query);
    if (living) living.href = form.dataset.living + query;
    try {
      index ??= import(bundle).then(async (pagefind) => {
        await pagefind.options({ baseUrl: "/", excerptLength: 24 });
        return pagefind;
      });
      const answer = asked ? await whole(await index, asked) : [];
      if (words !== asked) return;
      found = answer;
      results.replaceChildren();
      await show();
      status.textContent = asked && (found.length ? form.dataset.found.replace("{}", found.length) : form.dataset.none);
    } catch {
      status.textContent = form.dataset.lost;
    }
  };

  const soon = (event) => {
    clearTimeout(wait);
    if (!event.isComposing) wait = setTimeout(look, PAUSE);
  };
  form.addEventListener("input", soon);
  form.addEventListener("compositionend", soon);
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(wait); look(); });
  more.addEventListener("click", show);
  box.value = new URLSearchParams(location.search).get("q") ?? "";
  if (box.value) look();
  else box.focus();
}
