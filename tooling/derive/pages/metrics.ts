import { METRICS, type MetricSpec } from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const metricsPage = (): string =>
  page(
    'Metrics',
    'The metrics that the server exposes at `/metrics` in the text exposition format 0.0.4. The values of every label are bounded: ' +
      'registered ids, route patterns and identifiers from these pages.',
    table(['Metric', 'Type', 'Labels', 'Meaning'], Object.entries<MetricSpec>(METRICS).map(toRow)),
  )

const toRow = ([name, { type, labels, help }]: [string, MetricSpec]) => [code(name), type, codes(labels), help]
