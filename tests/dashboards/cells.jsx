// Coloured cells over time, on Grafana's plot, axes and legend: for panels whose own component is
// part of Grafana's server and not published.
import { useMemo } from 'react';
import { formattedValueToString, getFieldDisplayName, getValueFormat } from '@grafana/data';
import { AxisPlacement, ScaleDirection, ScaleOrientation } from '@grafana/schema';
import { UPlotChart, UPlotConfigBuilder, VizLayout, VizLegend } from '@grafana/ui';
import * as schemes from 'd3-scale-chromatic';

function configOf({ rows, times, stepMs, labelAt, downwards, colourOf, gap, theme }) {
    const builder = new UPlotConfigBuilder('utc');
    builder.addScale({
        scaleKey: 'x', isTime: true, orientation: ScaleOrientation.Horizontal,
        direction: ScaleDirection.Right,
        range: () => [times[0] - stepMs / 2, times.at(-1) + stepMs / 2],
    });
    builder.addScale({
        scaleKey: 'y', orientation: ScaleOrientation.Vertical, range: () => [0, rows.length],
        direction: downwards ? ScaleDirection.Down : ScaleDirection.Up,
    });
    builder.addAxis({
        scaleKey: 'x', isTime: true, placement: AxisPlacement.Bottom, timeZone: 'utc', theme,
        grid: { show: false },
    });
    builder.addAxis({
        scaleKey: 'y', placement: AxisPlacement.Left, theme, grid: { show: false }, gap: 16,
        splits: () => rows.map((_, row) => row + labelAt), values: () => rows,
    });
    builder.addSeries({
        scaleKey: 'y', theme, show: true, lineWidth: 0, pathBuilder: () => null,
        pointsBuilder: () => false,
    });
    builder.addHook('draw', (u) => {
        for (let row = 0; row < rows.length; row++) {
            const edges = [u.valToPos(row, 'y', true), u.valToPos(row + 1, 'y', true)];
            const [top, height] = [Math.min(...edges), Math.abs(edges[1] - edges[0])];
            for (let column = 0; column < times.length; column++) {
                const colour = colourOf(row, column);
                if (colour) {
                    const left = u.valToPos(times[column] - stepMs / 2, 'x', true);
                    const right = u.valToPos(times[column] + stepMs / 2, 'x', true);
                    u.ctx.fillStyle = colour;
                    u.ctx.fillRect(left, top, right - left - gap, height - gap);
                }
            }
        }
    });
    return builder;
}

function Cells({ width, height, ...shown }) {
    const config = useMemo(() => configOf(shown), [width, height]);
    const data = [shown.times, shown.times.map(() => null)];
    return <UPlotChart config={config} data={data} width={width} height={height} />;
}

// All times of all frames, and of each row the value at each.
function table(frames) {
    const times = [...new Set(frames.flatMap((frame) => frame.fields[0].values))].sort((a, b) => a - b);
    const values = frames.map((frame) => {
        const at = new Map(frame.fields[0].values.map((time, i) => [time, frame.fields[1].values[i]]));
        return times.map((time) => at.get(time));
    });
    return { times, values };
}

const withUnit = (value, unit) => formattedValueToString(getValueFormat(unit)(value));

// As Grafana's status history: the thresholds where there are several, else the values met.
function legendItems(frames, theme) {
    const { thresholds, unit } = frames[0].fields[1].config;
    if (thresholds.steps.length > 1) {
        return thresholds.steps.map((step, i) => ({
            label: i ? `${withUnit(step.value, unit)}+` : `< ${withUnit(thresholds.steps[1].value, unit)}`,
            color: theme.visualization.getColorByName(step.color), yAxis: 1,
        }));
    }
    const met = new Map(frames.flatMap(({ fields: [, field] }) =>
        field.values.map((value) => [field.display(value).text, field.display(value).color])));
    return [...met].map(([label, color]) => ({ label, color, yAxis: 1 }));
}

export function StatusHistory({ frames, options, width, height, stepMs, theme }) {
    const { times, values } = table(frames);
    if (times.length > width / 2) {
        throw new Error(`${times.length} points: Grafana draws none where they are more than half the pixels`);
    }
    if (frames.length > options.perPage) {
        throw new Error(`${frames.length} rows, of which Grafana shows ${options.perPage}`);
    }
    const legend = (
        <VizLayout.Legend placement={options.legend.placement}>
            <VizLegend placement={options.legend.placement} displayMode={options.legend.displayMode}
                items={legendItems(frames, theme)} />
        </VizLayout.Legend>
    );
    const colourOf = (row, column) => {
        const value = values[row][column];
        return value === undefined ? null : frames[row].fields[1].display(value).color;
    };
    return (
        <VizLayout width={width} height={height} legend={legend}>
            {(w, h) => (
                <Cells width={w} height={h} times={times} stepMs={stepMs} theme={theme} downwards
                    rows={frames.map((frame) => getFieldDisplayName(frame.fields[1], frame, frames))}
                    labelAt={0.5} gap={1} colourOf={colourOf} />
            )}
        </VizLayout>
    );
}

// Each bucket of a histogram has those below it in it.
function buckets(frames) {
    const sorted = frames.toSorted((one, other) => bound(one) - bound(other));
    const { times, values } = table(sorted);
    const own = values.map((row, i) => row.map((value, t) => Math.max(value - (values[i - 1]?.[t] ?? 0), 0)));
    return { sorted, times, own };
}

const bound = (frame) => Number(frame.fields[1].labels.le.replace('+Inf', 'Infinity'));

export function Heatmap({ frames, options, width, height, stepMs, theme }) {
    const { sorted, times, own } = buckets(frames);
    const shown = own.flat().filter((value) => value > options.filterValues.le);
    const [least, most] = [Math.min(...shown), Math.max(...shown)];
    const colours = schemes[`interpolate${options.color.scheme}`];
    const colourOf = (row, column) => {
        const value = own[row][column];
        return value > options.filterValues.le ? colours((value - least) / (most - least || 1)) : null;
    };
    const label = (frame) => (bound(frame) === Infinity ? '+Inf' : withUnit(bound(frame), options.yAxis.unit));
    return (
        <>
            <Cells width={width} height={height - 24} times={times} stepMs={stepMs} theme={theme}
                rows={sorted.map(label)} labelAt={1} gap={options.cellGap} colourOf={colourOf} />
            <Scale least={least} most={most} unit={options.cellValues.unit} colours={colours} />
        </>
    );
}

function Scale({ least, most, unit, colours }) {
    const marks = Array.from({ length: 16 }, (_, i) => colours(i / 15));
    return (
        <div style={{ display: 'flex', gap: 8, fontSize: 12, justifyContent: 'center', alignItems: 'center' }}>
            {withUnit(least, unit)}
            <div style={{ width: 160, height: 8, background: `linear-gradient(to right, ${marks})` }} />
            {withUnit(most, unit)}
        </div>
    );
}
