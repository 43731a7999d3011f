"""Charts as SVG: one bar per row, which may have several parts; dots over time; points with the line
through them."""

from xml.sax.saxutils import escape

COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5",
           "#9c6b4e", "#9498a0"]
ROW, LEFT, WIDTH, TOP = 26, 330, 560, 56


def text(x, y, words, anchor="start", size=13, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'font-weight="{weight}" font-family="sans-serif">{escape(words)}</text>')


def bar(x, y, width, colour, title):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{ROW - 8}" '
            f'fill="{colour}"><title>{escape(title)}</title></rect>')


def legend(names, y):
    out, x = [], 16.0
    for name, colour in zip(names, COLOURS):
        out.append(f'<rect x="{x:.1f}" y="{y - 10}" width="11" height="11" fill="{colour}"/>')
        out.append(text(x + 15, y, name, size=12))
        x += 30 + 7.2 * len(name)
    return out


def figure(value):
    """Three significant digits, and all digits before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def page(title, height, parts):
    width = LEFT + WIDTH + 150
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">\n<rect width="100%" height="100%" fill="white"/>\n' +
            text(16, 24, title, size=16, weight="bold") + "\n" + "\n".join(parts) + "\n</svg>\n")


def bars(title, unit, rows):
    """`rows`: (name, value, is it ours)."""
    highest = max(value for _, value, _ in rows)
    parts = []
    for i, (name, value, ours) in enumerate(rows):
        y = TOP + i * ROW
        length = WIDTH * value / highest
        parts += [text(LEFT - 8, y + 14, name, "end"),
                  bar(LEFT, y, length, COLOURS[0] if ours else COLOURS[9], f"{value:.4g} {unit}"),
                  text(LEFT + length + 6, y + 14, f"{figure(value)} {unit}")]
    return page(title, TOP + len(rows) * ROW + 12, parts)


def stacked(title, unit, names, rows):
    """`rows`: (name, {part: value}); values below 0 (noise) are left out."""
    highest = max(sum(max(value, 0) for value in values.values()) for _, values in rows)
    parts = legend(names, TOP - 8)
    for i, (row, values) in enumerate(rows):
        y, x = TOP + 10 + i * ROW, float(LEFT)
        parts.append(text(LEFT - 8, y + 14, row, "end"))
        for name, colour in zip(names, COLOURS):
            length = WIDTH * max(values.get(name, 0), 0) / highest
            if length > 0:
                parts.append(bar(x, y, length, colour, f"{name}: {values[name]:.1f} {unit}"))
            x += length
        parts.append(text(x + 6, y + 14, f"{sum(values.values()):.0f} {unit}"))
    return page(title, TOP + len(rows) * ROW + 30, parts)


def dots(title, unit, samples, mark):
    """`samples`: (seconds, value); a line at `mark`."""
    height, left = 240, 70
    width = LEFT + WIDTH + 100 - left
    last, highest = max(at for at, _ in samples) or 1, 1.1 * max(value for _, value in samples)

    def y(value):
        return TOP + height * (1 - value / highest)

    parts = []
    for value in [*range(0, int(highest), 100), mark]:
        dashes = ' stroke-dasharray="4 4"' if value == mark else ""
        parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
                     f'stroke="#9498a0" stroke-width="{1 if value == mark else 0.4}"{dashes}/>')
        if value != mark:
            parts.append(text(left - 8, y(value) + 4, f"{value} {unit}", "end", 12))
    parts += [f'<circle cx="{left + width * at / last:.1f}" cy="{y(value):.1f}" r="1.6" '
              f'fill="{COLOURS[0 if value < mark else 2]}"/>' for at, value in samples]
    parts += [text(left + width * second / last, TOP + height + 18, f"{second} s", "middle", 12)
              for second in range(0, int(last) + 1, 10)]
    return page(title, TOP + height + 34, parts)


def ticks(highest):
    """Five to ten round values up to `highest`."""
    step = next(digit * 10 ** power for power in range(-3, 9) for digit in (1, 2, 5)
                if highest / (digit * 10 ** power) <= 8)
    return [step * i for i in range(int(highest / step) + 1)]


def line(title, across, points, offset, slope):
    """`points`: (x, y), from 0 on both axes; and the line offset + slope * x."""
    height, left = 300, 70
    width = LEFT + WIDTH + 100 - left
    last = 1.05 * max(x for x, _ in points)
    highest = 1.1 * max(max(y for _, y in points), offset + slope * last)

    def place(x, y):
        return left + width * x / last, TOP + height * (1 - y / highest)

    parts = []
    for value in ticks(highest):
        _, y = place(0, value)
        parts += [f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#9498a0" '
                  'stroke-width="0.4"/>', text(left - 8, y + 4, figure(value), "end", 12)]
    parts += [text(place(value, 0)[0], TOP + height + 18, f"{value:,.0f}", "middle", 12)
              for value in ticks(last)]
    (x1, y1), (x2, y2) = place(0, offset), place(last, offset + slope * last)
    parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{COLOURS[2]}" '
                 'stroke-width="1.5"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[0]}"/>'
              for x, y in (place(*point) for point in points)]
    parts.append(text(left + width, TOP + height + 36, across, "end", 12))
    return page(title, TOP + height + 50, parts)
