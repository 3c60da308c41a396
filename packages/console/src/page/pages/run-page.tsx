import { useEffect, useMemo, useState } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import type { Run } from '../client/resources.ts'
import { targetOf } from '../client/resources.ts'
import { FileView } from '../conversation/file-view.tsx'
import { Card, Empty, Facts, FailureNote, Heading, Shown, Status, shortId } from '../parts/basics.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Subject } from '../parts/subject.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Ago, clockText, durationText, Took, useNow } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { hrefOf, replaceQuery } from '../route.ts'
import { CompareTab } from '../run/compare-tab.tsx'
import { EventList } from '../run/event-list.tsx'
import { ForkButton } from '../run/fork-button.tsx'
import { KeepCase } from '../run/keep-case.tsx'
import { MessagesTab } from '../run/messages-tab.tsx'
import { RawValues } from '../run/raw-values.tsx'
import { RunActions } from '../run/run-actions.tsx'
import { RunError } from '../run/run-error.tsx'
import { type RunLog, useRunLog } from '../run/run-feed.ts'
import { type Span, waitText } from '../run/span-fold.ts'
import { Waterfall } from '../run/waterfall.tsx'
import { applyEvent } from '../runs/run-changes.ts'
import { tokensText } from '../runs/run-table.tsx'

const TABS = [
  ['spans', 'Waterfall'],
  ['messages', 'Messages'],
  ['events', 'Events'],
  ['logs', 'Logs'],
  ['data', 'Input and result'],
  ['json', 'JSON'],
  ['compare', 'Compare'],
] as const

/** One run: what it did, what came of it, and what can be done about it. */
export function RunPage({ runId }: { readonly runId: string }) {
  const { client } = useApp()
  const loaded = useLoaded(() => client.runs.get(runId), [runId])
  if (loaded.data === undefined && loaded.failure !== undefined) {
    return (
      <>
        <Heading title="Run" />
        <FailureNote failure={loaded.failure} onRetry={loaded.reload} />
      </>
    )
  }
  return (
    <Shown loaded={loaded}>
      {(run) => <LoadedRun key={run.id} run={run} onChange={loaded.change} onReload={loaded.reload} />}
    </Shown>
  )
}

interface LoadedRunProps {
  readonly run: Run
  readonly onChange: (change: (run: Run) => Run) => void
  readonly onReload: () => void
}

function LoadedRun({ run, onChange, onReload }: LoadedRunProps) {
  const { client, route } = useApp()
  const log = useRunLog(client, run)
  const tab = route.query.tab ?? 'spans'
  useRunChanges(run, log, onChange, onReload)
  return (
    <>
      <Heading
        title={
          <>
            <span class="crumb">
              <a href="#/runs">Runs</a> /{' '}
            </span>
            <span class="id">{shortId(run.id)}</span> <Status value={run.status} />
          </>
        }
      >
        <RunActions run={run} onChanged={onReload} />
        <KeepCase run={run} />
      </Heading>
      <RunFacts run={run} />
      <Outcome run={run} log={log} />
      <Tabs tabs={TABS} open={tab} />
      {log.failure === undefined ? null : <FailureNote failure={log.failure} />}
      {log.hasGap ? <p class="note warn">Earlier events of this run are no longer stored.</p> : null}
      {tab === 'spans' ? (
        <Spans run={run} log={log} selected={route.query.span} onSelect={(span) => replaceQuery(route, { span })} />
      ) : null}
      {tab === 'events' ? (
        <EventList events={log.events} followsEnd={run.completedAt === undefined} label="Events of the run" />
      ) : null}
      {tab === 'messages' ? <MessagesTab run={run} log={log} /> : null}
      {tab === 'logs' ? <Logs log={log} /> : null}
      {tab === 'data' ? <Data run={run} /> : null}
      {tab === 'compare' ? <CompareTab run={run} spans={log.spans} /> : null}
      {tab === 'json' ? <JsonView value={run} label="The run as JSON" /> : null}
    </>
  )
}

/** A link to a page of the console. */
const link = (path: readonly string[], text: string) => <a href={hrefOf(path)}>{text}</a>

function RunFacts({ run }: { readonly run: Run }) {
  const { kind, id } = targetOf(run)
  const { usage, sessionId, forkOf, parentRunId, traceparent } = run
  const targetLink = <a href={hrefOf(['runs'], { target: `${kind}:${id}` })}>{id}</a>
  return (
    <Facts
      rows={[
        [kind === 'agent' ? 'Agent' : 'Workflow', targetLink],
        ['Duration', <Took key="took" from={run.startedAt} to={run.completedAt} />],
        ['Created', <Ago key="created" at={run.createdAt} />],
        ['Tokens', usage.inputTokens + usage.outputTokens > 0 && tokensText(run)],
        ['Cost', usage.costUsd > 0 && `$${usage.costUsd.toFixed(4)}`],
        ['Attempt', run.attempt > 1 && run.attempt],
        ['Session', sessionId && link(['sessions', sessionId], sessionId)],
        ['Trigger', run.triggerId],
        ['Fork of', forkOf && link(['runs', forkOf.runId], `${shortId(forkOf.runId)} from call ${forkOf.seq}`)],
        ['Parent', parentRunId && link(['runs', parentRunId], shortId(parentRunId))],
        ['Trace', traceparent && <code>{traceparent.split('-')[1]}</code>],
        ['Owner', <Subject key="owner" id={run.owner} />],
      ]}
    />
  )
}

/** Applies the lifecycle events of the log to the run, and reads the run again when it has ended. */
function useRunChanges(run: Run, log: RunLog, onChange: LoadedRunProps['onChange'], onReload: () => void): void {
  const [applied, setApplied] = useState(0)
  const isEnded = run.completedAt !== undefined
  useEffect(() => {
    const fresh = log.events.slice(applied)
    if (fresh.length === 0) return
    setApplied(log.events.length)
    if (isEnded) return
    const changes = fresh.filter(({ type, runId }) => type.startsWith('run.') && runId === run.id)
    if (changes.length > 0) onChange((before) => changes.reduce(applyEvent, before))
    if (changes.some(({ type }) => /^run\.(completed|failed|aborted)$/.test(type))) onReload()
  }, [log.version])
}

function Outcome({ run, log }: { readonly run: Run; readonly log: RunLog }) {
  if (run.error !== undefined) return <RunError run={run} />
  if (run.status === 'aborted')
    return <p class="note">Aborted{run.abortReason === undefined ? '' : `: ${run.abortReason}`}.</p>
  if (run.status !== 'suspended') return null
  const suspension = log.events.findLast(({ type }) => type === 'run.suspended')
  const { waitingFor } = (suspension?.payload ?? {}) as { readonly waitingFor?: unknown }
  const hasApproval = JSON.stringify(waitingFor ?? '').includes('approval')
  return (
    <p class="note wait">
      Suspended: {waitText(waitingFor)}.{' '}
      {hasApproval ? <a href={hrefOf(['approvals'], { run: run.id })}>Decide the approval</a> : null}
    </p>
  )
}

interface SpansProps {
  readonly run: Run
  readonly log: RunLog
  readonly selected: string | undefined
  readonly onSelect: (id: string) => void
}

function Spans({ run, log, selected, onSelect }: SpansProps) {
  const from = Date.parse(run.startedAt ?? run.createdAt)
  const last = log.events.at(-1)
  const now = useNow(run.completedAt === undefined ? 1_000 : undefined)
  // The clock of this browser may be behind the clock of the server.
  const to = Math.max(
    from + 1,
    run.completedAt === undefined ? Math.max(now, Date.parse(last?.at ?? run.createdAt)) : Date.parse(run.completedAt),
  )
  const root = useMemo(() => rootOf(run, from), [run, from])
  const span = useMemo(
    () => (selected === root.id ? root : log.spans.find(({ id }) => id === selected)),
    [root, log.spans, log.version, selected],
  )
  return (
    <div class={span === undefined ? '' : 'split'}>
      <Waterfall {...{ root, spans: log.spans, version: log.version, from, to, selected, onSelect }} />
      {span === undefined ? null : <SpanDetail run={run} span={span} to={to} />}
    </div>
  )
}

/** The run as the span around all others. */
function rootOf(run: Run, start: number): Span {
  const { usage, completedAt, status, input, result, error } = run
  const tokens = usage.inputTokens + usage.outputTokens
  return {
    ...{ id: 'run', name: targetOf(run).id, kind: 'run', start, parent: undefined, seq: undefined },
    end: completedAt === undefined ? undefined : Math.max(start, Date.parse(completedAt)),
    status: completedAt === undefined ? 'running' : status === 'completed' ? 'done' : 'failed',
    tokens: tokens === 0 ? undefined : tokens,
    costUsd: usage.costUsd > 0 ? usage.costUsd : undefined,
    ...{ detail: error?.message, input, output: result, file: undefined, childRunId: undefined },
  }
}

function SpanDetail({ run, span, to }: { readonly run: Run; readonly span: Span; readonly to: number }) {
  return (
    <aside class="detail" aria-label="Selected span">
      <h2>{span.name}</h2>
      <Facts
        rows={[
          ['Kind', span.kind],
          ['Status', <Status value={span.status === 'done' ? 'completed' : span.status} />],
          ['Duration', durationText((span.end ?? to) - span.start)],
          ['Started', clockText(new Date(span.start).toISOString())],
          ['Call', span.seq],
          ['Tokens', span.tokens?.toLocaleString()],
          ['Cost', span.costUsd === undefined ? undefined : `$${span.costUsd.toFixed(4)}`],
          ['Detail', span.detail],
          [
            'Run',
            span.childRunId === undefined ? undefined : (
              <a href={hrefOf(['runs', span.childRunId])}>{shortId(span.childRunId)}</a>
            ),
          ],
        ]}
      />
      {span.input === undefined ? null : (
        <>
          <h3>Input</h3>
          <JsonView value={span.input} label="Input of the span" />
        </>
      )}
      {span.output === undefined ? null : (
        <>
          <h3>Output</h3>
          <JsonView value={span.output} label="Output of the span" />
          {span.file === undefined ? null : <FileView {...span.file} />}
        </>
      )}
      <p class="actions">
        {span.seq === undefined ? null : <ForkButton run={run} seq={span.seq} />}
        {span.kind === 'run' ||
        span.kind === 'model' ||
        (span.input === undefined && span.output === undefined) ? null : (
          <RawValues key={span.id} runId={run.id} span={span} />
        )}
      </p>
    </aside>
  )
}

function Logs({ log }: { readonly log: RunLog }) {
  const lines = log.events.filter(({ type }) => type === 'run.log')
  if (lines.length === 0) return <Empty>The code of this run has logged nothing with ctx.log.</Empty>
  return (
    <ol class="logs">
      {lines.map(({ eventId, at, payload }) => {
        const { level, message, fields } = payload as {
          readonly level: string
          readonly message: string
          readonly fields?: object
        }
        return (
          <li key={eventId} class={`level-${level}`}>
            <span class="quiet">{clockText(at)}</span> <strong>{level}</strong> <span>{message}</span>{' '}
            {fields === undefined ? null : <code>{JSON.stringify(fields)}</code>}
          </li>
        )
      })}
    </ol>
  )
}

function Data({ run }: { readonly run: Run }) {
  return (
    <div class="two">
      <Card title="Input">
        <JsonView value={run.input ?? null} label="Input of the run" />
      </Card>
      <Card title="Result">
        {run.result === undefined ? (
          <Empty>The run has no result.</Empty>
        ) : (
          <JsonView value={run.result} label="Result of the run" />
        )}
      </Card>
    </div>
  )
}
