import {
  EVERY_ROW,
  type EventLog,
  fromJsonText,
  type MessageRecord,
  type RunRecord,
  type RunStore,
  type SessionStore,
  type StepStore,
} from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'
import { withResult } from '../durable/recorded-result.ts'
import { noResultFiles, type ResultFiles } from '../durable/result-files.ts'
import { isBefore } from '../runs/turn.ts'
import { partsOfInput, partsOfResult } from './answer-parts.ts'
import type { SessionMessage } from './session-message.ts'
import { type MessageResource, toMessageResource } from './session-resource.ts'
import type { TurnReader } from './turn-cache.ts'
import type { Compaction, TurnMessages, TurnRun } from './turn-messages.ts'

export interface BranchDeps {
  readonly runs: Pick<RunStore, 'find' | 'list'>
  readonly sessions: Pick<SessionStore, 'messages'>
  readonly events: Pick<EventLog, 'head'>
  readonly readTurn: TurnReader
  readonly steps: Pick<StepStore, 'find'>
  /** Reads a long summary. */
  readonly resultFiles?: ResultFiles | undefined
}

/** The part of a conversation that a run has seen. Small, so that it can be recorded instead of the messages. */
export interface BranchCut {
  /** The ids of the turns, newest first. The first one is the run itself, unless it is a child. */
  readonly turns: readonly string[]
  /** Position of the last event of the log that counts. */
  readonly through: number
  /** Position of the last message of the transcript that counts. */
  readonly seq: number
}

/** The text of all messages that one call returns. The oldest turns are left out. */
const MAX_LENGTH = 4 * 1_024 * 1_024

/** Chooses the turns that the run sees: its own, and the earlier ones that no run has withdrawn. */
export async function cutBranch(
  { runs, sessions, events }: BranchDeps,
  { runId, sessionId, maxTurns }: { readonly runId: string; readonly sessionId: string; readonly maxTurns: number },
): Promise<BranchCut> {
  const [own, head, seq] = await Promise.all([
    runs.find(runId, EVERY_ROW),
    events.head(),
    newestSeq(sessions, sessionId),
  ])
  const turns: string[] = []
  if (own === undefined) return { turns, through: head.position, seq: 0 }
  // A withdrawn run is not listed, but it still answers its own question.
  if (own.parentRunId === undefined) turns.push(runId)
  for await (const turn of eachItem((cursor) => runs.list(...newestFirst(sessionId, own, { maxTurns, cursor })))) {
    if (turns.length >= maxTurns) break
    if (isBefore(turn, own)) turns.push(turn.id)
  }
  return { turns, through: head.position, seq }
}

/** The position of the newest message of the transcript; 0 if there is none. */
export async function newestSeq(sessions: BranchDeps['sessions'], sessionId: string): Promise<number> {
  const { items } = await sessions.messages(sessionId, { limit: 1, order: 'desc' })
  return items[0]?.seq ?? 0
}

const newestFirst = (
  sessionId: string,
  { createdAt }: RunRecord,
  { maxTurns, cursor }: { readonly maxTurns: number; readonly cursor: string | undefined },
) =>
  [
    { sessionId, isTurn: true, until: (createdAt + 1) as typeof createdAt },
    { limit: Math.min(maxTurns + 1, MAX_PAGE), order: 'desc', content: [], cursor },
    EVERY_ROW,
  ] as const satisfies Parameters<RunStore['list']>

const MAX_PAGE = 200
const MAX_ROWS = 100

export interface BranchRange {
  readonly sessionId: string
  readonly limit: number
  /** Whether to begin with the newest summary. */
  readonly isCompacted: boolean
}

/** The newest messages of a cut, oldest first. Messages of deleted turns are left out. */
export async function readBranch(
  deps: BranchDeps,
  { turns, through, seq }: BranchCut,
  { sessionId, limit, isCompacted }: BranchRange,
): Promise<readonly SessionMessage[]> {
  const { epoch } = await deps.events.head()
  const found: TurnMessages[] = []
  const runs: TurnRun[] = []
  let summary: SessionMessage | undefined
  let room = MAX_LENGTH
  let count = 0
  for (const id of turns) {
    if (count >= limit) break
    const run = await deps.runs.find(id, EVERY_ROW)
    if (run === undefined) continue
    const turn = await deps.readTurn(run, { epoch, through, maxLength: room, isCompacted })
    if (turn === undefined) break
    room -= turn.length
    count += turn.messages.length
    found.push(turn)
    runs.push(run)
    summary = await summaryOf(deps, run, turn.compaction)
    if (summary !== undefined) break
  }
  const rows = await rowsOf(deps, sessionId, { oldest: runs.at(-1), seq, limit: Math.min(2 * runs.length, MAX_ROWS) })
  const messages = found
    .map((turn, index) => withRows(turn, runs[index] as TurnRun, rows.get(runs[index]?.id ?? '') ?? []))
    .toReversed()
    .flat()
  if (summary === undefined) return messages.slice(-limit)
  return [summary, ...messages.slice(Math.max(0, messages.length - limit + 1))]
}

async function summaryOf(
  { steps, resultFiles = noResultFiles }: Pick<BranchDeps, 'steps' | 'resultFiles'>,
  { id: runId }: TurnRun,
  compaction: Compaction | undefined,
): Promise<SessionMessage | undefined> {
  if (compaction === undefined) return undefined
  const step = await steps.find(runId, compaction.seq)
  const { result } = step === undefined ? {} : await withResult({ resultFiles }, step)
  if (result === undefined) return undefined
  const content = fromJsonText(result)
  const createdAt = new Date(compaction.at).toISOString()
  return {
    id: `sum_${runId}-${compaction.seq}`,
    role: 'summary',
    content,
    parts: partsOfResult(content),
    runId,
    createdAt,
  }
}

/** The rows of the transcript by run, from the oldest run that is shown. */
async function rowsOf(
  { sessions }: Pick<BranchDeps, 'sessions'>,
  sessionId: string,
  { oldest, seq, limit }: { readonly oldest: TurnRun | undefined; readonly seq: number; readonly limit: number },
): Promise<ReadonlyMap<string, readonly MessageRecord[]>> {
  const rows = new Map<string, readonly MessageRecord[]>()
  if (oldest === undefined) return rows
  let length = 0
  for await (const row of eachItem((cursor) => sessions.messages(sessionId, { limit, order: 'desc', cursor }))) {
    length += row.content.length
    if (row.createdAt < oldest.createdAt || length > 2 * MAX_LENGTH) break
    const { runId } = row
    if (runId !== undefined && row.seq <= seq) rows.set(runId, [row, ...(rows.get(runId) ?? [])])
    if (runId === oldest.id && row.role === 'user' && row.content === oldest.input) break
  }
  return rows
}

/** Adds what the run has appended, between its question and its answer, and the positions of both in the transcript. */
function withRows(
  { messages, compaction }: TurnMessages,
  run: TurnRun,
  rows: readonly MessageRecord[],
): readonly SessionMessage[] {
  const questions = questionRows(run, rows)
  const answer = run.status === 'completed' ? rows.findLast((row) => isAnswer(row, run)) : undefined
  const isShown = (row: MessageRecord) => compaction === undefined || row.seq > compaction.through
  const appended = rows.filter((row) => !questions.includes(row) && row !== answer && isShown(row)).map(toAppended)
  const [first, ...others] = messages
  const hasQuestion = first?.role === 'user' && compaction === undefined
  const asked = hasQuestion ? [placed(first, questions.at(-1))] : []
  const answers = hasQuestion ? others : messages
  const last = answers.at(-1)
  return [...asked, ...answers.slice(0, -1), ...appended, ...(last === undefined ? [] : [placed(last, answer)])]
}

/** A debounced run has a row for each request that it combines. */
function questionRows({ input, flow, startAt }: TurnRun, rows: readonly MessageRecord[]): readonly MessageRecord[] {
  const ofUser = rows.filter(({ role }) => role === 'user')
  if (flow?.debounce !== undefined) return ofUser.filter(({ createdAt }) => createdAt <= (startAt ?? createdAt))
  return ofUser.filter(({ content }) => content === input).slice(0, 1)
}

const isAnswer = ({ role, content }: MessageRecord, { result }: TurnRun): boolean =>
  role === 'assistant' && content === result

const placed = (message: SessionMessage, row: MessageRecord | undefined): SessionMessage =>
  row === undefined ? message : { ...message, seq: row.seq }

const toAppended = (row: MessageRecord): SessionMessage => toSessionMessage(toMessageResource(row))

/** A message of the transcript with its content as parts. */
export function toSessionMessage({ runId, ...message }: MessageResource): SessionMessage {
  const parts = message.role === 'user' ? partsOfInput(message.content) : partsOfResult(message.content)
  return { ...message, ...(runId === undefined ? {} : { runId }), parts }
}
