import { useMemo } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import type { RunSummary } from '../client/resources.ts'
import { messagesOf } from '../conversation/message-fold.ts'
import { isShownApart, PartView, SentView } from '../conversation/part-view.tsx'
import { FailureNote, Status } from '../parts/basics.tsx'
import { Ago, durationText, useNow } from '../parts/time.tsx'
import { useAction } from '../parts/use-action.ts'
import { hrefOf } from '../route.ts'
import { useRunLog } from '../run/run-feed.ts'
import { waitText } from '../run/span-fold.ts'
import { applyEvent } from '../runs/run-changes.ts'

export interface TurnProps {
  readonly turn: RunSummary
  readonly number: number
  readonly onChanged: () => void
  /** Asks for another answer to the newest message; absent for an earlier one. */
  readonly onRegenerate: ((turn: RunSummary) => void) | undefined
}

/** A message of the user and the answer to it, which grows while it is written. */
export function Turn({ turn, number, onChanged, onRegenerate }: TurnProps) {
  const { client } = useApp()
  const log = useRunLog(client, turn)
  const run = useMemo(() => {
    const changes = log.events.filter(({ type, runId }) => type.startsWith('run.') && runId === turn.id)
    // The list knows the end of a turn with what was used for it.
    return turn.completedAt === undefined ? changes.reduce(applyEvent, turn) : turn
  }, [turn, log.version])
  const parts = useMemo(() => messagesOf(log.events).filter(isShownApart), [log.version])
  const isQueued = run.status === 'queued' && parts.length === 0
  return (
    <li class="turn" aria-label={`Turn ${number}`}>
      <article class="by-user">
        <div class="quiet">
          <strong>user</strong> <Ago at={turn.createdAt} />
        </div>
        <SentView content={turn.input} label={`Message of turn ${number}`} />
        {isQueued ? <Waiting run={run} onChanged={onChanged} /> : null}
      </article>
      {isQueued ? null : (
        <article class="by-assistant" aria-busy={run.status === 'running'}>
          <div class="quiet">
            <strong>{turn.agentId}</strong> {run.status === 'completed' ? null : <Status value={run.status} />}
          </div>
          {log.hasGap ? <p class="note warn">Earlier events of this answer are no longer stored.</p> : null}
          {log.failure === undefined ? null : <FailureNote failure={log.failure} />}
          {parts.map((part, at) => (
            <PartView
              key={`${part.kind} ${part.id}`}
              part={part}
              number={at + 1}
              runId={turn.id}
              isWaiting={run.status === 'suspended'}
            />
          ))}
          {parts.some(({ kind }) => kind === 'text') ? null : <Result run={run} number={number} />}
          <Outcome run={run} waitingFor={waitingFor(log.events)} />
          <Footer run={run} onRegenerate={onRegenerate} />
        </article>
      )}
    </li>
  )
}

const waitingFor = (events: readonly { readonly type: string; readonly payload?: unknown }[]): unknown => {
  const { payload } = events.findLast(({ type }) => type === 'run.suspended') ?? {}
  return typeof payload === 'object' && payload !== null && 'waitingFor' in payload ? payload.waitingFor : undefined
}

/** A message that waits while the agent answers an earlier one. */
function Waiting({ run, onChanged }: { readonly run: RunSummary; readonly onChanged: () => void }) {
  const app = useApp()
  const { act, isBusy } = useAction()
  const withdraw = () =>
    act('Withdrew the message', async () => {
      await app.client.runs.withdraw(run.id)
      onChanged()
    })
  return (
    <p class="actions">
      <span class="quiet">waits for the agent</span>
      {mayChange(app, 'agents:invoke') ? (
        <button type="button" disabled={isBusy} onClick={() => void withdraw()}>
          Withdraw
        </button>
      ) : null}
    </p>
  )
}

/** The result of a run that has said nothing. */
function Result({ run, number }: { readonly run: RunSummary; readonly number: number }) {
  const { result } = run
  if (result === undefined || result === null) return null
  return <SentView content={result} label={`Result of turn ${number}`} />
}

function Outcome({ run, waitingFor }: { readonly run: RunSummary; readonly waitingFor: unknown }) {
  if (run.status === 'failed') {
    return (
      <p class="note bad">
        <strong>{run.error?.message ?? 'The run failed.'}</strong> <code>{run.error?.code}</code>
      </p>
    )
  }
  if (run.status === 'aborted')
    return <p class="quiet">Stopped{run.abortReason === undefined ? '' : `: ${run.abortReason}`}.</p>
  return run.status === 'suspended' ? <p class="quiet">Suspended: {waitText(waitingFor)}.</p> : null
}

interface FooterProps {
  readonly run: RunSummary
  readonly onRegenerate: ((turn: RunSummary) => void) | undefined
}

/** What the turn has used, and what can be done about it. */
function Footer({ run, onRegenerate }: FooterProps) {
  const { usage, startedAt, completedAt } = run
  const now = useNow(completedAt === undefined ? 1_000 : undefined)
  const tookMs =
    startedAt === undefined
      ? undefined
      : (completedAt === undefined ? now : Date.parse(completedAt)) - Date.parse(startedAt)
  const facts = [
    tookMs === undefined ? '' : durationText(Math.max(0, tookMs)),
    usage.inputTokens + usage.outputTokens === 0
      ? ''
      : `${usage.inputTokens.toLocaleString()} + ${usage.outputTokens.toLocaleString()} tokens`,
    usage.costUsd > 0 ? `$${usage.costUsd.toFixed(4)}` : '',
    usage.toolCalls === 0 ? '' : usage.toolCalls === 1 ? '1 tool call' : `${usage.toolCalls} tool calls`,
  ].filter(Boolean)
  return (
    <div class="turn-foot">
      <span class="quiet">{facts.join(' · ')}</span>
      <a href={hrefOf(['runs', run.id])}>Run</a>
      {onRegenerate === undefined || completedAt === undefined ? null : (
        <button type="button" class="link" onClick={() => onRegenerate(run)}>
          Regenerate
        </button>
      )}
    </div>
  )
}
