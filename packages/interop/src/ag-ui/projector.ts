import {
  type AppendedDelta,
  appendDelta,
  awaitsClient,
  beginFold,
  type FoldState,
  fieldsOf,
  foldEvent,
  hasEnded,
  type ItemChange,
  isFields,
  itemChanges,
  itemKey,
  type LogEvent,
  outputText,
  type TextItem,
  type Transcript,
  type TranscriptItem,
  transcriptOf,
} from '@perdure/core'
import { TRUNCATED } from '../chat/log-limit.ts'
import type { Frame, Projector, RunView } from '../projection.ts'
import { interruptsOf, offeredCalls } from './interrupts.ts'
import {
  type AgUiEvent,
  childEvents,
  closingEvents,
  customEvent,
  messageEvents,
  nothingOpen,
  type Open,
  otherEvents,
  reasoningEvents,
  textEvents,
  toolEvents,
  userMessageEvents,
} from './item-events.ts'
import { type AgUiMessage, messagesOf, resultOf, type SaidItem } from './message.ts'
import { appended, isBlock, isReplaced } from './shown-text.ts'

export interface AgUiView extends RunView {
  readonly threadId: string
  /** The id that the client gave this part of the run. */
  readonly clientRunId: string
  /** The tools that the client offered when it started the run. It performs them without an interrupt. */
  readonly offered?: ReadonlySet<string>
  /** The tool calls whose results the client has sent. It has messages of its own for them. */
  readonly performed?: ReadonlySet<string>
  /** The messages of the thread before this run. */
  readonly history: readonly AgUiMessage[]
  /** Where the messages can be read that the history lacks, because it would be too long. */
  readonly rest?: string | undefined
}

export interface AgUiProjector extends Projector {
  /** The messages of the thread as a client has them. */
  messages(): readonly AgUiMessage[]
}

/** Shows a run as events of AG-UI. */
export function createAgUiProjector(view: AgUiView): AgUiProjector {
  let fold = beginFold(view.runId)
  let open = nothingOpen()
  let at = 0
  const shown = new Map<string, TranscriptItem>()

  /** A client may have a message of its own, such as the user's decision, for a call that the server executes. */
  const isPerformed = (id: string): boolean =>
    view.performed?.has(id) === true &&
    [...shown.values()].some((item) => item.kind === 'tool' && item.id === id && item.executor === 'client')
  const toFrame = (event: AgUiEvent): Frame => ({
    data: JSON.stringify({ ...event, timestamp: at }),
    ...(event.type === 'TOOL_CALL_RESULT' && isPerformed(String(event.toolCallId)) ? { isReceived: true } : {}),
  })
  const run = { threadId: view.threadId, runId: view.clientRunId }

  const messages = (without?: SaidItem): readonly AgUiMessage[] => [
    ...view.history,
    ...[...shown.values()]
      .filter(isSaid)
      .filter((item) => item !== without)
      .flatMap(messagesOf),
  ]

  const show = ({ before, after }: ItemChange, delta?: string): readonly AgUiEvent[] => {
    if (after === undefined) return []
    const known = before === undefined ? undefined : shown.get(itemKey(after))
    // A client cannot replace a result.
    if (known?.kind === 'tool' && resultOf(known) !== undefined) return []
    shown.set(itemKey(after), after)
    return partEvents(known, after, { open, delta })
  }

  /** Closes and forgets these items. A snapshot without them replaces the messages of the client. */
  const withdraw = (items: readonly TranscriptItem[]): readonly AgUiEvent[] => {
    const said = items.filter((item) => isSaid(item) && shown.has(itemKey(item)))
    for (const item of items) shown.delete(itemKey(item))
    if (said.length === 0) return []
    const closed = closingEvents({ ...open, steps: new Map(), children: new Set() })
    for (const set of [open.text, open.reasoning, open.calls]) set.clear()
    return [...closed, ...snapshot()]
  }

  /** The messages, and the start of the blocks and calls that are open: clients append to them. */
  const snapshot = (): readonly AgUiEvent[] => {
    const last = [...shown.values()].filter(isSaid).at(-1)
    // The client of TanStack forgets the text of a message that starts again, so the last one is not in the messages yet.
    const going = last !== undefined && isBlock(last) && last.isOpen ? last : undefined
    return [{ type: 'MESSAGES_SNAPSHOT', messages: messages(going) }, ...reopened(going)]
  }

  const reopened = (going: SaidItem | undefined): readonly AgUiEvent[] =>
    [...shown.values()].flatMap((item) => {
      const delta = item === going ? undefined : ''
      if (item.kind === 'text' && item.isOpen && !open.text.has(item.id)) {
        return textEvents(undefined, item, open, delta)
      }
      if (item.kind === 'reasoning' && item.isOpen) return reasoningEvents(undefined, item, open, delta)
      return item.kind === 'tool' && item.status === 'calling' ? toolEvents(undefined, item, open) : []
    })

  const itemEvents = (before: FoldState, event: LogEvent): readonly AgUiEvent[] => {
    const changes = itemChanges(before.content.items, fold.content.items)
    const replaced = changes.filter((change) => isReplaced(change, event))
    const gone = replaced.flatMap((change) => (change.before === undefined ? [] : [change.before]))
    return [...withdraw(gone), ...changes.flatMap((change) => show(change, appended(change, event)))]
  }

  /** Most events of a run append to a text, so this does as little as possible. */
  const appendFrames = (appended: AppendedDelta, event: LogEvent): readonly Frame[] => {
    const { state, key, after, delta } = appended
    fold = state
    at = Date.parse(event.at)
    if (delta === '' || after.kind !== 'text' || !open.text.has(after.id)) return show(appended, delta).map(toFrame)
    shown.set(key, after)
    const content = { type: 'TEXT_MESSAGE_CONTENT', messageId: after.id, delta, timestamp: at }
    return [{ data: JSON.stringify(content) }]
  }

  const stepEvents = (before: FoldState): readonly AgUiEvent[] => {
    const current = fold.run.openSteps
    if (before.run.openSteps === current) return []
    const ended = [...open.steps].filter(([seq]) => !current.some((step) => step.seq === seq))
    for (const [seq] of ended) open.steps.delete(seq)
    const begun = current.filter(({ seq, kind }) => kind === 'step' && !open.steps.has(seq))
    return [
      ...ended.map(([, stepName]) => ({ type: 'STEP_FINISHED', stepName })),
      ...begun.map(({ seq, step }) => {
        const stepName = [...open.steps.values()].includes(step) ? `${step} #${seq}` : step
        open.steps.set(seq, stepName)
        return { type: 'STEP_STARTED', stepName }
      }),
    ]
  }

  const stateEvents = (before: FoldState, event: LogEvent): readonly AgUiEvent[] => {
    const [state] = fold.content.state
    if (before.content.state === fold.content.state || state === undefined) return []
    const { patch } = fieldsOf(event)
    const isDelta = event.type === 'part.state-delta' && before.content.state.length > 0
    return [isDelta ? { type: 'STATE_DELTA', delta: patch } : { type: 'STATE_SNAPSHOT', snapshot: state }]
  }

  const resultEvents = (): readonly AgUiEvent[] => {
    const isAnswer = (item: TranscriptItem) => item.kind === 'text' && item.phase === undefined && item.text !== ''
    const text = [...shown.values()].some(isAnswer) ? '' : outputText({ items: [], result: fold.run.result })
    if (text === '' || fold.run.status !== 'completed') return []
    const id = `${view.runId}.result`
    const item: TextItem = { kind: 'text', id, messageId: id, text, isOpen: false, isExplicit: true, restarts: 0 }
    return show({ after: item })
  }

  const close = (last: AgUiEvent): readonly Frame[] => {
    const closed = [...resultEvents(), ...closingEvents(open), last].map(toFrame)
    open = nothingOpen()
    return closed
  }

  return {
    next(event) {
      const appended = appendDelta(fold, event)
      if (appended !== undefined) return appendFrames(appended, event)
      const before = fold
      fold = foldEvent(before, event)
      if (fold === before) return []
      at = Date.parse(event.at)
      const events = [
        ...itemEvents(before, event),
        ...stepEvents(before),
        ...stateEvents(before, event),
        ...otherEvents(event),
      ]
      const frames = events.map(toFrame)
      return hasEnded(fold) ? [...frames, ...close(endOf(transcriptOf(fold), run))] : frames
    },
    opening(of) {
      const started = { type: 'RUN_STARTED', ...run, protocolVersion: '1.0', metadata: { perdureRunId: view.runId } }
      // The frames behind the opening are those of a reader that was there from the beginning, so it can resume at any of them.
      const { steps, ended, children } = open
      open = { ...nothingOpen(), steps, ended }
      const going = [
        ...[...steps.values()].map((stepName) => ({ type: 'STEP_STARTED', stepName })),
        ...[...shown.values()].flatMap((item) =>
          item.kind === 'child' && children.has(item.id) ? childEvents(item, open) : [],
        ),
      ]
      if (of === 'rest') return [started, ...going].map(toFrame)
      const [state] = fold.content.state
      const frames = [
        started,
        ...going,
        ...(view.rest === undefined ? [] : [{ type: 'CUSTOM', name: TRUNCATED, value: { rest: view.rest } }]),
        ...(state === undefined ? [] : [{ type: 'STATE_SNAPSHOT', snapshot: state }]),
        ...snapshot(),
      ].map(toFrame)
      return hasEnded(fold) ? [...frames, ...close(endOf(transcriptOf(fold), run))] : frames
    },
    rest() {
      if (fold.run.status !== 'suspended') return undefined
      const transcript = transcriptOf(fold)
      if (!awaitsClient(transcript)) return undefined
      const interrupts = interruptsOf(transcript, view.offered)
      const outcome = interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }
      const asked = offeredCalls(transcript, view.offered).map(toFrame)
      return [...asked, ...close({ type: 'RUN_FINISHED', ...run, outcome })]
    },
    messages: () => messages(),
  }
}

function partEvents(
  known: TranscriptItem | undefined,
  item: TranscriptItem,
  { open, delta }: { readonly open: Open; readonly delta: string | undefined },
): readonly AgUiEvent[] {
  switch (item.kind) {
    case 'text':
      return textEvents(known as typeof item | undefined, item, open, delta)
    case 'reasoning':
      return reasoningEvents(known as typeof item | undefined, item, open, delta)
    case 'tool':
      return toolEvents(known as typeof item | undefined, item, open)
    case 'child':
      return childEvents(item, open)
    case 'user-message':
      return known === undefined && !item.isFirst ? userMessageEvents(item) : []
    case 'message':
      return known === undefined ? messageEvents(item) : []
    default: {
      const custom = customEvent(item)
      return custom === undefined ? [] : [custom]
    }
  }
}

const isSaid = (item: TranscriptItem): item is SaidItem =>
  item.kind === 'text' ||
  item.kind === 'reasoning' ||
  item.kind === 'tool' ||
  item.kind === 'message' ||
  item.kind === 'user-message'

function endOf(transcript: Transcript, run: { readonly threadId: string; readonly runId: string }): AgUiEvent {
  const { status, finishReason, result, error, usage } = transcript
  const used = usage.map(({ costUsd: _, ...tokens }) => tokens)
  const more = { ...(used.length === 0 ? {} : { usage: used }) }
  if (status === 'completed') {
    const value = result === undefined || result === null ? {} : { result }
    return { type: 'RUN_FINISHED', ...run, outcome: { type: 'success' }, ...value, ...more }
  }
  if (status === 'aborted' && finishReason === 'aborted') {
    return { type: 'RUN_FINISHED', ...run, outcome: { type: 'cancelled' }, ...more }
  }
  const { message = `the run ended: ${finishReason}`, code = finishReason ?? 'run-failed' } = isFields(error)
    ? error
    : {}
  return { type: 'RUN_ERROR', message: String(message), code: String(code) }
}
