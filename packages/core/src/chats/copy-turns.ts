import {
  type EventLog,
  fromJsonText,
  type IdGenerator,
  type JsonText,
  type NewEvent,
  NO_USAGE,
  type RunRecord,
  type RunStore,
  type StoredEvent,
} from '@perdure/ports'
import { isAgentEventType } from '@perdure/protocol'
import { isFields, textIn } from '../fold/log-event.ts'
import { formatEventId } from '../realtime/event-id.ts'
import { type CopiedChat, type CopiedTurn, MAX_COPIED_LENGTH, turnLength, turnsToCopy } from './turns-to-copy.ts'

export interface CopyTurnsDeps {
  readonly runs: Pick<RunStore, 'find' | 'list'>
  readonly events: Pick<EventLog, 'read' | 'head'>
  readonly ids: IdGenerator
}

/** A turn under a new id, with its log. */
export interface TurnCopy {
  readonly from: CopiedTurn
  readonly run: RunRecord
  readonly events: readonly NewEvent[]
}

/** Events about the execution that wrote them, which a copy does not have: lines of `ctx.log`, and recorded summaries. */
const OF_EXECUTION: ReadonlySet<string> = new Set(['run.log', 'run.compacted'])

/** One row of the log counts as this many characters. */
const EVENT_ROW = 100

/**
 * The turns of a chat as turns of another session, oldest first. The oldest ones are left out if they are too long together.
 *
 * @throws PerdureError what `turnsToCopy` throws
 */
export async function copyTurns(
  deps: CopyTurnsDeps,
  chat: CopiedChat,
  to: Pick<RunRecord, 'sessionId' | 'owner'>,
): Promise<readonly TurnCopy[]> {
  const { epoch } = await deps.events.head()
  const found: { readonly from: CopiedTurn; readonly log: readonly StoredEvent[] }[] = []
  let room = MAX_COPIED_LENGTH
  for (const from of await turnsToCopy(deps.runs, chat)) {
    room -= turnLength(from)
    const log = await logOf(deps.events, from.id, { epoch, maxLength: room })
    if (log === undefined && found.length > 0) break
    room -= lengthOf(log ?? [])
    found.push({ from, log: log ?? [] })
  }
  // The ids of runs sort by time.
  return found.reverse().map(({ from, log }) => {
    const run = copyOf(from, deps.ids.newId('run'), to)
    return { from, run, events: log.map((event) => eventOf(event, from.id, run)) }
  })
}

const lengthOf = (log: readonly StoredEvent[]): number =>
  log.reduce((sum, { payload }) => sum + EVENT_ROW + payload.length, 0)

/** Copies an ended run into the new session. Its usage stays with the source, and the copy itself never executes. */
function copyOf(turn: CopiedTurn, id: string, to: Pick<RunRecord, 'sessionId' | 'owner'>): RunRecord {
  const { threadId: _, flow: __, triggerId: ___, traceparent: ____, executor: _____, caller: ______, ...kept } = turn
  const { startedAt = turn.createdAt } = turn
  return { ...kept, ...to, id, execution: 0, startedAt, usage: NO_USAGE, forkOf: { runId: turn.id, seq: 0 } }
}

/**
 * The log of a run without what was withdrawn, because `run.rewound` names an event, and the events of a copy have other
 * ids.
 *
 * @returns `undefined` if the log is longer than `maxLength`
 */
async function logOf(
  events: Pick<EventLog, 'read'>,
  runId: string,
  { epoch, maxLength }: { readonly epoch: string; readonly maxLength: number },
): Promise<readonly StoredEvent[] | undefined> {
  let kept: StoredEvent[] = []
  let length = 0
  for (let after = 0; ; ) {
    const batch = await events.read({ runId }, { after, limit: 200, maxLength: 128 * 1_024 })
    length += lengthOf(batch)
    if (length > maxLength) return undefined
    for (const event of batch) {
      if (event.type === 'run.rewound') kept = rewound(kept, event, epoch)
      else if (!OF_EXECUTION.has(event.type)) kept.push(event)
    }
    const last = batch.at(-1)
    if (last === undefined) return kept
    after = last.position
  }
}

function rewound(kept: StoredEvent[], { payload }: StoredEvent, epoch: string): StoredEvent[] {
  const fields: unknown = fromJsonText(payload)
  const to = isFields(fields) ? textIn(fields, 'after') : undefined
  const mark = kept.findIndex(({ position }) => formatEventId({ epoch, position }) === to)
  return mark === -1 ? kept : kept.filter(({ type }, index) => index <= mark || !isAgentEventType(type))
}

/** Without a topic: neither a webhook nor a follower of the agent receives the events of a run that ended long ago. */
const eventOf = ({ type, payload, phase, at }: StoredEvent, from: string, { id, sessionId }: RunRecord): NewEvent => ({
  ...{ runId: id, sessionId, type, at, payload: withId(payload, from, id) },
  ...(phase === undefined ? {} : { phase }),
})

/** An id that is a value has quotes around it; in a longer text they are escaped. */
const withId = (payload: JsonText, from: string, to: string): JsonText =>
  payload.replaceAll(`"${from}"`, `"${to}"`) as JsonText
