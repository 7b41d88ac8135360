// Sends the traces with progress and puts the report into the page; without scripts the form does the same more plainly.
{
  const form = document.querySelector("[data-compare]");
  const status = document.getElementById("compare-status");
  const report = document.getElementById("compare-report");
  const button = form?.querySelector("button");
  const bar = form?.querySelector("progress");
  let asked = null;

  const say = (words, share) => {
    status.textContent = words.replace("{}", Math.floor(share * 100));
    bar.value = share;
  };
  const over = (html, wrong) => {
    button.disabled = false;
    bar.hidden = true;
    asked = null;
    status.replaceChildren();
    if (wrong) status.innerHTML = html;
    else report.innerHTML = html;
    (wrong ? status : report).scrollIntoView({ block: "start" });
    if (!wrong) report.focus({ preventScroll: true });
  };
  const plain = (words) => {
    over("", true);
    status.textContent = words;
  };
  // The lines that have come so far; the last may be in the middle.
  const follow = (request) => {
    const lines = request.responseText.split("\n").slice(0, -1);
    const last = lines.length ? JSON.parse(lines[lines.length - 1]) : null;
    if (last?.html !== undefined) return last;
    if (last?.of) say(form.dataset.reading, Math.min(last.read / last.of, 1));
    return null;
  };

  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    if (asked) return;
    const sent = new FormData(form);
    const size = [...sent.values()].reduce((sum, value) => sum + (value.size ?? 0), 0);
    if (size > Number(form.dataset.limit)) return plain(form.dataset.large.replace("{}", form.dataset.limit >> 20));
    asked = new XMLHttpRequest();
    asked.open("POST", form.action);
    asked.setRequestHeader("Accept", "application/x-ndjson");
    button.disabled = true;
    bar.hidden = false;
    report.replaceChildren();
    say(form.dataset.sending, 0);
    asked.upload.onprogress = (told) => told.lengthComputable && say(form.dataset.sending, told.loaded / told.total);
    asked.onprogress = () => asked.status === 200 && follow(asked);
    asked.onerror = asked.onabort = () => plain(form.dataset.failed);
    asked.onload = () => {
      const request = asked;
      if (request.status !== 200) return over(request.responseText, true);
      const last = follow(request);
      if (last) over(last.html, last.status !== 200);
      else plain(form.dataset.failed);
    };
    asked.send(sent);
  });

  // Files may be dropped anywhere on the field's paragraph.
  for (const side of form?.querySelectorAll(".side:has([type=file])") ?? []) {
    const input = side.querySelector("input");
    const held = (event) => event.dataTransfer?.types.includes("Files");
    side.addEventListener("dragover", (event) => held(event) && (event.preventDefault(), input.classList.add("over")));
    side.addEventListener("dragleave", () => input.classList.remove("over"));
    side.addEventListener("drop", (event) => {
      if (!held(event)) return;
      event.preventDefault();
      input.classList.remove("over");
      input.files = event.dataTransfer.files;
    });
  }
}
