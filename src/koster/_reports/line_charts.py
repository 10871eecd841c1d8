"""Line charts as numbers for a template: the points, labels and grid of an SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: The distances of grid lines; a chart has at most five intervals.
_STEPS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_MAX_INTERVALS = 5

#: The average width of a character of an axis, and the height of a line's label.
_CHARACTER = 7.5
_LINE = 19.0
#: The maximum number of moments that get a dot on each line.
_MAX_DOTS = 24


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a chart, and the margins around its plot."""

    width: int
    height: int
    left: int
    right: int
    top: int = 12
    bottom: int = 32


#: A chart with the names of lines at their ends, and one that needs a legend.
WIDE = Frame(width=960, height=400, left=60, right=230)
NARROW = Frame(width=340, height=260, left=48, right=12)


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line: the share at each moment, None where it is missing."""

    name: str
    shares: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    moment: str
    share: float


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line as drawn: ``points`` of the SVG, and where its label is."""

    name: str
    points: str
    dots: Sequence[Dot]
    end: Dot
    label_y: float


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. ``grid``: the height and the share of each line; ``moments``: x, anchor and name."""

    frame: Frame
    grid: Sequence[tuple[float, float]]
    moments: Sequence[tuple[float, str, str]]
    lines: Sequence[DrawnLine]


def chart(moments: Sequence[str], lines: Sequence[ChartLine], frame: Frame) -> Chart:
    """Return a chart of at least one line with at least one share."""
    step, top = scale(max(share for line in lines for share in line.shares if share is not None))
    inner = frame.height - frame.top - frame.bottom
    xs = _positions(len(moments), frame)

    def height(share: float) -> float:
        return round(frame.top + inner * (1 - share / top), 1)

    drawn = []
    for line in lines:
        dots = [
            Dot(x, height(share), moment, share)
            for x, moment, share in zip(xs, moments, line.shares, strict=True)
            if share is not None
        ]
        if dots:
            drawn.append((line.name, dots))
    labels = _spread([dots[-1].y for _, dots in drawn], frame.height - frame.bottom)
    return Chart(
        frame=frame,
        grid=[(height(step * number), step * number) for number in range(round(top / step) + 1)],
        moments=_moment_labels(moments, xs, frame),
        lines=[
            DrawnLine(
                name=name,
                points=" ".join(f"{dot.x:g},{dot.y:g}" for dot in dots),
                dots=dots if len(moments) <= _MAX_DOTS else dots[-1:],
                end=dots[-1],
                label_y=label,
            )
            for (name, dots), label in zip(drawn, labels, strict=True)
        ],
    )


def scale(share: float) -> tuple[float, float]:
    """Return the distance of grid lines and the end of a scale for shares up to ``share``.

    >>> scale(0.405), scale(0.93), scale(0.0)
    ((0.1, 0.5), (0.2, 1.0), (0.0001, 0.0001))
    """
    step = next((each for each in _STEPS if share / each <= _MAX_INTERVALS), _STEPS[-1])
    intervals = max(1, -int(-share / step // 1))
    return step, round(step * intervals, 6)


def small(shares: Sequence[float | None], top: float) -> str:
    """Return the points of a line 100 wide and 20 high, with a margin."""
    width = 96 / max(len(shares) - 1, 1)
    places = [(number, share) for number, share in enumerate(shares) if share is not None]
    return " ".join(
        f"{2 + number * width:.1f},{18 - 16 * share / top:.1f}" for number, share in places
    )


def _positions(count: int, frame: Frame) -> list[float]:
    """Return the position of each moment on the axis."""
    width = frame.width - frame.left - frame.right
    return [round(frame.left + width * number / max(count - 1, 1), 1) for number in range(count)]


def _moment_labels(
    moments: Sequence[str], xs: Sequence[float], frame: Frame
) -> list[tuple[float, str, str]]:
    """Return the labels of the axis: the first, the last and those that fit between them."""
    room = int((frame.width - frame.left - frame.right) / _CHARACTER)
    longest = min(max(map(len, moments)), room // 2 - 2)
    width = _CHARACTER * (longest + 2)
    last = len(moments) - 1
    # The first label begins at its moment, the last one ends there, the others are in the middle.
    found = [(xs[0], "start", shorten(moments[0], longest))]
    free = xs[0] + width
    for place in spread(len(moments), max(2, int(room / (longest + 2))))[1:-1]:
        begin, end = xs[place] - width / 2, xs[place] + width / 2
        if begin >= free and end <= xs[last] - width:
            found.append((xs[place], "middle", shorten(moments[place], longest)))
            free = end
    return [*found, (xs[last], "end", shorten(moments[last], longest))]


def shorten(name: str, length: int) -> str:
    """Cut a name to a length."""
    return name if len(name) <= length else f"{name[: length - 1]}…"


def spread(count: int, most: int) -> list[int]:
    """Return at most ``most`` places of a list, evenly spread, with the first and the last.

    >>> spread(3, 5), spread(60, 4), spread(5, 1)
    ([0, 1, 2], [0, 20, 39, 59], [4])
    """
    if count <= most:
        return list(range(count))
    if most == 1:
        return [count - 1]
    return [round(number * (count - 1) / (most - 1)) for number in range(most)]


def _spread(heights: Sequence[float], bottom: float) -> list[float]:
    """Return the heights of labels near these, so that none covers another."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    found = [0.0] * len(heights)
    least = float("-inf")
    for number in order:
        found[number] = least = max(heights[number], least + _LINE)
    most = bottom
    for number in reversed(order):
        found[number] = round(min(found[number], most), 1)
        most = found[number] - _LINE
    return found
