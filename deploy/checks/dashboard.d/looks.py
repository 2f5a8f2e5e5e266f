"""Whether a view fits, is named for screen readers, and can be read."""

# Text that is too faint on what is behind it (WCAG AA), of elements that can be used.
FAINT = """() => {
  const parse = (text) => {
    const found = /^color\\(srgb ([\\d.]+) ([\\d.]+) ([\\d.]+)(?: \\/ ([\\d.]+))?\\)/.exec(text);
    if (found) return [...found.slice(1, 4).map((part) => part * 255), found[4] === undefined ? 1 : Number(found[4])];
    const numbers = text.match(/[\\d.]+/g).map(Number);
    return [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
  };
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color[3] > 0.9) return color;
    }
    return [255, 255, 255, 1];
  };
  const faint = [];
  for (const element of document.querySelectorAll("main *, dialog[open] *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.disabled || element.closest(".unseen, option, canvas")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parse(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) * Number(style.opacity);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: ${element.textContent.slice(0, 30)}`);
  }
  return faint;
}"""
NAMELESS = """() => [...document.querySelectorAll('main button, main a, main input, main select, main textarea, main canvas')]
  .filter((e) => e.checkVisibility() && e.ariaHidden !== 'true' && !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))
  .map((e) => e.outerHTML.slice(0, 90))"""


def check_looks(world, page, name):
    wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1], f"{name} is {wide[0]} wide, has {wide[1]}"
    nameless = page.evaluate(NAMELESS)
    assert not nameless, f"without a name: {nameless}"
    faint = page.evaluate(FAINT)
    assert not faint, f"too faint: {faint}"
    world.picture(page, name)
    world.picture(page, f"{name}-whole", whole=True)


def coloured(tolerance):
    """JavaScript that counts the pixels of a canvas near to a colour of the theme: ([selector, name]) => number."""
    return """([selector, name]) => {
      const canvas = document.querySelector(selector);
      const want = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const rgb = [1, 3, 5].map((at) => parseInt(want.slice(at, at + 2), 16));
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] > 128 && rgb.every((value, k) => Math.abs(data[i + k] - value) < TOLERANCE)) count++;
      }
      return count;
    }""".replace("TOLERANCE", str(tolerance))
