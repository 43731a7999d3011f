import type { AnnotationQuery, Dashboard, VariableModel } from '@grafana/schema';

// A type of Grafana's as JSON has it: a value of a string's enumeration is that string.
export type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

// A dashboard with what Grafana's Prometheus adds to annotations and variables.
export type Checked = Plain<Omit<Dashboard, 'annotations' | 'templating'>> & {
    annotations: { list: Plain<AnnotationQuery & { expr: string; step: string; titleFormat: string }>[] };
    templating: { list: Plain<VariableModel & { definition?: string }>[] };
};
