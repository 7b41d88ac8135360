// Where the CDN did not answer, take htmx from this site if it carries it; then say that it is there.
// Ranges and everything else that asks the server wait for the event `garden:live`.
const own = document.currentScript.dataset.htmx;
const live = () => {
  document.documentElement.dataset.live = "";
  document.dispatchEvent(new Event("garden:live"));
};
if (window.htmx) queueMicrotask(live);
else if (own) document.head.append(Object.assign(document.createElement("script"), { src: own, onload: live }));
