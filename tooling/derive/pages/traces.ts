import { SPAN_ATTRIBUTES, SPANS, type SpanAttributeSpec, type SpanSpec } from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const tracesPage = (): string =>
  page(
    'Traces',
    'The spans that the server creates when `telemetry.traces` is on (see the [guide](../guides/tracing.md)), and their possible ' +
      'attributes: names, ids, counts and codes, never an input, a result, an error text or a secret. A span that ' +
      'ends with an error has the status `ERROR` without a message, and the attribute `error.type`.',
    table(['Span', 'Kind', 'Attributes', 'Meaning'], Object.values<SpanSpec>(SPANS).map(toRow)),
    table(
      ['Attribute', 'Type', 'Meaning'],
      Object.entries<SpanAttributeSpec>(SPAN_ATTRIBUTES).map(([name, { type, help }]) => [code(name), type, help]),
    ),
  )

const toRow = ({ title, kind, fixed, attributes, help }: SpanSpec) => [
  code(title),
  kind,
  codes([...Object.entries(fixed).map(([name, value]) => `${name}=${value}`), ...attributes]),
  help,
]
