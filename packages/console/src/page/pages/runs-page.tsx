import { useEffect, useState } from 'preact/hooks'
import { failureOf } from '../api/failure.ts'
import type { RunSummary } from '../api/resources.ts'
import { mayChange, useApp } from '../app-context.ts'
import { Empty, Heading, Shown } from '../parts/basics.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { replaceQuery } from '../route.ts'
import { applyEvent } from './run-changes.ts'
import { RunTable } from './run-table.tsx'

const PAGE = 50
/** New rows are read together, at most once in this time. */
const REFRESH_MS = 10_000
const STATUSES = ['queued', 'running', 'suspended', 'completed', 'failed', 'aborted'] as const
const SINCE: Readonly<Record<string, number>> = { '1 hour': 3.6e6, '24 hours': 8.64e7, '7 days': 6.048e8 }

/** All runs, with filters in the address. */
export function RunsPage() {
  const app = useApp()
  const { client, route, feed, targets, notify } = app
  const { status, target, since, session } = route.query
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [kind, id] = target?.split(':') ?? []
  const filter = {
    limit: PAGE,
    status: STATUSES.find((one) => one === status),
    agentId: kind === 'agent' ? id : undefined,
    workflowId: kind === 'workflow' ? id : undefined,
    sessionId: session,
    since: since === undefined ? undefined : new Date(Date.now() - (SINCE[since] ?? 0)).toISOString(),
  }
  const loaded = useLoaded(() => client.runs.list(filter), [status, target, since, session])
  useFreshRuns(loaded.change, loaded.reload)

  const older = async (cursor: string) => {
    try {
      const next = await client.runs.list({ ...filter, cursor })
      loaded.change(({ items }) => ({ items: [...items, ...next.items], nextCursor: next.nextCursor }))
    } catch (error) {
      notify(failureOf(error).message, 'failed')
    }
  }
  const abortChosen = async () => {
    const outcomes = await Promise.allSettled(
      [...chosen].map((runId) => client.runs.abort(runId, { reason: 'console' })),
    )
    const failed = outcomes.filter((one) => one.status === 'rejected').length
    notify(
      failed === 0 ? `Aborted ${chosen.size}` : `${failed} of ${chosen.size} could not be aborted`,
      failed === 0 ? 'done' : 'failed',
    )
    setChosen(new Set())
    loaded.reload()
  }
  const toggle = (runId: string) => {
    const next = new Set(chosen)
    if (!next.delete(runId)) next.add(runId)
    setChosen(next)
  }
  const canAbort = mayChange(app, 'agents:invoke') || mayChange(app, 'workflows:execute')
  const isActive = (run: RunSummary) => run.completedAt === undefined
  return (
    <>
      <Heading title="Runs">
        {chosen.size === 0 ? null : (
          <button type="button" class="danger" onClick={() => void abortChosen()}>
            Abort {chosen.size} selected
          </button>
        )}
      </Heading>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice
          name="Status"
          value={status}
          options={STATUSES}
          onChange={(value) => replaceQuery(route, { status: value })}
        />
        <Choice
          name="Target"
          value={target}
          options={targets.map((one) => `${one.kind}:${one.id}`)}
          onChange={(value) => replaceQuery(route, { target: value })}
        />
        <Choice
          name="Since"
          value={since}
          options={Object.keys(SINCE)}
          onChange={(value) => replaceQuery(route, { since: value })}
        />
        {session === undefined ? null : (
          <button type="button" onClick={() => replaceQuery(route, { session: undefined })}>
            Session {session} ✕
          </button>
        )}
        {feed.liveness.get() === 'offline' ? (
          <button type="button" onClick={loaded.reload}>
            Read again
          </button>
        ) : null}
      </form>
      <Shown loaded={loaded}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Empty>No runs match. Start one under “Start a run”, or change the filters.</Empty>
          ) : (
            <>
              <RunTable
                runs={items}
                caption="Runs, newest first"
                {...(canAbort
                  ? {
                      first: (run: RunSummary) =>
                        isActive(run) ? (
                          <input
                            type="checkbox"
                            aria-label={`Select ${run.id}`}
                            checked={chosen.has(run.id)}
                            onChange={() => toggle(run.id)}
                          />
                        ) : null,
                    }
                  : {})}
              />
              {nextCursor === null ? null : (
                <p class="pager">
                  <button type="button" onClick={() => void older(nextCursor)}>
                    Show older runs
                  </button>
                </p>
              )}
            </>
          )
        }
      </Shown>
    </>
  )
}

type Page = { readonly items: RunSummary[]; readonly nextCursor: string | null }

/** Applies events to the rows, and reads the list again after a run that it does not have. */
function useFreshRuns(change: (update: (page: Page) => Page) => void, reload: () => void): void {
  const { feed } = useApp()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let lastMs = 0
    const reloadSoon = () => {
      timer ??= setTimeout(
        () => {
          timer = undefined
          lastMs = Date.now()
          reload()
        },
        Math.max(500, lastMs + REFRESH_MS - Date.now()),
      )
    }
    const stop = feed.listen((event) => {
      if (!event.type.startsWith('run.')) return
      change((page) => {
        if (!page.items.some(({ id }) => id === event.runId)) {
          reloadSoon()
          return page
        }
        return { ...page, items: page.items.map((run) => (run.id === event.runId ? applyEvent(run, event) : run)) }
      })
    }, reloadSoon)
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [feed, change, reload])
}

function Choice({
  name,
  value,
  options,
  onChange,
}: {
  readonly name: string
  readonly value: string | undefined
  readonly options: readonly string[]
  readonly onChange: (value: string | undefined) => void
}) {
  return (
    <label>
      {name}
      <select value={value ?? ''} onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}>
        <option value="">any</option>
        {options.map((one) => (
          <option key={one} value={one}>
            {one.replace(/^(agent|workflow):/, '')}
          </option>
        ))}
      </select>
    </label>
  )
}
