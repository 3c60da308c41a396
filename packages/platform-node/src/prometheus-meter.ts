import type { ReadableMeter } from '@perdure/ports'
import { METRICS, type MetricSpec } from '@perdure/protocol'
import Counter from '@prometheus-io/client/lib/counter.js'
import Gauge from '@prometheus-io/client/lib/gauge.js'
import Histogram from '@prometheus-io/client/lib/histogram.js'
import Registry from '@prometheus-io/client/lib/registry.js'

/** How many moves wait at most for a reader. */
const MOST_KEPT = 256

type Labels = Readonly<Record<string, string>>
type Move = (labels: Labels, value: number) => void

interface Kept {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/**
 * The metrics of the table in a registry of their own, rendered in the text exposition format 0.0.4. The library gets
 * the moves in batches, at the latest when somebody reads: one between other work takes it four times as long.
 */
export function createPrometheusMeter(): ReadableMeter {
  const registry = new Registry(Registry.PROMETHEUS_CONTENT_TYPE)
  /** By name, in the order of the table. */
  const metrics = new Map<string, { readonly move: Move; readonly text: () => Promise<string> }>()
  const textOf = createTextOf()
  let kept: Kept[] = []

  for (const [name, { type, help, labels: labelNames, buckets }] of Object.entries<MetricSpec>(METRICS)) {
    const options = { name, help, labelNames: [...labelNames], registers: [registry] }
    if (type === 'histogram') {
      const metric = new Histogram({ ...options, ...(buckets === undefined ? {} : { buckets: [...buckets] }) })
      const text = () => registry.getSingleMetricAsString(name)
      metrics.set(name, { move: (labels, value) => metric.observe(labels, value), text })
    } else if (type === 'gauge') {
      const metric = new Gauge(options)
      metrics.set(name, { move: (labels, value) => metric.set(labels, value), text: () => textOf(metric) })
    } else {
      const metric = new Counter(options)
      metrics.set(name, { move: (labels, value) => metric.inc(labels, value), text: () => textOf(metric) })
    }
  }

  const moveAll = () => {
    const moved = kept
    kept = []
    for (const { name, labels, value } of moved) metrics.get(name)?.move(labels, value)
  }

  const keep = (name: string, labels: Labels, value: number) => {
    if (Number.isFinite(value) && kept.push({ name, labels, value }) === MOST_KEPT) moveAll()
  }

  return {
    count(name, labels, by = 1) {
      if (by > 0) keep(name, labels, by)
    },
    observe: keep,
    gauge: keep,
    async expose() {
      moveAll()
      const blocks = await Promise.all(Array.from(metrics.values(), ({ text }) => text()))
      return { contentType: registry.contentType, text: `${blocks.join('\n\n')}\n` }
    },
  }
}

/** The text of a counter or a gauge. Its labels are written once for each series, not at each scrape. */
function createTextOf(): (metric: Counter<string> | Gauge<string>) => Promise<string> {
  /** By what the library keeps for the series. */
  const written = new WeakMap<object, string>()

  const write = (labels: Partial<Record<string, string | number>>): string => {
    const known = written.get(labels)
    if (known !== undefined) return known
    const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value), /[\\\n"]/g)}"`)
    const text = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
    written.set(labels, text)
    return text
  }

  return async (metric) => {
    const { name, help, type, values } = await metric.get()
    let text = `# HELP ${name} ${escaped(help, /[\\\n]/g)}\n# TYPE ${name} ${type}`
    for (const { labels, value } of values)
      text += `\n${name}${write(labels)} ${Number.isFinite(value) ? value : '+Inf'}`
    return text
  }
}

const escaped = (text: string, special: RegExp): string =>
  text.replace(special, (character) => (character === '\n' ? '\\n' : `\\${character}`))
