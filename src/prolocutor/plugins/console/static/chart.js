// A chart by uPlot, which is loaded with the first one; its colours are those of the theme.

import { onTheme } from "./themes.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const STILL = { legend: { show: false }, cursor: { points: { show: false }, y: false, drag: { x: false, y: false } } };

// `data` are columns as uPlot takes them; `build(colour, uPlot)` gives its options, where
// `colour("accent")` is a token's colour now. `label` says in words what is drawn.
export function Chart({ label, data, height, build }) {
  const box = useRef(null);
  const [uPlot, setPlot] = useState(null);
  const [scheme, setScheme] = useState(0);
  const [failed, setFailed] = useState(false);
  const making = useRef(build);
  making.current = build;
  useEffect(() => onTheme(() => setScheme((n) => n + 1)), []);
  useEffect(() => {
    let shown = true;
    import("./vendor/uplot.mjs").then((module) => shown && setPlot(() => module.default), () => shown && setFailed(true));
    return () => (shown = false);
  }, []);
  useEffect(() => {
    const place = box.current;
    if (!uPlot || !place) return undefined;
    const plot = new uPlot({ ...STILL, width: place.clientWidth || 300, height, ...making.current(colours(place), uPlot) }, data, place);
    const watching = new ResizeObserver(() => place.clientWidth && plot.setSize({ width: place.clientWidth, height }));
    watching.observe(place);
    return () => {
      watching.disconnect();
      plot.destroy();
    };
  }, [uPlot, data, scheme, height]);
  return html`<div class="chart" ref=${box} role="img" aria-label=${label} style=${{ minHeight: `${height}px` }}>
    ${failed && html`<p class="faint">The chart did not come.</p>`}</div>`;
}

// The options of an axis in our colours.
export const axis = (colour, more = {}) => ({
  stroke: colour("faint"), font: "11px system-ui, sans-serif", ticks: { show: false },
  grid: { stroke: colour("line"), width: 1 }, ...more,
});

// A canvas takes no variables: have the browser say what each colour is now.
function colours(place) {
  return (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(--${name})`;
    place.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
}
