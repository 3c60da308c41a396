import type { ReadableMeter } from '@berth/ports'
import { METRICS, type MetricSpec } from '@berth/protocol'
import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'

/** The metrics of the table in a registry of their own, rendered in the text exposition format 0.0.4. */
export function createPrometheusMeter(): ReadableMeter {
  const registry = new Registry(Registry.PROMETHEUS_CONTENT_TYPE)
  const counters = new Map<string, Counter<string>>()
  const histograms = new Map<string, Histogram<string>>()
  const gauges = new Map<string, Gauge<string>>()

  for (const [name, { type, help, labels, buckets }] of Object.entries<MetricSpec>(METRICS)) {
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
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}
