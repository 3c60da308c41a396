import {
  type AppendedDelta,
  appendDelta,
  appendedText,
  askingItems,
  awaitsClient,
  type Block,
  beginFold,
  type FoldState,
  fieldsOf,
  foldEvent,
  hasEnded,
  itemChanges,
  itemKey,
  type LogEvent,
  outputText,
  type TextItem,
  type Transcript,
  transcriptOf,
  type UserMessageItem,
  waitsForAnswer,
} from '@perdure/core'
import { modelFinishOf } from '../chat/model-finish.ts'
import type { Frame, Projector, RunView } from '../projection.ts'
import { type AiSdkVersion, type Chunk, DONE, toFrame } from './chunk.ts'
import { createMessageParts, type ShownPart } from './message-parts.ts'

/** In bytes. A larger state is shown only when the run rests or ends, because each change repeats the whole state. */
const MAX_LIVE_STATE = 262_144

/** A message of the assistant as far as it is written. */
export interface ShownMessage {
  readonly id: string
  readonly parts: readonly ShownPart[]
  /** What the user has answered to it, if it asked for input. */
  readonly answer?: unknown
}

export interface AiSdkProjector extends Projector {
  /** The messages of the run. Each answer of the user to a question for input begins another one. */
  messages(): readonly ShownMessage[]
  /** What the run has received before it said anything. It stands before the messages. */
  first(): readonly UserMessageItem[]
}

/** Shows a run as messages of the assistant: one, and another one after each question for input. */
export function createAiSdkProjector(view: RunView, version: AiSdkVersion): AiSdkProjector {
  let fold = beginFold(view.runId)
  let hasHiddenState = false
  let parts = createMessageParts(version)
  const finished: ShownMessage[] = []

  const message = (): ShownMessage => ({
    id: messageIdOf(view.runId, finished.length),
    parts: parts.list(),
  })

  /** The answer of a run that has said nothing, as a text of its own. */
  const resultChunks = (): readonly Chunk[] => {
    const { run, content } = fold
    const hasText = parts
      .list()
      .some(({ item }) => item.kind === 'text' && item.phase === undefined && item.text !== '')
    if (run.status !== 'completed' || hasText) return []
    const text = outputText({ items: [], result: run.result })
    return text === '' ? [] : parts.show({ after: resultBlock(view.runId, text) }, content)
  }

  const flushState = (): readonly Chunk[] => {
    const [state] = fold.content.state
    if (!hasHiddenState || state === undefined) return []
    hasHiddenState = false
    return parts.showState(state)
  }

  const stateChunks = (before: FoldState): readonly Chunk[] => {
    const [state] = fold.content.state
    if (before.content.state === fold.content.state || state === undefined) return []
    hasHiddenState = true
    return state.bytes() > MAX_LIVE_STATE ? [] : flushState()
  }

  const itemChunks = (before: FoldState, event: LogEvent): readonly Chunk[] => {
    const { content } = fold
    const changes = itemChanges(before.content.items, content.items)
    const withdrawn = changes.filter(({ after }) => after === undefined)
    const keys = withdrawn.flatMap((change) => (change.before === undefined ? [] : [itemKey(change.before)]))
    return [
      ...parts.withdraw(keys, content),
      ...changes.flatMap((change) => {
        const { before: was, after: is } = change
        if (is === undefined) return []
        return parts.show(change, content, appendedText(was as Block | undefined, is as Block, event))
      }),
    ]
  }

  /** Most events of a run append to a text, so this does as little as possible. */
  const appendChunks = (appended: AppendedDelta): readonly Chunk[] => {
    const { state, key, after, delta } = appended
    fold = state
    const isShown = delta !== '' && parts.append(key, after)
    return isShown ? [{ type: `${after.kind}-delta`, id: after.id, delta }] : parts.show(appended, fold.content, delta)
  }

  const endChunks = (): readonly Frame[] => [
    ...[...flushState(), ...resultChunks(), ...parts.end(fold.content), ...finishOf(transcriptOf(fold))].map(toFrame),
    DONE,
  ]

  return {
    next(event) {
      const appended = appendDelta(fold, event)
      if (appended !== undefined) return appendChunks(appended).map(toFrame)
      const before = fold
      fold = foldEvent(before, event)
      if (fold === before) return []
      if (event.type === 'run.resumed' && waitsForAnswer(askedIn(before))) {
        finished.push({ ...message(), answer: fieldsOf(event).payload })
        parts = createMessageParts(version)
      }
      const chunks = [...itemChunks(before, event), ...stateChunks(before), ...eventChunks(event)]
      if (MARKS.has(event.type)) parts.mark()
      if (event.type === 'run.suspended') chunks.push(...flushState())
      const frames = chunks.map(toFrame)
      return hasEnded(fold) ? [...frames, ...endChunks()] : frames
    },
    opening(of) {
      const start = toFrame({ type: 'start', messageId: messageIdOf(view.runId, finished.length) })
      if (of === 'rest') return [start]
      const shown = [start, ...parts.all(fold.content).map(toFrame)]
      return hasEnded(fold) ? [...shown, ...endChunks()] : shown
    },
    rest() {
      if (fold.run.status !== 'suspended') return undefined
      const asked = askedIn(fold)
      if (!awaitsClient(asked)) return undefined
      const finishReason = waitsForAnswer(asked) ? 'stop' : 'tool-calls'
      return [...[...parts.end(fold.content), { type: 'finish', finishReason }].map(toFrame), DONE]
    },
    messages: () => [...finished, message()],
    first: () =>
      transcriptOf(fold).items.filter((item): item is UserMessageItem => item.kind === 'user-message' && item.isFirst),
  }
}

/** What the run waits for, without the items that ask nothing. */
const askedIn = ({ run, content }: FoldState) => ({ ...run, items: askingItems(content) })

/** The run whose answer has this id. */
export const runIdIn = (messageId: string): string | undefined => /^msg_([^-]+)/.exec(messageId)?.[1]

const messageIdOf = (runId: string, earlier: number): string =>
  earlier === 0 ? `msg_${runId}` : `msg_${runId}-${earlier + 1}`

/** The events between which a new attempt can withdraw what was shown. */
const MARKS: ReadonlySet<string> = new Set(['step.start', 'step.end', 'step.error', 'run.suspended'])

const resultBlock = (runId: string, text: string): TextItem => ({
  ...{ kind: 'text', id: `${runId}.result`, messageId: `${runId}.result`, text },
  ...{ isOpen: false, isExplicit: true, restarts: 0 },
})

/** What an event shows that is not an item of the transcript. */
function eventChunks(event: LogEvent): readonly Chunk[] {
  const fields = fieldsOf(event)
  if (event.type === 'part.data' && fields.transient === true && typeof fields.name === 'string') {
    return [{ type: `data-${fields.name}`, data: fields.data ?? null, transient: true }]
  }
  if (event.type !== 'approval.resolved' && event.type !== 'approval.expired') return []
  const { approvalId, by, reason } = fields
  const approved = event.type === 'approval.resolved' && fields.decision === 'approved'
  return [{ type: 'data-perdure-decision', data: { approvalId, approved, by, reason }, transient: true }]
}

function finishOf({ status, reason, finishReason, modelFinishReason, error }: Transcript): readonly Chunk[] {
  if (finishReason === 'joined') return [{ type: 'finish', finishReason: 'other' }]
  if (status === 'completed') return [{ type: 'finish', finishReason: modelFinishOf(modelFinishReason) }]
  if (status === 'aborted') return [{ type: 'abort', reason: reason ?? finishReason ?? 'aborted' }]
  return [
    { type: 'error', errorText: errorTextOf(error) },
    { type: 'finish', finishReason: 'error' },
  ]
}

const errorTextOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : 'the run failed'
