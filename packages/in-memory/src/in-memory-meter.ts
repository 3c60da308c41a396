import type { Meter } from '@perdure/ports'

export interface InMemoryMeter extends Meter {
  /** Values by `name{label="value",…}`; observations are kept as `name_sum` and `name_count`. */
  readonly values: ReadonlyMap<string, number>
}

/** Keeps metrics in a map for tests to read. */
export function createInMemoryMeter(): InMemoryMeter {
  const values = new Map<string, number>()
  const add = (key: string, by: number) => values.set(key, (values.get(key) ?? 0) + by)

  return {
    values,
    count: (name, labels, by = 1) => void add(seriesOf(name, labels), by),
    observe(name, labels, value) {
      add(seriesOf(`${name}_sum`, labels), value)
      add(seriesOf(`${name}_count`, labels), 1)
    },
    gauge: (name, labels, value) => void values.set(seriesOf(name, labels), value),
  }
}

function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}
