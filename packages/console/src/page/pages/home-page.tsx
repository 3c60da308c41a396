import { useEffect } from 'preact/hooks'
import { may, mayChange, useApp } from '../app-context.ts'
import type { Health, RunSummary } from '../client/resources.ts'
import { trendsOf } from '../metrics/trends.ts'
import { Card, Empty, Heading, NoRunList, Shown, Status } from '../parts/basics.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { durationText } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { hrefOf } from '../route.ts'
import { RunTable } from '../runs/run-table.tsx'
import { useFreshRuns } from '../runs/use-fresh-runs.ts'

const HEALTH_MS = 60_000

/** What is going on, at a glance. */
export function HomePage() {
  const app = useApp()
  const canReadRuns = may(app, 'runs:read')
  return (
    <>
      <Heading title="Home" />
      {canReadRuns ? <RecentRuns /> : <NoRunList />}
      {may(app, 'approvals:read') ? <Waiting /> : null}
      <HealthTiles />
    </>
  )
}

function RecentRuns() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.runs.list({ limit: 200 }), [])
  const { change, reload } = loaded
  useFreshRuns(change, reload)
  return <Shown loaded={loaded}>{({ items }) => (items.length === 0 ? <FirstRun /> : <Overview runs={items} />)}</Shown>
}

function Overview({ runs }: { readonly runs: readonly RunSummary[] }) {
  const active = runs.filter(({ completedAt }) => completedAt === undefined)
  const failed = runs.filter(({ status }) => status === 'failed').slice(0, 5)
  const trends = trendsOf(runs, Date.now())
  return (
    <>
      <div class="tiles">
        <Tile name="Runs in the last hour" value={String(trends.runs)} points={trends.runsOverTime} />
        <Tile name="Failed" value={String(trends.failed)} points={trends.failedOverTime} isBad={trends.failed > 0} />
        <Tile
          name="Duration, 95th percentile"
          value={trends.p95 === undefined ? '–' : durationText(trends.p95)}
          points={trends.durations}
        />
        <Tile name="Tokens" value={trends.tokens.toLocaleString()} points={trends.tokensOverTime} />
      </div>
      {trends.isPartial ? <p class="quiet">Computed from the newest {runs.length} runs.</p> : null}
      <Card title="In progress" aside={<a href={hrefOf(['runs'])}>All runs</a>}>
        {active.length === 0 ? (
          <Empty>No run is active.</Empty>
        ) : (
          <RunTable runs={active.slice(0, 8)} caption="Active runs" />
        )}
      </Card>
      <Card title="Recent failures" aside={<a href={hrefOf(['runs'], { status: 'failed' })}>All failed runs</a>}>
        {failed.length === 0 ? <Empty>No run has failed.</Empty> : <RunTable runs={failed} caption="Failed runs" />}
      </Card>
    </>
  )
}

function Tile({
  name,
  value,
  points,
  isBad = false,
}: {
  readonly name: string
  readonly value: string
  readonly points: readonly number[]
  readonly isBad?: boolean
}) {
  return (
    <div class={`tile ${isBad ? 'is-bad' : ''}`}>
      <span class="quiet">{name}</span>
      <strong>{value}</strong>
      <Sparkline points={points} />
    </div>
  )
}

function FirstRun() {
  const app = useApp()
  const target = app.targets.find(({ id }) => id === 'echo') ?? app.targets[0]
  if (target === undefined)
    return <Empty>No agent is registered yet. Add one to the configuration file of the server.</Empty>
  return (
    <Card title="Start your first run">
      <p>
        Nothing has run here yet. <strong>{target.id}</strong>: {target.description}
      </p>
      {mayChange(app, 'agents:invoke') ? (
        <p class="actions">
          <a class="button primary" href={hrefOf(['start', target.kind, target.id])}>
            Run {target.id}
          </a>
        </p>
      ) : null}
    </Card>
  )
}

const SHOWN = 5

function Waiting() {
  const { pending } = useApp()
  return (
    <Card title="Waiting for a decision" aside={<a href={hrefOf(['approvals'])}>Decide</a>}>
      <Shown loaded={pending}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No approval is pending.</Empty>
          ) : (
            <ul class="plain">
              {items.slice(0, SHOWN).map(({ id, title, name, agentId, workflowId }) => (
                <li key={id}>
                  <a href={hrefOf(['approvals'])}>{title ?? name}</a> <span class="quiet">{agentId ?? workflowId}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  )
}

const CHECK_NAMES: Readonly<Record<keyof Health['checks'], string>> = {
  storage: 'Storage',
  embedder: 'Embedder',
  secrets: 'Secrets',
  encryption: 'Encryption',
  consolidator: 'Consolidator',
  triggers: 'Triggers',
  replayBuffer: 'Replay buffer',
}

function HealthTiles() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.health.get() as Promise<Health>, [])
  const { reload } = loaded
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), HEALTH_MS)
    return () => clearInterval(timer)
  }, [reload])
  return (
    <Shown loaded={loaded}>
      {(health) => (
        <Card title="Health" aside={<Status value={health.status} />}>
          <ul class="checks">
            {Object.entries(health.checks).map(([name, check]) => (
              <li key={name}>
                <span>{CHECK_NAMES[name as keyof Health['checks']] ?? name}</span>
                <Status value={check.status} />
                {check.message === undefined ? null : <span class="quiet">{check.message}</span>}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </Shown>
  )
}
