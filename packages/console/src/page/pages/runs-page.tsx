import { useState } from 'preact/hooks'
import { may, mayChange, useApp } from '../app-context.ts'
import { failureOf } from '../client/failure.ts'
import type { RunSummary } from '../client/resources.ts'
import { Empty, Heading, NoRunList, Shown } from '../parts/basics.tsx'
import { Choice } from '../parts/choice.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { replaceQuery } from '../route.ts'
import { withOlder } from '../runs/merge-run-pages.ts'
import { RunTable } from '../runs/run-table.tsx'
import { useFreshRuns } from '../runs/use-fresh-runs.ts'

const PAGE = 50
const STATUSES = ['queued', 'running', 'suspended', 'completed', 'failed', 'aborted'] as const
/** Filters that take a text: the member of the query, and its name on the page. */
const FIELDS = [
  ['code', 'Error code'],
  ['tag', 'Tag'],
  ['userId', 'User'],
  ['owner', 'Owner'],
  ['version', 'Version'],
  ['parentRunId', 'Parent run'],
  ['sessionId', 'Session'],
] as const
const SINCE: Readonly<Record<string, number>> = { '1 hour': 3.6e6, '24 hours': 8.64e7, '7 days': 6.048e8 }

export function RunsPage() {
  if (may(useApp(), 'runs:read')) return <RunList />
  return (
    <>
      <Heading title="Runs" />
      <NoRunList />
    </>
  )
}

/** All runs, with filters in the address. */
function RunList() {
  const app = useApp()
  const { client, route, feed, targets, notify } = app
  const { status, target, since, session, field, value } = route.query
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [kind, id] = target?.split(':') ?? []
  const filter = {
    // A page ends at 4 MiB, so that large inputs make it shorter.
    ...{ limit: PAGE, include: 'input,result' },
    status: STATUSES.find((one) => one === status),
    agentId: kind === 'agent' ? id : undefined,
    workflowId: kind === 'workflow' ? id : undefined,
    sessionId: session,
    since: since === undefined ? undefined : new Date(Date.now() - (SINCE[since] ?? 0)).toISOString(),
    ...(FIELDS.some(([id]) => id === field) && value !== undefined ? { [field ?? '']: value } : {}),
  }
  const loaded = useLoaded(() => client.runs.list(filter), [status, target, since, session, field, value])
  /** Keeps the older runs that were read with the button below the list. */
  const refresh = async () => {
    if ((loaded.data?.items.length ?? 0) <= PAGE) return loaded.reload()
    // The list stays as it is until the next event if this fails.
    const fresh = await client.runs.list(filter).catch(() => undefined)
    if (fresh !== undefined) loaded.change((before) => withOlder(fresh, before))
  }
  useFreshRuns(loaded.change, refresh)

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
        <TextFilter field={field} value={value} onChange={(change) => replaceQuery(route, change)} />
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

interface TextFilterProps {
  readonly field: string | undefined
  readonly value: string | undefined
  readonly onChange: (change: { readonly field: string; readonly value: string | undefined }) => void
}

/** A field of runs, and the text that it must have. */
function TextFilter({ field = FIELDS[0][0], value, onChange }: TextFilterProps) {
  return (
    <label>
      <select
        aria-label="Field to filter by"
        value={field}
        onChange={({ currentTarget }) => onChange({ field: currentTarget.value, value })}
      >
        {FIELDS.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label={`${FIELDS.find(([id]) => id === field)?.[1] ?? ''} is`}
        placeholder="is exactly"
        defaultValue={value}
        key={value}
        onChange={({ currentTarget }) => onChange({ field, value: currentTarget.value.trim() || undefined })}
      />
    </label>
  )
}
