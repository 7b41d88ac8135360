// The concept network: typing filters its nodes, kinds are switched off, the counter says what is left; the lines of a
// node stand out while it is pointed at or focused.
for (const network of document.querySelectorAll("[data-network]")) {
  const filter = network.querySelector("[data-filter]"), counter = network.querySelector("[data-shown]");
  const nodes = [...network.querySelectorAll("[data-node]")], edges = [...network.querySelectorAll("[data-from]")];
  const entries = [...network.querySelectorAll("[data-entry]")];
  const update = () => {
    const off = [...network.querySelectorAll("[data-kind-switch]:not(:checked)")].map((box) => box.value);
    const wanted = filter.value.normalize("NFKC").toLowerCase().trim();
    const shown = new Set();
    for (const node of nodes) {
      const hidden = off.includes(node.dataset.kind) || !node.dataset.words.normalize("NFKC").toLowerCase().includes(wanted);
      node.toggleAttribute("data-off", hidden);
      if (!hidden) shown.add(node.dataset.node);
    }
    for (const edge of edges)
      edge.toggleAttribute("data-off", off.includes(edge.dataset.kind) || !shown.has(edge.dataset.from) || !shown.has(edge.dataset.to));
    for (const entry of entries) entry.hidden = !shown.has(entry.dataset.entry);
    counter.textContent = `${shown.size} / ${counter.dataset.shown}`;
  };
  network.querySelector("[data-tools]").hidden = false;
  const pan = network.querySelector(".pan");
  pan.scrollLeft = (pan.scrollWidth - pan.clientWidth) / 2;
  network.addEventListener("keydown", (event) => {
    if (event.key === "Escape") event.target.closest(".node")?.querySelector(".close").click();
  });
  const light = (event) => {
    const pressed = event.target.closest("[data-node]")?.dataset.node;
    for (const edge of edges) edge.toggleAttribute("data-lit", [edge.dataset.from, edge.dataset.to].includes(pressed));
  };
  for (const kind of ["pointerover", "pointerleave", "focusin"]) network.addEventListener(kind, light);
  network.addEventListener("input", (event) => { if (!event.isComposing) update(); });
  network.addEventListener("compositionend", update);
}
