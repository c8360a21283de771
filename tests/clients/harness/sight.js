// What an eye would complain about. The functions run in the page and answer with words; none means that all is well.

/** Whatever is wider than the window, or than the box that it stands in and cannot be scrolled there. */
export function overflows(page) {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    const found = wide > 0 ? [`the page is ${wide} px wider than the window`] : [];
    for (const element of document.querySelectorAll("main *:not(svg *)")) {
      const { overflowX, display } = getComputedStyle(element);
      const isBox = display !== "inline" && !["auto", "scroll", "hidden", "clip"].includes(overflowX);
      if (isBox && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1) {
        const isOutermost = !element.closest(".scroll") || element.matches(".scroll");
        if (isOutermost) found.push(`${describe(element)}: ${element.scrollWidth} px in ${element.clientWidth}`);
      }
    }
    return found;

    function describe(element) {
      return `${element.tagName.toLowerCase()}.${element.className} "${element.textContent.trim().slice(0, 40)}"`;
    }
  });
}

/**
 * Texts that are too pale for the ground that they stand on: below 4.5 to 1, WCAG 2.2 criterion 1.4.3. A ground that
 * is partly transparent lets what is below it through.
 */
export function pale(page) {
  return page.evaluate(() => {
    const CONTRAST_MIN = 4.5;
    const found = new Set();
    const dot = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      const element = text.parentElement;
      if (text.data.trim() === "" || element.closest("script, style, noscript, button:disabled")) continue;
      if (!element.checkVisibility({ visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      const ink = rgba(element.closest("svg") ? style.fill : style.color);
      const contrast = contrastOf(over(ink, groundOf(element)), groundOf(element));
      if (contrast < CONTRAST_MIN) found.add(`${contrast.toFixed(1)} to 1: "${text.data.trim().slice(0, 40)}"`);
    }
    return [...found];

    function groundOf(element) {
      const below = element.parentElement ? groundOf(element.parentElement) : [255, 255, 255, 1];
      return over(rgba(getComputedStyle(element).backgroundColor), below);
    }

    function over([red, green, blue, alpha], below) {
      return [...[red, green, blue].map((part, at) => part * alpha + below[at] * (1 - alpha)), 1];
    }

    /** In whichever notation it is written: what is painted with it is read. */
    function rgba(color) {
      dot.clearRect(0, 0, 1, 1);
      dot.fillStyle = color;
      dot.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = dot.getImageData(0, 0, 1, 1).data;
      return [red, green, blue, alpha / 255];
    }

    function contrastOf(one, other) {
      const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
      return (light + 0.05) / (dark + 0.05);
    }

    function luminance(color) {
      const [red, green, blue] = color.map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    }
  });
}

/** Charts without a single mark that has an extent and a colour, inside of the chart. `marks` selects a chart's marks. */
export function blank(page, charts, marks) {
  return page.locator(charts).evaluateAll((found, selector) => {
    const shown = found.filter((chart) => chart.checkVisibility());
    if (shown.length === 0) return ["there is no chart at all"];
    const empty = shown.filter((chart) => ![...chart.querySelectorAll(selector)].some(isDrawn));
    return empty.map((chart) => chart.getAttribute("aria-label"));

    function isDrawn(mark) {
      const EXTENT_MIN = 1;
      const { stroke, fill, opacity, visibility } = getComputedStyle(mark);
      const isColoured = [stroke, fill].some((paint) => paint !== "none" && !/, 0\)$/.test(paint));
      const [place, frame] = [mark, mark.ownerSVGElement].map((element) => element.getBoundingClientRect());
      const isAcross = place.left < frame.right && place.right > frame.left;
      const isInside = isAcross && place.top < frame.bottom && place.bottom > frame.top;
      const isVisible = Number(opacity) > 0 && visibility === "visible";
      return place.width + place.height > EXTENT_MIN && isColoured && isInside && isVisible;
    }
  }, marks);
}
