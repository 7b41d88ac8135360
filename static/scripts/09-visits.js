// What changed since the last visit: the tended date of each note that was read is kept in this browser, and only here.
const KEY = "tended";
const read = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
const seen = read();

for (const line of document.querySelectorAll("[data-since]")) {
  const entry = line.closest("li");
  const known = seen[new URL(entry.querySelector("a[href]").href).pathname];
  const tended = entry.querySelector("time")?.dateTime;
  if (!known || !tended || tended <= known) continue;
  const mark = document.createElement("span");
  mark.className = "since";
  mark.textContent = ` · ${line.dataset.since}`;
  line.append(mark);
}

const tended = document.querySelector("time[data-tended]")?.dateTime;
if (tended) {
  seen[location.pathname] = tended;
  try { localStorage.setItem(KEY, JSON.stringify(seen)); } catch { /* a browser without storage forgets */ }
}
