import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { METRICS, type MetricSpec } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { toolPath } from './machine-tools.ts'
import { needsTool } from './needed-tool.ts'

const DEPLOY = join(import.meta.dirname, '../deploy')
const RULES = join(DEPLOY, 'prometheus/perdure.rules.yml')

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/perdure.json'), 'utf8')) as {
  readonly panels: readonly Panel[]
}
const rules = readFileSync(RULES, 'utf8').split('\n')

const queries = [
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...rules.flatMap((line) => (/^\s+expr: (?<expr>.+)$/.exec(line)?.groups?.expr ?? '').trim() || []),
]

/** Every series of the metrics table; a histogram has three. */
const SERIES = new Map<string, readonly string[]>(
  Object.entries<MetricSpec>(METRICS).flatMap(([name, { type, labels }]) => {
    if (type !== 'histogram') return [[name, labels] as const]
    return [
      [`${name}_bucket`, [...labels, 'le']] as const,
      [`${name}_sum`, labels] as const,
      [`${name}_count`, labels] as const,
    ]
  }),
)

/** Labels that the scraper adds. */
const ADDED = ['instance', 'job']

const seriesOf = (query: string) => query.match(/\bsvc_\w+/g) ?? []

const labelsOf = (query: string) => [
  ...[...query.matchAll(/\bby \((?<names>[^)]*)\)/g)].flatMap(({ groups }) => groups?.names?.split(/,\s*/) ?? []),
  ...[...query.matchAll(/\{(?<name>\w+)=/g)].map(({ groups }) => groups?.name ?? ''),
]

describe('the monitoring configuration', () => {
  it('queries a metric in every panel and every alert rule', () => {
    expect(dashboard.panels.length).toBeGreaterThan(10)
    expect(rules.filter((line) => line.includes('alert:'))).toHaveLength(
      rules.filter((line) => line.includes('expr:')).length,
    )
    for (const query of queries) expect(seriesOf(query)).not.toEqual([])
  })

  it.each(queries)('uses only metrics and labels of the metrics table: %s', (query) => {
    const series = seriesOf(query)
    const known = new Set([...series.flatMap((name) => SERIES.get(name) ?? []), ...ADDED])

    expect(series.filter((name) => !SERIES.has(name))).toEqual([])
    expect(labelsOf(query).filter((label) => !known.has(label))).toEqual([])
  })

  it('has no legend with a label that the query removes', () => {
    for (const { targets } of dashboard.panels) {
      for (const { expr, legendFormat } of targets) {
        const shown = [...legendFormat.matchAll(/\{\{(?<name>\w+)\}\}/g)].map(({ groups }) => groups?.name)
        expect(labelsOf(expr)).toEqual(expect.arrayContaining(shown))
      }
    }
  })

  needsTool('promtool').it('contains alert rules that promtool accepts', () => {
    const { status, stderr } = spawnSync(toolPath('promtool'), ['check', 'rules', RULES], { encoding: 'utf8' })

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
