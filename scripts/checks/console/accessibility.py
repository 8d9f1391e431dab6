"""Automated accessibility checks of WCAG 2.2, levels A and AA."""

CONTROLS = {
    "button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "menuitem",
    "tab", "option", "progressbar", "progressIndicator", "DisclosureTriangle", "PopUpButton", "image", "table", "region",
    "form", "navigation", "list",
}
# Roles that do not need a name.
NAMELESS = {"list", "image"}

CONTRAST = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((v, i) => i === 3 ? v / 255 : v);
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const ground = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    const canvasColour = rgba(matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#ffffff");
    return layers.reverse().reduce((under, top) => over(top, under), canvasColour);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest(".hidden, .skip, option, script, [disabled]")) continue;
    const style = getComputedStyle(element);
    const under = ground(element);
    const [one, other] = [light(over(rgba(style.color), under)), light(under)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const wanted = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if (ratio < wanted) found.push(`${ratio.toFixed(2)} < ${wanted}: ${walker.currentNode.data.trim().slice(0, 40)} (${style.color})`);
  }
  return [...new Set(found)];
})()
"""

FOCUSABLE = """
[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")]
  .filter((e) => !e.disabled && e.checkVisibility())
"""


def problems(page, title, is_phone=False):
    """Describes all accessibility problems of the current page."""
    found = []
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    roles = []
    level = 0
    for node in nodes:
        if node.get("ignored"):
            continue
        role = node.get("role", {}).get("value", "")
        name = node.get("name", {}).get("value", "").strip()
        roles.append(role)
        if role in CONTROLS and role not in NAMELESS and not name:
            found.append(f"a {role} has no name")
        if role == "heading":
            depth = next((p["value"]["value"] for p in node["properties"] if p["name"] == "level"), 0)
            if depth > level + 1:
                found.append(f"heading {name!r} has level {depth} after one of level {level}")
            level = depth
            if not name:
                found.append("a heading is empty")
    for role in ["banner", "navigation", "main", "contentinfo"]:
        if role not in roles:
            found.append(f"no landmark {role}")
    if roles.count("main") != 1:
        found.append(f"{roles.count('main')} main landmarks instead of one")
    page_title = page.evaluate("document.title")
    if "Millrace" not in page_title or len(page_title) < 12:
        found.append(f"the title is not descriptive: {page_title!r}")
    if page.evaluate("document.documentElement.lang") != "en":
        found.append("the page has no lang attribute en")
    if page.evaluate("document.querySelectorAll('h1').length") != 1:
        found.append("the page does not have exactly one h1")
    doubled = page.evaluate(
        "(() => { const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);"
        " return ids.filter((id, i) => ids.indexOf(id) !== i); })()")
    if doubled:
        found.append(f"duplicate ids: {doubled}")
    found += page.evaluate(CONTRAST)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("the page is wider than the screen")
    if is_phone:
        found += page.evaluate(
            "[...document.querySelectorAll('button, select, input:not([type=hidden]):not([type=checkbox])')]"
            ".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 40)"
            ".map((e) => `touch target too small: ${e.outerHTML.slice(0, 60)}`)")
    return [f"{title}: {problem}" for problem in found]


def focus_problems(page, title, most=400):
    """Checks with the Tab key that all controls can be reached, in page order, and show their focus."""
    found = []
    page.evaluate("window.focused = []; document.activeElement.blur(); scrollTo(0, 0)")
    wanted = page.evaluate(f"{FOCUSABLE}.length")
    for _ in range(min(wanted, most)):
        page.press("Tab")
        page.evaluate(
            "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " focused.push([e, e !== document.body && s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0]); })()")
    reached = page.evaluate("new Set(focused.map(([e]) => e)).size")
    if reached < min(wanted, most):
        found.append(f"the Tab key reaches {reached} of {wanted} controls")
    # The page updates itself. An element that an update has replaced meanwhile has no position.
    page.evaluate("window.ordered = focused.map(([e]) => e).filter((e) => e.isConnected)")
    if not page.evaluate(
            "ordered.every((e, i) => i === 0 || ordered[i - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)"):
        found.append("the Tab key does not follow the page order")
    unseen = page.evaluate("focused.filter(([e, seen]) => !seen).map(([e]) => e.outerHTML.slice(0, 60))")
    if unseen:
        found.append(f"no visible focus on {unseen[:3]}")
    return [f"{title}: {problem}" for problem in found]
