// How far a job is: seconds across, share of the work up, and when it will probably be done.

import { make } from "./dom.js";

const WIDTH = 560;
const HEIGHT = 150;
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 12, 10, 34];
const LEAST_KNOWN = 0.02; // of the work before anything is said about the rest

const svg = (tag, attributes, ...children) => {
  const found = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...children);
  return found;
};

export class Progress {
  constructor(place) {
    this.place = place;
    this.left = make("p", { class: "left" });
    this.chart = svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": "Share of the work that is done, by seconds",
    });
    place.replaceChildren(this.chart, this.left);
  }

  /** `seconds` is how long ago the job began. */
  begin(seconds) {
    this.began = performance.now() - 1000 * seconds;
    this.points = [];
    this.ends = 0;
    this.place.hidden = false;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.draw(), 500);
    this.draw();
  }

  stage({ at, begins, ends }) {
    this.points.push([at, begins]);
    this.ends = ends;
    this.draw();
  }

  end() {
    clearInterval(this.timer);
    this.place.hidden = true;
  }

  get seconds() {
    return (performance.now() - this.began) / 1000;
  }

  /** When all will be done, if the work goes on as it did; null as long as nothing is known.
   *
   * What comes before the first stage, the worker getting ready, says nothing about the rest.
   */
  estimate() {
    const [at, share] = this.points.at(-1) ?? [0, 0];
    const [began] = this.points[0] ?? [0];
    return share < LEAST_KNOWN ? null : began + (at - began) / share;
  }

  draw() {
    const now = this.seconds;
    const whole = this.estimate();
    const last = this.points.at(-1) ?? [0, 0];
    // Within a stage nothing is known: the line goes on as before, but not beyond its end.
    const [began] = this.points[0] ?? [0];
    const going = whole === null ? 0 : (now - began) / Math.max(whole - began, 0.001);
    const share = Math.min(going, Math.max(this.ends - 0.01, last[1]));
    const longest = Math.max(5, now * 1.1, whole ?? 0, (now - began) / Math.max(share, 0.1));
    const x = (seconds) => LEFT + (seconds / longest) * (WIDTH - LEFT - RIGHT);
    const y = (part) => HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
    const line = [[0, 0], ...this.points, [now, share]].map(([at, part]) => `${x(at)},${y(part)}`);
    const end =
      whole === null ? null : Math.max(whole, now + ((now - began) * (1 - share)) / share);
    this.chart.replaceChildren(
      ...[0, 0.5, 1].map((part) =>
        svg(
          "g",
          { class: "grid" },
          ...[
            svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(part), y2: y(part) }),
            svg("text", { x: LEFT - 6, y: y(part) + 4, "text-anchor": "end" }, `${100 * part}%`),
          ],
        ),
      ),
      ...ticks(longest).map((at) =>
        svg("text", { x: x(at), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, String(at)),
      ),
      svg(
        "text",
        { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 3, "text-anchor": "middle" },
        "seconds",
      ),
      ...(end === null
        ? []
        : [
            svg("polyline", {
              class: "ahead",
              points: `${x(now)},${y(share)} ${x(Math.min(end, longest))},${y(1)}`,
            }),
          ]),
      svg("polyline", { class: "done", points: line.join(" ") }),
    );
    this.left.textContent =
      end === null
        ? `${Math.round(now)} s so far.`
        : `${Math.round(100 * share)}% after ${Math.round(now)} s; about ${Math.max(1, Math.round(end - now))} s more.`;
  }
}

function ticks(longest) {
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 300].find((size) => longest / size <= 7) ?? 600;
  return Array.from({ length: Math.floor(longest / step) + 1 }, (_, number) => number * step);
}
