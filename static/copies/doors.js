// The first page of a copy leads on at once: to the language that was chosen last, else to the one the browser prefers.
const doors = new Map([...document.querySelectorAll("[data-door]")].map((door) => [door.dataset.door, door]));
if (doors.size) {
  const chosen = /(?:^|; )language=(\w+)/.exec(document.cookie)?.[1];
  const wanted = [chosen, ...navigator.languages.map((language) => language.slice(0, 2).toLowerCase()), ...doors.keys()];
  location.replace(doors.get(wanted.find((language) => doors.has(language))).href);
}
