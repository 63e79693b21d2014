// Small line charts.

import { make } from "./dom.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const [HEIGHT, EDGE] = [130, 12];

function shape(tag, attributes) {
  const found = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  return found;
}

/** A line through `points`, dots at `dots`, both [x, y]; the label says the last value. */
export function chart(place, points, dots, label) {
  const all = [...points, ...dots];
  if (!all.length) return;
  const width = place.clientWidth || 400;
  const values = all.map(([, y]) => y);
  const last = Math.max(...all.map(([x]) => x), 1);
  const [low, high] = [Math.min(0, ...values), Math.max(...values)];
  const at = ([x, y]) => [
    EDGE + ((width - 2 * EDGE) * x) / last,
    HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (y - low)) / (high - low || 1),
  ];
  const svg = shape("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label });
  svg.append(shape("polyline", { points: points.map((point) => at(point).join(",")).join(" ") }));
  for (const dot of dots) {
    const [cx, cy] = at(dot);
    svg.append(shape("circle", { cx, cy, r: 3 }));
  }
  place.replaceChildren(make("p", {}, label), svg);
}
