// A dashboard's panels, laid out and drawn as its JSON says, with Grafana's components.
import 'uplot/dist/uPlot.min.css';
import { createRoot } from 'react-dom/client';
import { createTheme, dateTime, dateTimeFormat, getFieldDisplayValues } from '@grafana/data';
import { BigValue, GlobalStyles, Icon, PanelChrome, ThemeContext, TimeSeries, VizRepeater } from '@grafana/ui';
import { Heatmap, StatusHistory } from './cells.jsx';
import { fieldConfigOf, framesOf } from './frames.js';

const [WIDTH, MARGIN, COLUMNS, ROW, HEAD] = [1600, 8, 24, 38, 44];  // pixels, as in Grafana
const theme = createTheme({ colors: { mode: 'dark' } });

// As Grafana's own panel does: no scale holds what is not a number.
function finite(frames) {
    const values = (field) => field.values.map((value) => (Number.isFinite(value) ? value : null));
    return frames.map((frame) => ({
        ...frame, fields: frame.fields.map((field) => ({ ...field, values: values(field) })),
    }));
}

function TimeSeriesPanel({ frames, options, width, height, timeRange }) {
    return <TimeSeries frames={finite(frames)} legend={options.legend} options={options} width={width}
        height={height} timeRange={timeRange} timeZone="utc" />;
}

function Stat({ panel, frames, options, width, height }) {
    const values = getFieldDisplayValues({
        data: frames, reduceOptions: options.reduceOptions, fieldConfig: fieldConfigOf(panel), theme,
        sparkline: options.graphMode !== 'none', timeZone: 'utc', replaceVariables: (text) => text,
    });
    const one = ({ value: { display, sparkline }, width: w, height: h }) => (
        <BigValue value={display} sparkline={sparkline} width={w} height={h} theme={theme}
            colorMode={options.colorMode} graphMode={options.graphMode} textMode={options.textMode}
            justifyMode={options.justifyMode} count={values.length} />
    );
    return <VizRepeater getValues={() => values} renderValue={one} source={frames} width={width}
        height={height} orientation={options.orientation} itemSpacing={3} autoGrid />;
}

const KINDS = { timeseries: TimeSeriesPanel, stat: Stat, 'status-history': StatusHistory, heatmap: Heatmap };

function Panel({ panel, answers, stepSeconds, timeRange }) {
    const { x, y, w, h } = panel.gridPos;
    const column = (WIDTH - MARGIN) / COLUMNS;
    const [width, height] = [w * column - MARGIN, h * ROW - MARGIN];
    const frames = framesOf(panel, answers, stepSeconds, theme);
    const Kind = KINDS[panel.type];
    const links = panel.links.length > 0 && <Icon name="external-link-alt" size="sm" />;
    return (
        <div data-panel={panel.id} data-type={panel.type}
            style={{ position: 'absolute', left: MARGIN + x * column, top: HEAD + y * ROW, width, height }}>
            <PanelChrome title={panel.title} description={panel.description} titleItems={links}
                width={width} height={height}>
                {(innerWidth, innerHeight) => frames.length === 0
                    ? <div className="no-data" style={{ textAlign: 'center', padding: 24 }}>
                        {panel.fieldConfig.defaults.noValue ?? 'No data'}
                    </div>
                    : <Kind panel={panel} frames={frames} options={panel.options} width={innerWidth}
                        height={innerHeight} stepMs={stepSeconds * 1000} timeRange={timeRange} theme={theme} />}
            </PanelChrome>
        </div>
    );
}

function Dashboard({ dashboard, answers, start, end }) {
    const [from, to] = [dateTime(start * 1000), dateTime(end * 1000)];
    const timeRange = { from, to, raw: { from, to } };
    const rows = Math.max(...dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
    const time = (at) => dateTimeFormat(at, { timeZone: 'utc', format: 'HH:mm:ss' });
    return (
        <div style={{ position: 'relative', width: WIDTH, height: HEAD + rows * ROW }}>
            <div style={{ padding: '10px 12px', display: 'flex', justifyContent: 'space-between' }}>
                <b>{dashboard.title}</b>
                <span style={{ color: theme.colors.text.secondary }}>
                    {time(from)} to {time(to)} UTC; drawn with Grafana&apos;s components
                </span>
            </div>
            {dashboard.panels.map((panel) => (
                <Panel key={panel.id} panel={panel} answers={answers[panel.id].rows}
                    stepSeconds={answers[panel.id].step} timeRange={timeRange} />
            ))}
        </div>
    );
}

await document.fonts.load('12px Inter');  // axes are as wide as their text
const asked = await (await fetch('answers.json')).json();
createRoot(document.getElementById('root')).render(
    <ThemeContext.Provider value={theme}>
        <GlobalStyles />
        <Dashboard {...asked} />
    </ThemeContext.Provider>,
);
