// Light or dark: as the system says, until the reader presses the switch; kept in this browser.
const root = document.documentElement;
const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
if (stored()) root.dataset.theme = stored();
for (const button of document.querySelectorAll("[data-theme-switch]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* a browser without storage forgets */ }
  });
}
