import {
  type Clock,
  type EventLog,
  fromJsonText,
  type NewEvent,
  type RunRecord,
  type StoredEvent,
  toJsonText,
} from '@perdure/ports'
import { isAgentEventType } from '@perdure/protocol'
import { formatEventId } from '../realtime/event-id.ts'
import { runEvent } from '../runs/run-events.ts'

export interface RewindDeps {
  readonly events: Pick<EventLog, 'readBefore' | 'head'>
  readonly clock: Clock
}

/**
 * The event that opens a new attempt and withdraws what the attempts before it emitted since the last recorded call: the
 * new attempt emits that again. Empty when there is nothing to withdraw, and for an attempt that has opened already.
 */
export async function rewind({ events, clock }: RewindDeps, run: RunRecord): Promise<readonly NewEvent[]> {
  if (run.attempt === 1) return []
  const position = await lastMark(events, run)
  if (position === undefined) return []
  const { epoch } = await events.head()
  const payload = toJsonText({ runId: run.id, attempt: run.attempt, after: formatEventId({ epoch, position }) })
  return [runEvent(run, { type: 'run.rewound', payload, at: clock.now() })]
}

const PAGE = { limit: 200, maxLength: 1_048_576 } as const

/**
 * The position of the newest event from which a re-execution emits again; `undefined` when no event of the agent follows
 * it. These are the events of the recorded calls, a suspension, and the first start.
 */
async function lastMark(events: Pick<EventLog, 'readBefore'>, run: RunRecord): Promise<number | undefined> {
  let first: number | undefined
  let restartedSeq: number | undefined
  let emits = false
  for await (const event of newestFirst(events, run.id)) {
    const { type, position } = event
    if (hasOpened(event, run.attempt)) return undefined
    if (isMark(event, restartedSeq)) return emits ? position : undefined
    if (type === 'run.started') first = position
    if (type === 'run.retrying') restartedSeq = fieldsOf(event).error?.step?.seq
    emits ||= isAgentEventType(type)
  }
  return emits ? first : undefined
}

const hasOpened = (event: StoredEvent, attempt: number): boolean =>
  (event.type === 'run.started' || event.type === 'run.rewound') && fieldsOf(event).attempt === attempt

async function* newestFirst(events: Pick<EventLog, 'readBefore'>, runId: string): AsyncGenerator<StoredEvent> {
  for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
    const page: readonly StoredEvent[] = await events.readBefore({ runId }, { before, ...PAGE })
    yield* page
    before = page.at(-1)?.position
  }
}

/** A failed call that executes again and a suspension for other code leave the code where it was. */
function isMark(event: StoredEvent, restartedSeq: number | undefined): boolean {
  const { type } = event
  if (type === 'step.start' || type === 'step.end') return true
  if (type === 'run.suspended') return !CODE_REASONS.includes(fieldsOf(event).reason ?? '')
  if (type !== 'step.error') return false
  const { willRetry, seq } = fieldsOf(event)
  return willRetry !== true && seq !== restartedSeq
}

const CODE_REASONS: readonly string[] = ['divergence', 'version']

interface Fields {
  readonly attempt?: number
  readonly reason?: string
  readonly willRetry?: boolean
  readonly seq?: number
  readonly error?: { readonly step?: { readonly seq: number } }
}

const fieldsOf = ({ payload }: StoredEvent) => fromJsonText(payload) as Fields
