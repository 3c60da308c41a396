import { METRICS } from '@perdure/protocol'
import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import { Chart } from '../metrics/chart.tsx'
import { Card, Empty, Heading, Shown } from '../parts/basics.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

const HOUR_MS = 3_600_000
const MEASURES = { 'per-minute': 'per minute', p95: '95th percentile', value: '' } as const

/** The metrics of this server over the last hour. */
export function MetricsPage() {
  const { client } = useApp()
  const [text, setText] = useState('')
  const loaded = useLoaded(() => client.console.metrics(), [])
  const { reload } = loaded
  const intervalMs = loaded.data?.intervalMs ?? 15_000
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), intervalMs)
    return () => clearInterval(timer)
  }, [reload, intervalMs])
  return (
    <>
      <Heading title="Metrics" />
      <p class="quiet">
        The server that answered keeps the last hour in memory. For a longer history, scrape <code>/metrics</code> with
        Prometheus; <code>perdure deploy print grafana</code> prints a dashboard.
      </p>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Metric contains
          <input
            type="search"
            placeholder="such as runs"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value.trim().toLowerCase())}
          />
        </label>
      </form>
      <Shown loaded={loaded}>
        {({ series }) => {
          const byMetric = [...Map.groupBy(series, ({ metric }) => metric)]
            .filter(([metric]) => metric.includes(text))
            // Metrics that were zero all the time come last.
            .toSorted(([, one], [, other]) => Number(isZero(one)) - Number(isZero(other)))
          if (byMetric.length === 0)
            return <Empty>{text === '' ? 'Nothing has been measured yet.' : 'No metric matches.'}</Empty>
          return (
            <div class="charts">
              {byMetric.map(([metric, ofMetric]) => (
                <Card
                  key={metric}
                  title={metric.replace(/^svc_/, '')}
                  aside={<span class="quiet">{measureOf(ofMetric)}</span>}
                >
                  <p class="quiet">{METRICS[metric as keyof typeof METRICS]?.help}</p>
                  <Chart metric={metric} series={ofMetric} length={HOUR_MS / intervalMs} />
                </Card>
              ))}
            </div>
          )
        }}
      </Shown>
    </>
  )
}

const isZero = (series: readonly { readonly values: readonly (number | null)[] }[]): boolean =>
  series.every(({ values }) => values.every((value) => value === null || value === 0))

const measureOf = ([first]: readonly { readonly measure: keyof typeof MEASURES }[]): string =>
  first === undefined ? '' : MEASURES[first.measure]
