"""Grafana's dashboards as TypeScript, so that tsc checks them by the types of @grafana/schema."""

import json

KINDS = {"timeseries": "TimeSeries", "stat": "Stat", "status-history": "StatusHistory",
         "heatmap": "Heatmap"}


def imports():
    lines = ["import type { Checked, Plain } from './plain';"]
    for kind, name in KINDS.items():
        lines.append(f"import type * as {name} from '@grafana/schema/dist/esm/raw/composable/"
                     f"{kind.replace('-', '')}/panelcfg/x/{name}PanelCfg_types.gen';")
    return lines


def typed(dashboard):
    """The whole dashboard, and the options of each panel that only its kind has."""
    lines = imports()
    lines.append(f"export const dashboard: Checked = {json.dumps(dashboard)};")
    for panel in dashboard["panels"]:
        kind, number = KINDS[panel["type"]], panel["id"]
        lines.append(f"export const options{number}: Plain<{kind}.Options> = "
                     f"{json.dumps(panel['options'])};")
        custom = panel["fieldConfig"]["defaults"]["custom"]
        if custom:
            lines.append(f"export const custom{number}: Plain<{kind}.FieldConfig> = "
                         f"{json.dumps(custom)};")
    return "\n".join(lines) + "\n"
