// The state of a widget: what is shown is stale until the answer to the newest values is there;
// on a commit (release, Enter, preset) the state goes into the address, and is said aloud once.
const newest = new WeakMap();
const widgetOf = (event) => event.target.closest?.(".widget");

const write = (widget, state) => {
  const own = new Set([...widget.querySelectorAll("[data-parameter]")].map((field) => field.name));
  const kept = location.search.slice(1).split("&").filter((part) => part && !own.has(decodeURIComponent(part.split("=")[0])));
  const query = [...kept, ...(state ? [state] : [])].join("&");
  history.replaceState(history.state, "", location.pathname + (query && `?${query}`) + location.hash);
};

// The cells that hold the number that was pressed in the text.
const seek = (widget) => {
  for (const cell of widget.querySelectorAll("td")) cell.toggleAttribute("data-sought", cell.textContent === widget.dataset.sought);
  widget.querySelector("td[data-sought]")?.closest("tr").scrollIntoView({ block: "nearest" });
  delete widget.dataset.sought;
};

for (const name of ["input", "change"])
  document.addEventListener(name, (event) => {
    if (event.target.closest(".widget form[hx-get]")) widgetOf(event).dataset.stale = "";
  });

document.addEventListener("htmx:config:request", (event) => {
  if (widgetOf(event)) newest.set(widgetOf(event), event.detail.ctx);
});

document.addEventListener("htmx:after:swap", (event) => {
  const widget = widgetOf(event);
  if (!widget) return;
  const { ctx } = event.detail, last = newest.get(widget) === ctx;
  const wrong = [...widget.querySelectorAll("[data-problem]")].map((item) => item.dataset.problem);
  for (const field of widget.querySelectorAll("[data-parameter]"))
    for (const [name, value] of [["aria-invalid", "true"], ["aria-describedby", `${widget.id}-problems`]])
      if (wrong.includes(field.dataset.parameter)) field.setAttribute(name, value);
      else if (name === "aria-invalid" || field.getAttribute(name) === value) field.removeAttribute(name);
  if (ctx.response.status !== 200) {
    widget.dataset.stale = "";
    // Nobody else asks again for the last value when the laboratory was full.
    const wait = Number(ctx.response.headers.get("Retry-After"));
    if (last && wait) setTimeout(() => newest.get(widget) === ctx && ctx.sourceElement.requestSubmit(), 1000 * wait);
    return;
  }
  if (!last) return;
  delete widget.dataset.stale;
  const headline = widget.querySelector(".headline");
  for (const preset of widget.querySelectorAll("[data-preset]"))
    if (preset.dataset.state === headline.dataset.state) preset.setAttribute("aria-current", "true");
    else preset.removeAttribute("aria-current");
  if (ctx.sourceEvent.type === "input") return;
  write(widget, headline.dataset.state);
  if (widget.dataset.sought) seek(widget);
  widget.querySelector("[role=status]").textContent = headline.textContent;
});

document.addEventListener("htmx:error", (event) => {
  const widget = widgetOf(event);
  if (widget) widget.querySelector(".problems").textContent = widget.dataset.unreachable;
});
