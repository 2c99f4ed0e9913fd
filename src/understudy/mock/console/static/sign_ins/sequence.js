/**
 * Draws a sign-in as a sequence diagram.
 * @module
 */

import { svg } from "../dom.js";

const LANES = ["Client", "Authorization server", "Resource API"];
const WIDTH = 640;
const TOP = 56;
const ROW = 54;
const TEXTS = {
  authorize: ["asks for an authorization", 0, 1],
  "sign-in": ["the person signs in", 0, 1],
  consent: ["the person decides", 0, 1],
  "authorize again": ["the request is continued", 0, 1],
  token: ["exchanges the code", 0, 1],
  call: ["calls with the token", 0, 2],
};

/**
 * @param {any} trace Of `GET /sign-ins`.
 * @param {(request: number) => void} open Shows a request.
 * @returns {SVGElement}
 */
export function sequence({ steps, stopped }, open) {
  const height = TOP + ROW * steps.length + (stopped ? 34 : 10);
  const lane = (index) => 90 + index * ((WIDTH - 180) / (LANES.length - 1));
  const words = steps.map(({ kind, status }) => `${TEXTS[kind][0]} (${status})`).join(", then ");
  return svg("svg", { class: "sequence", viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": `${words}${stopped ? `. ${stopped}` : ""}` },
    LANES.map((name, index) => [
      svg("text", { class: "lane", x: lane(index), y: 22, "text-anchor": "middle" }, name),
      svg("line", { class: "life", x1: lane(index), y1: 34, x2: lane(index), y2: height - 4 }),
    ]),
    steps.map((step, index) => arrows(step, TOP + index * ROW, lane, open)),
    stopped && svg("text", { class: "failed", x: lane(0), y: height - 10, "text-anchor": "middle" }, "✕ stopped"));
}

function arrows({ kind, request, status, returned = [] }, y, lane, open) {
  const [text, from, to] = TEXTS[kind];
  const isRefused = status >= 400;
  const back = returned.length > 0 ? `${status}: ${returned.join(", ")}` : String(status);
  const middle = (lane(from) + lane(to)) / 2;
  return svg("g", { class: "step", onclick: () => open(request) },
    svg("text", { x: middle, y: y - 6, "text-anchor": "middle" }, `${text} · ${request}`),
    arrow(lane(from), lane(to), y, ""),
    svg("text", { class: isRefused ? "failed" : "back", x: middle, y: y + 16, "text-anchor": "middle" }, back),
    arrow(lane(to), lane(from), y + 21, isRefused ? "failed" : "back"));
}

function arrow(from, to, y, kind) {
  const head = to > from ? -7 : 7;
  return svg("path", { class: `arrow ${kind}`, d: `M${from} ${y}H${to}m${head} -4l${-head} 4l${head} 4` });
}
