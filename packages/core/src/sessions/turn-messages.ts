import { type EventLog, fromJsonText, type ListedRun, type StoredEvent } from '@perdure/ports'
import { beginFold, type FoldState, foldEvent, isStateEvent, transcriptOf } from '../fold/fold.ts'
import { itemKey } from '../fold/item-changes.ts'
import { fieldsOf, isFields, type LogEvent } from '../fold/log-event.ts'
import { waitsForAnswer } from '../fold/rest.ts'
import type { Transcript } from '../fold/transcript.ts'
import { receivedMessage } from '../fold/user-message.ts'
import { formatEventId } from '../realtime/event-id.ts'
import { partsOfInput, partsOfItems, partsOfResult } from './answer-parts.ts'
import { ownQuestion } from './own-question.ts'
import type { MessagePart, SessionMessage } from './session-message.ts'
import { takenMessage } from './taken-message.ts'

export type TurnRun = ListedRun<'input' | 'result'>

export interface ReadTurn {
  readonly epoch: string
  /** Position of the last event that counts. */
  readonly through: number
  /** How much may be read. */
  readonly maxLength: number
  /** Whether to leave out what a summary of the turn stands for. */
  readonly isCompacted: boolean
}

/** A summary that a turn recorded. */
export interface Compaction {
  /** The call that has recorded it. */
  readonly seq: number
  /** Position in the transcript of the last message that it stands for. */
  readonly through: number
  readonly at: number
}

export interface TurnMessages {
  readonly messages: readonly SessionMessage[]
  readonly length: number
  /** Position of the last event that was read; 0 if there is none. */
  readonly last: number
  /** The newest summary of the turn. The messages are those after it. */
  readonly compaction: Compaction | undefined
}

/** What a run has said, and between its answers what it was sent when it asked for input. */
type Said = Pick<SessionMessage, 'role' | 'parts'> & {
  readonly content?: unknown
  readonly id?: string
  readonly createdAt?: string
}

const BATCH = { limit: 200, maxLength: 128 * 1_024 }

/**
 * The messages that a turn adds to the conversation: its question and its answers.
 *
 * @returns `undefined` if the turn is longer than `maxLength`
 */
export async function readTurn(
  events: Pick<EventLog, 'read'>,
  run: TurnRun,
  { epoch, through, maxLength, isCompacted }: ReadTurn,
): Promise<TurnMessages | undefined> {
  let length = run.input.length + (run.result?.length ?? 0)
  const answers = createAnswers(run)
  let compaction: Compaction | undefined
  let last = 0
  for await (const page of pagesOf(events, run.id, through)) {
    for (const stored of page) {
      last = stored.position
      length += stored.payload.length
      if (isStateEvent(stored)) continue
      const event = toLogEvent(stored, epoch)
      answers.next(event)
      if (!isCompacted || event.type !== 'run.compacted') continue
      const { seq, through } = fieldsOf(event)
      compaction = { seq: Number(seq), through: Number(through), at: stored.at }
      answers.leaveOut()
    }
    if (length > maxLength) return undefined
  }
  return { messages: toMessages(run, answers.said(), compaction === undefined), length, last, compaction }
}

async function* pagesOf(events: Pick<EventLog, 'read'>, runId: string, through: number) {
  let after = 0
  for (let mayContinue = true; mayContinue; ) {
    const page = await events.read({ runId }, { after, ...BATCH })
    after = page.at(-1)?.position ?? through
    // A page that is not full is the last one.
    const isFull = page.length >= BATCH.limit || lengthOf(page) >= BATCH.maxLength
    mayContinue = isFull && after < through
    yield page.filter(({ position }) => position <= through)
  }
}

const lengthOf = (page: readonly StoredEvent[]): number => page.reduce((sum, { payload }) => sum + payload.length, 0)

const toLogEvent = ({ type, payload, at, position }: StoredEvent, epoch: string): LogEvent => ({
  ...{ eventId: formatEventId({ epoch, position }), type, payload: fromJsonText(payload) },
  at: new Date(at).toISOString(),
})

function createAnswers({ id, status, result }: TurnRun) {
  let fold = beginFold(id)
  const finished: Said[] = []
  const shown = new Set<string>()
  /** How many items the transcript had at the end of each answer of a model. */
  let ends: number[] = []

  const newParts = (transcript: Transcript): readonly MessagePart[] => {
    let ended = 0
    return transcript.items.flatMap((item, index): readonly MessagePart[] => {
      if (shown.has(itemKey(item))) return []
      const [first, ...rest] = partsOfItems([item], transcript)
      if (first === undefined) return []
      const before = ended
      for (let end = ends[ended]; end !== undefined && end <= index; end = ends[ended]) ended++
      return [ended > before ? { ...first, startsAnswer: true } : first, ...rest]
    })
  }

  const noteEnd = ({ type, payload }: LogEvent) => {
    if (type === 'run.rewound') {
      const { length } = transcriptOf(fold).items
      ends = ends.filter((end) => end <= length)
    } else if (type === 'step.end' && isFields(payload) && payload.finishReason !== undefined) {
      ends.push(transcriptOf(fold).items.length)
    }
  }

  const markShown = ({ items }: Transcript) => {
    for (const item of items) shown.add(itemKey(item))
  }

  /** What the user says next divides the answer in two. */
  const interrupt = (before: Transcript, message: Said) => {
    finished.push({ role: 'assistant', parts: newParts(before) })
    markShown(before)
    finished.push(message)
  }

  return {
    next(event: LogEvent) {
      const before = fold
      fold = foldEvent(before, event)
      noteEnd(event)
      const message = saidByUser(id, event, before)
      if (message !== undefined) interrupt(transcriptOf(before), message)
    },
    /** Leaves out what has been said so far. */
    leaveOut() {
      finished.length = 0
      markShown(transcriptOf(fold))
    },
    said(): readonly Said[] {
      const parts = newParts(transcriptOf(fold))
      const hasText = parts.some((part) => part.type === 'text' && part.isCommentary !== true)
      const value = status === 'completed' && result !== undefined ? fromJsonText(result) : undefined
      const text = hasText ? [] : partsOfResult(value)
      return [...finished, { role: 'assistant', parts: [...parts, ...text], content: value }]
    },
  }
}

/** The message of the user that the event tells: one that the run received while it worked, or its answer to a question. */
function saidByUser(runId: string, event: LogEvent, before: FoldState): Said | undefined {
  const received = receivedMessage(event)
  if (received !== undefined) return takenMessage(runId, { ...received, createdAt: event.at })
  if (event.type !== 'run.resumed' || !waitsForAnswer(transcriptOf(before))) return undefined
  const { payload } = fieldsOf(event)
  const sent = isFields(payload) && 'payload' in payload ? payload.payload : payload
  return { role: 'user', parts: partsOfInput(sent), content: sent }
}

function toMessages(run: TurnRun, said: readonly Said[], hasQuestion: boolean): readonly SessionMessage[] {
  const { id: runId, createdAt, completedAt = createdAt } = run
  const question = ownQuestion(run)
  const end = new Date(completedAt).toISOString()
  const answers = said.flatMap((one, index): readonly SessionMessage[] => {
    const { role, parts, content, createdAt: at = end } = one
    if (parts.length === 0 && content === undefined) return []
    const { id = index === 0 ? `msg_${runId}` : `msg_${runId}-${index + 1}` } = one
    return [{ id, role, content: content ?? null, parts, runId, createdAt: at }]
  })
  return question.content === null || !hasQuestion ? answers : [question, ...answers]
}
