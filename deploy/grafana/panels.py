"""What Grafana's dashboards are made of: panels that flow over a grid of 24 columns, as its JSON.

A query's {S} stands for what the variables select: feed and instance.
"""

COLUMNS = 24
RATE = "[$__rate_interval]"
SELECTED = 'feed=~"$feed",instance=~"$instance"'
# Alerts that an instance does not answer have no feed.
ALERTS = 'ALERTS{alertstate="firing",feed=~"$feed|",instance=~"$instance"}'
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}

GREEN, YELLOW, ORANGE, RED, BLUE = "green", "yellow", "orange", "red", "blue"


def query(expr, legend=""):
    return {"expr": expr.replace("{S}", SELECTED), "legendFormat": legend}


def steps(*colours):
    """Thresholds: a colour to begin with, then (from, colour)."""
    first, *others = colours
    return {"mode": "absolute", "steps": [{"color": first, "value": None}] + [
        {"color": colour, "value": value} for value, colour in others]}


def states(**names):
    """A value's text and colour: up=(0, GREEN)."""
    return [{"type": "value", "options": {
        str(value): {"text": text.replace("_", " "), "color": colour, "index": index}
        for index, (text, (value, colour)) in enumerate(names.items())}}]


def link(title, url, **more):
    return {"type": "link", "title": title, "url": url, "icon": "external link", "tooltip": "",
            "tags": [], "asDropdown": False, "targetBlank": False, "includeVars": False,
            "keepTime": False, **more}


class Panel:
    """`alerts`: those of deploy/prometheus that this panel is the first look at; `empty`: what no
    data means."""

    def __init__(self, kind, title, description, unit, queries, width=8, height=7, *,
                 thresholds=None, mappings=None, alerts=(), custom=None, options=None, least=None,
                 most=None, points=None, empty=None):
        self.kind, self.title, self.description = kind, title, description
        self.unit, self.queries = unit, queries
        self.width, self.height = width, height
        self.thresholds = thresholds or steps(GREEN)
        self.mappings, self.alerts = mappings or [], alerts
        self.custom, self.options = custom or {}, options or {}
        self.least, self.most, self.empty = least, most, empty
        self.points = points

    def targets(self):
        given = {"datasource": DATASOURCE, "editorMode": "code", "instant": False, "range": True}
        if self.kind == "heatmap":
            given["format"] = "heatmap"
        return [{"refId": chr(ord("A") + i), **given, **one} for i, one in enumerate(self.queries)]

    def json(self, number, x, y):
        defaults = {"unit": self.unit, "thresholds": self.thresholds, "mappings": self.mappings,
                    "color": {"mode": "palette-classic" if self.kind == "timeseries"
                              else "thresholds"}, "custom": self.custom}
        for name, value in (("min", self.least), ("max", self.most), ("noValue", self.empty)):
            if value is not None:
                defaults[name] = value
        return {
            "id": number, "type": self.kind, "title": self.title, "description": self.description,
            "datasource": DATASOURCE,
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "options": self.options, "targets": self.targets(),
            "links": [link(f"Runbook: {alert}", f"${{runbook}}#{alert.lower()}", targetBlank=True)
                      for alert in self.alerts],
            **({"maxDataPoints": self.points} if self.points else {}),
        }


def stat(title, description, unit, expr, width=4, height=4, **more):
    options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
               "colorMode": "background", "graphMode": "area", "textMode": "auto",
               "justifyMode": "auto", "orientation": "auto", "wideLayout": True,
               "showPercentChange": False, "percentChangeColorMode": "standard"}
    return Panel("stat", title, description, unit, [query(expr)], width, height, options=options, **more)


ONE_IS_SMALL = {"short", "mps", "cps", "pps", "ops", "cpm"}


def lines(title, description, unit, queries, width=12, height=8, *, marked=False, fill=8, log=False,
          least=0, **more):
    """Over time; `marked`: the thresholds are drawn, `fill`: percent of colour below a line. What
    counts does not show a zero as if the next mark were a hundred. A logarithm has no least value."""
    custom = {"lineWidth": 1, "fillOpacity": fill, "showPoints": "never", "spanNulls": False,
              "drawStyle": "line", "lineInterpolation": "linear",
              "scaleDistribution": {"type": "log", "log": 10} if log else {"type": "linear"},
              "thresholdsStyle": {"mode": "line" if marked else "off"}}
    if unit in ONE_IS_SMALL:
        custom["axisSoftMax"] = 1
    options = {"legend": {"displayMode": "table", "placement": "right", "showLegend": True,
                          "calcs": ["lastNotNull", "max"], "sortBy": "Max", "sortDesc": True},
               "tooltip": {"mode": "multi", "sort": "desc"}}
    return Panel("timeseries", title, description, unit, queries, width, height, custom=custom,
                 options=options, least=None if log else least, **more)


def squares(title, description, unit, queries, width=24, height=14, **more):
    """A row each series, a square each time, by the colours of its states or thresholds.

    Grafana draws nothing where the squares are less than two pixels wide, and without a page's
    size turns pages of 20 rows; every row has its name, so it wants 13 pixels of height.
    """
    options = {"rowHeight": 0.9, "colWidth": 0.95, "showValue": "never", "perPage": 400,
               "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True,
                          "calcs": []},
               "tooltip": {"mode": "single", "sort": "none"}}
    return Panel("status-history", title, description, unit, queries, width, height,
                 custom={"fillOpacity": 90, "lineWidth": 0}, options=options, points=100, **more)


def heat(title, description, unit, histogram, width=12, height=8, **more):
    """`histogram`: its buckets, with their labels."""
    options = {"calculate": False, "cellGap": 1, "showValue": "never",
               "color": {"mode": "scheme", "scheme": "Plasma", "steps": 64, "reverse": False,
                         "fill": "dark-orange", "exponent": 0.5},
               "cellValues": {"unit": "cps"},
               "yAxis": {"axisPlacement": "left", "unit": unit, "reverse": False},
               "rowsFrame": {"layout": "auto"}, "filterValues": {"le": 1e-9},
               "legend": {"show": True},
               "exemplars": {"color": "rgba(255,0,255,0.7)"},
               "tooltip": {"mode": "single", "yHistogram": False}}
    buckets = query(f"sum by (le) (rate({histogram}{RATE}))", "{{le}}")
    return Panel("heatmap", title, description, unit, [buckets], width, height, options=options,
                 custom={"scaleDistribution": {"type": "linear"},
                         "hideFrom": {"legend": False, "tooltip": False, "viz": False}}, **more)


def variable(name, label, of, description, metric="pinstrike_running_seconds"):
    """A choice among the values of a metric's label."""
    asked = f"label_values({metric}{{{of}}}, {name})" if of else f"label_values({metric}, {name})"
    return {"type": "query", "name": name, "label": label, "description": description,
            "datasource": DATASOURCE, "definition": asked,
            "query": {"query": asked, "refId": "variable", "qryType": 1},
            "refresh": 2, "sort": 7, "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"text": "All", "value": "$__all"}, "options": [], "hide": 0,
            "regex": "", "skipUrlSync": False}


def variables(own, metric):
    """Those of every dashboard, and its own. `metric`: one that every instance of the dashboard has."""
    return [
        {"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus",
         "description": "Where the feeds are scraped", "current": {"text": "", "value": ""},
         "options": [], "hide": 0, "refresh": 1, "regex": "", "multi": False,
         "includeAll": False, "skipUrlSync": False},
        variable("feed", "Feed", "", "Name of the feed", metric),
        variable("instance", "Instance", 'feed=~"$feed"', "Host and port that is scraped", metric),
        *own,
        {"type": "constant", "name": "runbook", "label": "Runbook",
         "description": "Where RUNBOOK.md is served", "query": "RUNBOOK.md", "hide": 2,
         "current": {"text": "RUNBOOK.md", "value": "RUNBOOK.md"}, "options": [],
         "skipUrlSync": True},
    ]


class Dashboard:
    """`metric`: one that every instance has; dashboards of the same instances pass their variables on."""

    def __init__(self, uid, title, description, panels, own_variables=(), metric="pinstrike_running_seconds"):
        self.uid, self.title, self.description = uid, title, description
        self.panels, self.own_variables, self.metric = panels, own_variables, metric

    def json(self, dashboards):
        placed, x, y, tallest = [], 0, 0, 0
        for number, panel in enumerate(self.panels, start=1):
            if x + panel.width > COLUMNS:
                x, y, tallest = 0, y + tallest, 0
            placed.append(panel.json(number, x, y))
            x, tallest = x + panel.width, max(tallest, panel.height)
        return {
            "uid": self.uid, "title": self.title, "description": self.description,
            "tags": ["pinstrike"], "editable": False, "graphTooltip": 1, "schemaVersion": 39,
            "version": 1, "timezone": "browser", "refresh": "10s", "id": None,
            "time": {"from": "now-30m", "to": "now"}, "fiscalYearStartMonth": 0,
            "liveNow": False, "weekStart": "", "timepicker": {},
            "annotations": {"list": [{
                "name": "Alerts", "enable": True, "hide": False, "iconColor": RED,
                "datasource": DATASOURCE, "titleFormat": "{{alertname}}",
                "expr": ALERTS, "step": "15s"}]},
            "templating": {"list": variables(self.own_variables, self.metric)},
            "links": [link(other.title, f"/d/{other.uid}", keepTime=True,
                           includeVars=other.metric == self.metric, icon="dashboard")
                      for other in dashboards if other.uid != self.uid],
            "panels": placed,
        }
