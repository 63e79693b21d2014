// What was found, to be renamed or merged by hand.

import { make, named } from "./dom.js";

/** A list of events whose names can be changed; `onAgain` hears new names by old ones. */
export function typesPanel(types, onAgain) {
  const note = make("p", { class: "hint", role: "status" });
  const again = make(
    "button",
    { type: "button", disabled: true, onclick: () => onAgain(changed()) },
    "Learn again with these names",
  );
  const fields = types.map((one) =>
    make("input", {
      type: "text",
      value: one.name,
      maxlength: 200,
      "aria-label": `Name of ${one.name.slice(0, 80)}`,
      oninput: () => say(),
    }),
  );
  const changed = () =>
    Object.fromEntries(
      types
        .map((one, at) => [one.name, fields[at].value.trim()])
        .filter(([old, name]) => name && name !== old),
    );
  const say = () => {
    const names = types.map((one, at) => fields[at].value.trim() || one.name);
    const merged = names.length - new Set(names).size;
    const renamed = Object.keys(changed()).length;
    again.disabled = renamed === 0;
    note.textContent = renamed
      ? `${renamed} renamed${merged ? `; ${merged} merged with another of the same name` : ""}.`
      : "";
  };
  return make(
    "details",
    { class: "types" },
    make("summary", {}, `Rename or merge the ${types.length} events`),
    make("p", { class: "hint" }, "Two with the same name become one."),
    make(
      "ul",
      {},
      ...types.map((one, at) =>
        make(
          "li",
          {},
          fields[at],
          make("span", { class: "share" }, `told by ${one.tellings}`),
          one.example ? make("q", {}, named(one.example)) : null,
        ),
      ),
    ),
    note,
    again,
  );
}

/** Names that lead from the first ones to the newest, through those in between. */
export function composed(old, names) {
  const found = { ...names };
  for (const [first, second] of Object.entries(old)) found[first] = names[second] ?? second;
  return found;
}
