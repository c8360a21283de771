"use strict";
// The values beside the pointer. Each chart carries them, already in words, in its data-hover attribute.
const box = document.getElementById("values");

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function nearest(places, x) {
  let best = 0;
  for (let index = 1; index < places.length; index++) {
    if (Math.abs(places[index] - x) < Math.abs(places[best] - x)) best = index;
  }
  return best;
}

function show(hover, index, event) {
  box.replaceChildren(element("div", hover.names[index]));
  for (const [name, colour, values] of hover.series) {
    if (values[index] === null) continue;
    const row = element("div", "");
    const swatch = element("i", "");
    swatch.style.background = `var(--${colour})`;
    row.append(swatch, element("span", name), element("b", values[index]));
    box.append(row);
  }
  box.hidden = false;
  const right = event.clientX + 18 + box.offsetWidth > document.documentElement.clientWidth;
  box.style.left = `${event.pageX + (right ? -box.offsetWidth - 14 : 18)}px`;
  box.style.top = `${event.pageY + 14}px`;
}

for (const chart of document.querySelectorAll("svg[data-hover]")) {
  const hover = JSON.parse(chart.dataset.hover);
  const cursor = document.createElementNS(chart.namespaceURI, "line");
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("y1", hover.span[0]);
  cursor.setAttribute("y2", hover.span[1]);
  cursor.setAttribute("visibility", "hidden");
  chart.append(cursor);
  chart.addEventListener("pointermove", (event) => {
    const scale = chart.viewBox.baseVal.width / chart.getBoundingClientRect().width;
    const index = nearest(hover.x, (event.clientX - chart.getBoundingClientRect().left) * scale);
    cursor.setAttribute("x1", hover.x[index]);
    cursor.setAttribute("x2", hover.x[index]);
    cursor.setAttribute("visibility", "visible");
    show(hover, index, event);
  });
  chart.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    box.hidden = true;
  });
}
