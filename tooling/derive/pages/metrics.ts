import { METRICS, type MetricSpec } from '@berth/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const metricsPage = (): string =>
  page(
    'Metrics',
    'In the text exposition format 0.0.4 at `/metrics`. Every label has a bounded set of values. A **pending** metric is ' +
      'not exposed yet.',
    table(['Metric', 'Type', 'Labels', 'Meaning', 'State'], Object.entries<MetricSpec>(METRICS).map(toRow)),
  )

const toRow = ([name, { type, labels, help, pending }]: [string, MetricSpec]) => [
  code(name),
  type,
  codes(labels),
  help,
  pending ? '**pending**' : '',
]
