import { ENDED_RUN_STATUSES, isAgentEventType } from '@perdure/protocol'
import { type Content, closeBlocks, itemsOf, NO_CONTENT } from './content.ts'
import { foldContent } from './fold-content.ts'
import { endQuestions } from './fold-tools.ts'
import { type Fields, fieldsOf, type LogEvent, numberIn, textIn } from './log-event.ts'
import type { OpenStep, Transcript, Usage } from './transcript.ts'

/** The fold of a log up to an event. It is never changed in place. */
export interface FoldState {
  readonly run: RunPart
  readonly content: Content
  /** Where the content can be taken back to: a recorded call, and failed tries after it. */
  readonly marks: readonly Mark[]
}

type RunPart = Omit<Transcript, 'items' | 'state'>

interface Mark {
  readonly eventId: string
  readonly content: Content
  /** The later events of the server, newest first; they are not withdrawn with those of the agent. */
  readonly later: EventList | undefined
}

interface EventList {
  readonly event: LogEvent
  readonly rest: EventList | undefined
}

/** The fold of an empty log. */
export const beginFold = (runId: string): FoldState => ({
  run: { runId, attempt: 1, continuation: 0, usage: [], openSteps: [] },
  content: NO_CONTENT,
  marks: [],
})

/** Folds a log. A log can be folded part by part: `foldLog(rest, foldLog(start, state))` equals the fold of the whole. */
export const foldLog = (events: Iterable<LogEvent>, state: FoldState): FoldState => {
  let folded = state
  for (const event of events) folded = foldEvent(folded, event)
  return folded
}

/** Whether the event changes only the state. A reader that shows no state skips it: patches of a long state take time. */
export const isStateEvent = ({ type }: Pick<LogEvent, 'type'>): boolean =>
  type === 'part.state' || type === 'part.state-delta'

/** Folds the next event of the log. Every sequence of events has a fold; events after the end of a run change nothing. */
export function foldEvent(state: FoldState, event: LogEvent): FoldState {
  if (hasEnded(state)) return state
  const fields = fieldsOf(event)
  const run = foldRun({ ...state.run, lastEventId: event.eventId }, event.type, fields)
  const { content, marks } = state
  if (event.type === 'run.rewound') return rewind({ run, content, marks }, textIn(fields, 'after'))
  const settled = SEGMENT_ENDS.has(event.type) ? closeBlocks(content, () => true) : content
  const folded = foldContent(settled, event, run)
  const shown = CUT_OFF.has(run.status ?? '') ? endQuestions(folded) : folded
  if (isMark(event, fields, marks)) {
    const mark = { eventId: event.eventId, content: shown, later: undefined }
    return { run, content: shown, marks: isRepeatable(event.type) ? [...marks, mark] : [mark] }
  }
  const isKept = shown !== settled && !isAgentEventType(event.type)
  return { run, content: shown, marks: isKept ? withLater(marks, event) : marks }
}

const ENDED: ReadonlySet<string> = new Set(ENDED_RUN_STATUSES)

/** Whether the run of the log has ended. */
export const hasEnded = ({ run }: Pick<FoldState, 'run'>): boolean => ENDED.has(run.status ?? '')

const CUT_OFF: ReadonlySet<string> = new Set(['failed', 'aborted'])

/** The events at which no block stays open. */
const SEGMENT_ENDS: ReadonlySet<string> = new Set([
  ...['run.started', 'run.suspended', 'run.retrying', 'run.completed', 'run.failed', 'run.aborted'],
])

const CODE_REASONS: readonly unknown[] = ['divergence', 'version']

/** The events to which `run.rewound` can refer. */
function isMark({ type }: LogEvent, { reason }: Fields, marks: readonly Mark[]): boolean {
  if (type === 'run.started') return marks.length === 0
  if (type === 'run.suspended') return !CODE_REASONS.includes(reason)
  return type === 'step.start' || type === 'step.end' || type === 'step.error'
}

/** After a failed try, `run.rewound` may also refer to an earlier event. */
const isRepeatable = (type: string): boolean => type === 'step.error'

const withLater = (marks: readonly Mark[], event: LogEvent): readonly Mark[] =>
  marks.map((mark) => ({ ...mark, later: { event, rest: mark.later } }))

/** Withdraws what the agent emitted after the event. A log that lacks the event keeps everything. */
function rewind(state: FoldState, after: string | undefined): FoldState {
  const index = state.marks.findIndex(({ eventId }) => eventId === after)
  const mark = state.marks[index]
  if (mark === undefined) return state
  const kept: LogEvent[] = []
  for (let later = mark.later; later !== undefined; later = later.rest) kept.unshift(later.event)
  const content = kept.reduce(
    (folded, event) => foldContent(folded, event, state.run),
    closeBlocks(mark.content, () => true),
  )
  return { ...state, content, marks: state.marks.slice(0, index + 1) }
}

function foldRun(run: RunPart, type: string, fields: Fields): RunPart {
  if (type === 'usage') return { ...run, usage: addUsage(run.usage, usageOf(fields)) }
  if (type.startsWith('step.'))
    return { ...run, ...answerIn(type, fields), openSteps: foldSteps(run.openSteps, type, fields) }
  if (!type.startsWith('run.')) return run
  const status = textIn(fields, 'status')
  if (type.startsWith('run.child.') || status === undefined) return run
  const { waitingFor: _, ...before } = run
  const attempt = numberIn(fields, 'attempt') ?? run.attempt
  const continuation = type === 'run.started' ? run.continuation + 1 : run.continuation
  return { ...before, status, attempt, continuation, ...endOf(type, fields) }
}

function endOf(type: string, fields: Fields): Partial<RunPart> {
  const { waitingFor, result, error } = fields
  if (type === 'run.suspended') return waitingFor === undefined ? {} : { waitingFor }
  const finishReason = textIn(fields, 'finishReason')
  const reason = textIn(fields, 'reason')
  if (finishReason === undefined) return {}
  return {
    finishReason,
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    ...(reason === undefined ? {} : { reason }),
  }
}

function answerIn(type: string, fields: Fields): Partial<RunPart> {
  const modelFinishReason = type === 'step.end' ? textIn(fields, 'finishReason') : undefined
  return modelFinishReason === undefined ? {} : { modelFinishReason }
}

/** One entry for each model. */
function addUsage(all: readonly Usage[], more: Usage): readonly Usage[] {
  const index = all.findIndex(({ provider, model }) => provider === more.provider && model === more.model)
  const known = all[index]
  if (known === undefined) return [...all, more]
  return all.with(index, {
    ...known,
    inputTokens: known.inputTokens + more.inputTokens,
    cachedInputTokens: known.cachedInputTokens + more.cachedInputTokens,
    outputTokens: known.outputTokens + more.outputTokens,
    costUsd: known.costUsd + more.costUsd,
  })
}

const usageOf = (fields: Fields): Usage => ({
  provider: textIn(fields, 'provider') ?? '',
  model: textIn(fields, 'model') ?? '',
  inputTokens: numberIn(fields, 'inputTokens') ?? 0,
  cachedInputTokens: numberIn(fields, 'cachedInputTokens') ?? 0,
  outputTokens: numberIn(fields, 'outputTokens') ?? 0,
  costUsd: numberIn(fields, 'costUsd') ?? 0,
})

/** A try that fails and is repeated leaves its call open. */
function foldSteps(open: readonly OpenStep[], type: string, fields: Fields): readonly OpenStep[] {
  const seq = numberIn(fields, 'seq')
  if (seq === undefined) return open
  if (type === 'step.start') {
    const step = { seq, step: textIn(fields, 'step') ?? '', kind: textIn(fields, 'kind') ?? 'step' }
    return [...open.filter((one) => one.seq !== seq), step]
  }
  return type === 'step.error' && fields.willRetry === true ? open : open.filter((one) => one.seq !== seq)
}

/** What the log tells up to its last folded event. */
export function transcriptOf({ run, content }: FoldState): Transcript {
  const [state] = content.state
  return { ...run, items: itemsOf(content), ...(state === undefined ? {} : { state: state.value() }) }
}
