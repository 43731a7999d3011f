// Prometheus' answers as Grafana's data frames, with all that a panel's fieldConfig says.
import { applyFieldOverrides, FieldConfigOptionsRegistry, FieldType, toDataFrame } from '@grafana/data';

// Grafana ignores what no registry names: so each key of the JSON is named here.
function registry(defaults) {
    const item = (path, isCustom) => ({
        id: isCustom ? `custom.${path}` : path, name: path, path, isCustom,
        process: (value) => value, shouldApply: () => true,
    });
    const { custom = {}, ...plain } = defaults;
    const items = [...Object.keys(plain).map((key) => item(key, false)),
        ...Object.keys(custom).map((key) => item(key, true))];
    return new FieldConfigOptionsRegistry(() => items);
}

// JSON has no -Infinity; Grafana puts it back where it loads a dashboard.
export function fieldConfigOf(panel) {
    const config = structuredClone(panel.fieldConfig);
    for (const step of config.defaults.thresholds?.steps ?? []) {
        step.value ??= -Infinity;
    }
    return config;
}

function legend(format, labels) {
    return format
        ? format.replace(/{{\s*(\w+)\s*}}/g, (_, label) => labels[label] ?? label)
        : JSON.stringify(labels);
}

const number = (text) => ({ '+Inf': Infinity, '-Inf': -Infinity })[text] ?? Number(text);

function frameOf(target, row, stepSeconds) {
    const times = row.values.map(([seconds]) => seconds * 1000);
    return toDataFrame({
        refId: target.refId,
        fields: [
            { name: 'Time', type: FieldType.time, config: { interval: stepSeconds * 1000 }, values: times },
            {
                name: 'Value', type: FieldType.number, labels: row.metric,
                config: { displayNameFromDS: legend(target.legendFormat, row.metric) },
                values: row.values.map(([, text]) => number(text)),
            },
        ],
    });
}

// `answers`: of each target, by its refId, the rows of a range query.
export function framesOf(panel, answers, stepSeconds, theme) {
    const data = panel.targets.flatMap((target) =>
        answers[target.refId].map((row) => frameOf(target, row, stepSeconds)));
    const fieldConfig = fieldConfigOf(panel);
    return applyFieldOverrides({
        data, fieldConfig, theme, timeZone: 'utc', replaceVariables: (text) => text,
        fieldConfigRegistry: registry(fieldConfig.defaults),
    });
}
