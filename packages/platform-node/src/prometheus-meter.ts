import type { MetricSeries, ReadableMeter } from '@perdure/ports'
import { METRICS, type MetricSpec } from '@perdure/protocol'
import Counter from '@prometheus-io/client/lib/counter.js'
import Gauge from '@prometheus-io/client/lib/gauge.js'
import Histogram from '@prometheus-io/client/lib/histogram.js'
import Registry from '@prometheus-io/client/lib/registry.js'

/** Upper limit for buffered updates. */
const MAX_BUFFERED = 256

type Labels = Readonly<Record<string, string>>
type Update = (labels: Labels, value: number) => void

interface Exposed {
  readonly update: Update
  readonly series: () => Promise<readonly MetricSeries[]>
  readonly text: () => Promise<string>
}

interface BufferedUpdate {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/**
 * The metrics of the table `METRICS` in their own registry, rendered in the text exposition format 0.0.4. Passes
 * updates to the library in batches, because a single update between other work takes four times as long. Pending
 * updates are passed on before the metrics are read.
 */
export function createPrometheusMeter(): ReadableMeter {
  const registry = new Registry(Registry.PROMETHEUS_CONTENT_TYPE)
  /** By name, in table order. */
  const metrics = new Map<string, Exposed>()
  const textOf = createTextOf()
  let buffered: BufferedUpdate[] = []

  for (const [name, { type, help, labels: labelNames, buckets }] of Object.entries<MetricSpec>(METRICS)) {
    const options = { name, help, labelNames: [...labelNames], registers: [registry] }
    if (type === 'histogram') {
      const metric = new Histogram({ ...options, ...(buckets === undefined ? {} : { buckets: [...buckets] }) })
      const text = async () => (isExposed(name, await metric.get()) ? registry.getSingleMetricAsString(name) : '')
      metrics.set(name, {
        update: (labels, value) => metric.observe(labels, value),
        series: () => seriesOf(metric),
        text,
      })
    } else if (type === 'gauge') {
      const metric = new Gauge(options)
      const text = () => textOf(metric)
      metrics.set(name, { update: (labels, value) => metric.set(labels, value), series: () => seriesOf(metric), text })
    } else {
      const metric = new Counter(options)
      const text = () => textOf(metric)
      metrics.set(name, { update: (labels, value) => metric.inc(labels, value), series: () => seriesOf(metric), text })
    }
  }

  const flush = () => {
    const updates = buffered
    buffered = []
    for (const { name, labels, value } of updates) metrics.get(name)?.update(labels, value)
  }

  const buffer = (name: string, labels: Labels, value: number) => {
    if (Number.isFinite(value) && buffered.push({ name, labels, value }) === MAX_BUFFERED) flush()
  }

  return {
    count(name, labels, by = 1) {
      if (by > 0) buffer(name, labels, by)
    },
    observe: buffer,
    gauge: buffer,
    async series() {
      flush()
      return (await Promise.all(Array.from(metrics.values(), ({ series }) => series()))).flat()
    },
    async expose() {
      flush()
      const blocks = await Promise.all(Array.from(metrics.values(), ({ text }) => text()))
      return { contentType: registry.contentType, text: `${blocks.filter((block) => block !== '').join('\n\n')}\n` }
    },
  }
}

/** The metrics of a server begin with `svc_`. Those of other conventions are left out until they have a value. */
const isExposed = (name: string, { values }: { readonly values: readonly unknown[] }): boolean =>
  name.startsWith('svc_') || values.length > 0

async function seriesOf(metric: Counter<string> | Gauge<string> | Histogram<string>): Promise<readonly MetricSeries[]> {
  const { name, values } = await metric.get()
  return values.map((one) => ({
    name: 'metricName' in one ? String(one.metricName) : name,
    labels: Object.fromEntries(Object.entries(one.labels).map(([label, value]) => [label, String(value)])),
    value: one.value,
  }))
}

/** Renders a counter or a gauge. The labels of each series are formatted once, not at each scrape. */
function createTextOf(): (metric: Counter<string> | Gauge<string>) => Promise<string> {
  /** Formatted labels, keyed by the label object that the library keeps for the series. */
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
