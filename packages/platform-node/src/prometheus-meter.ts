import type { ReadableMeter } from '@berth/ports'
import { METRICS, type MetricSpec } from '@berth/protocol'
import Counter from '@prometheus-io/client/lib/counter.js'
import Gauge from '@prometheus-io/client/lib/gauge.js'
import Histogram from '@prometheus-io/client/lib/histogram.js'
import Registry from '@prometheus-io/client/lib/registry.js'

/** The metrics of the table in a registry of their own, rendered in the text exposition format 0.0.4. */
export function createPrometheusMeter(): ReadableMeter {
  const registry = new Registry(Registry.PROMETHEUS_CONTENT_TYPE)
  const counters = new Map<string, Counter<string>>()
  const histograms = new Map<string, Histogram<string>>()
  const gauges = new Map<string, Gauge<string>>()
  const names: string[] = []
  const textOf = createTextOf()

  for (const [name, { type, help, labels, buckets }] of Object.entries<MetricSpec>(METRICS)) {
    names.push(name)
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    if (type === 'counter') counters.set(name, new Counter(options))
    else if (type === 'gauge') gauges.set(name, new Gauge(options))
    else
      histograms.set(name, new Histogram({ ...options, ...(buckets === undefined ? {} : { buckets: [...buckets] }) }))
  }

  return {
    count(name, labels, by = 1) {
      if (Number.isFinite(by) && by > 0) counters.get(name)?.inc(labels, by)
    },
    observe(name, labels, value) {
      if (Number.isFinite(value)) histograms.get(name)?.observe(labels, value)
    },
    gauge(name, labels, value) {
      if (Number.isFinite(value)) gauges.get(name)?.set(labels, value)
    },
    async expose() {
      const blocks = names.map((name) => {
        const plain = counters.get(name) ?? gauges.get(name)
        return plain === undefined ? registry.getSingleMetricAsString(name) : textOf(plain)
      })
      return { contentType: registry.contentType, text: `${(await Promise.all(blocks)).join('\n\n')}\n` }
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
