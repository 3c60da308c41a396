import {
  appendedText,
  type Block,
  type FoldState,
  fieldsOf,
  hasEnded,
  itemChanges,
  type LogEvent,
  outputText,
  type TextItem,
  type Transcript,
  textIn,
  transcriptOf,
} from '@perdure/core'
import { TRUNCATED } from '../chat/log-limit.ts'
import type { Frame, Projector } from '../projection.ts'
import type { ItemEvent, OutputItem } from './output-items.ts'
import {
  cutOf,
  endOf,
  isQueued,
  type ResponseState,
  type ResponseStatus,
  type ResponseView,
  secondsOf,
  toResponse,
} from './response-object.ts'
import { createResponseOutput } from './response-output.ts'
import { createSegments, type Segments } from './segments.ts'
import { NO_TOKENS, tokensOf, tokensSince } from './usage.ts'

export interface ResponseProjector extends Projector {
  /** Whether the response has ended, also when its run has not. */
  isOver(): boolean
  /** Whether no later response shows the same run. */
  isNewest(): boolean
  /** The response as it is now; `undefined` if the run has no such response. */
  response(): object | undefined
  items(): readonly OutputItem[]
}

export interface ResponseOptions {
  /** The number of the last event that the client has. */
  readonly after?: number | undefined
  /** The segment with which the log begins. */
  readonly firstSegment?: number
}

export function createResponseProjector(
  view: ResponseView,
  { after, firstSegment = 1 }: ResponseOptions = {},
): ResponseProjector {
  const segments = createSegments(view.runId, firstSegment)
  const response = createSegmentProjector(view, segments, after)
  return {
    ...response,
    next(event) {
      if (response.isOver()) return []
      const before = segments.fold()
      segments.next(event)
      return segments.fold() === before ? [] : response.show(before, event)
    },
  }
}

/** A response over a fold that several responses can share. */
export interface SegmentProjector extends Omit<ResponseProjector, 'next'> {
  /** Shows an event after it was folded. */
  show(before: FoldState, event: LogEvent): readonly Frame[]
}

export function createSegmentProjector(view: ResponseView, segments: Segments, after = -1): SegmentProjector {
  const output = createResponseOutput()
  let number = -1
  let usedBefore = NO_TOKENS
  let begun: { readonly createdAt: number } | undefined
  let status: ResponseStatus = 'queued'
  let end: Pick<ResponseState, 'error' | 'reason' | 'cut' | 'completedAt'> = {}
  let isOver = false
  /** Where a client reads what this response leaves out. */
  let rest: string | undefined
  /** The fold that the client has, while a new attempt can still withdraw what the last one left open. */
  let known: FoldState | undefined

  const toFrames = (events: readonly ItemEvent[]): readonly Frame[] =>
    events.map(({ type, ...members }) => {
      number += 1
      const isReceived = number <= after
      const data = isReceived ? '' : JSON.stringify({ type, sequence_number: number, ...members })
      return { event: type, data, ...(isReceived ? { isReceived } : {}) }
    })

  const response = (): object => {
    const used = segments.fold().run.usage
    const usage = used.length === 0 ? undefined : tokensSince(usedBefore, tokensOf(used))
    return toResponse(view, { status, createdAt: begun?.createdAt ?? 0, output: output.items(), usage, rest, ...end })
  }

  const lifecycle = (type: string): ItemEvent => ({ type: `response.${type}`, response: response() })

  /** A response that starts in the background shows that it is queued; any other one is in progress at once. */
  const begin = (event: LogEvent, before: FoldState): readonly Frame[] => {
    usedBefore = tokensOf(before.run.usage)
    begun = { createdAt: view.segment === 1 ? view.startedAt : secondsOf(event) }
    status = view.isBackground && isQueued(event) ? 'queued' : 'in_progress'
    const created = toFrames([lifecycle('created')])
    return [...created, ...toFrames([lifecycle(status)])]
  }

  const progress = (): readonly Frame[] => {
    if (status !== 'queued' || segments.fold().run.status === 'queued') return []
    status = 'in_progress'
    return toFrames([lifecycle('in_progress')])
  }

  const itemEvents = (previous: FoldState, event: LogEvent): readonly ItemEvent[] => {
    const before = known ?? previous
    known = BETWEEN_ATTEMPTS.has(event.type) ? before : undefined
    if (known !== undefined) return []
    const changes = itemChanges(before.content.items, segments.fold().content.items)
    const withdrawn = changes.filter((change) => change.after === undefined)
    const others = changes.filter((change) => change.after !== undefined)
    return [...withdrawn, ...others].flatMap((change) => {
      const isText = change.after?.kind === 'text' || change.after?.kind === 'reasoning'
      const delta = isText ? appendedText(change.before as Block, change.after as Block, event) : undefined
      return output.show(change, delta)
    })
  }

  const close = (last: ResponseStatus, events: readonly ItemEvent[], at: Partial<typeof end> = {}) => {
    const shown = toFrames(events)
    status = last
    end = at
    isOver = true
    return [...shown, ...toFrames([lifecycle(LAST_EVENTS[last] ?? last)])]
  }

  const closeAtRest = ({ content }: FoldState): readonly Frame[] => close('completed', output.rest(content))

  const closeAtEnd = (event: LogEvent): readonly Frame[] => {
    const transcript = transcriptOf(segments.fold())
    const { status: last, code: reason, message } = endOf(transcript)
    const error = last === 'failed' ? { code: 'server_error', message } : undefined
    const said = last === 'completed' ? resultBlock(transcript) : undefined
    const events = [...(said === undefined ? [] : output.showResult(said)), ...output.end()]
    const cut = last === 'completed' ? cutOf(transcript) : undefined
    const shown = last === 'completed' && (rest ?? cut) !== undefined ? 'incomplete' : last
    return close(shown, events, { error, reason, cut, completedAt: secondsOf(event) })
  }

  return {
    show(before, event) {
      if (isOver) return []
      if (event.type === TRUNCATED) rest = restOf(event)
      const current = segments.current()
      if (current > view.segment) return closeAtRest(before)
      if (current < view.segment) return []
      const opened = begun === undefined ? begin(event, before) : []
      const frames = [...opened, ...progress(), ...toFrames(itemEvents(before, event))]
      return hasEnded(segments.fold()) ? [...frames, ...closeAtEnd(event)] : frames
    },
    opening: () => [],
    rest() {
      if (isOver) return []
      const isAtRest = segments.isResting() && segments.current() === view.segment
      return isAtRest ? closeAtRest(segments.fold()) : undefined
    },
    isOver: () => isOver,
    isNewest: () => segments.current() <= view.segment,
    items: output.items,
    response: () => (begun === undefined ? undefined : response()),
  }
}

/** The events between two attempts. They close what the last attempt left open, before `run.rewound` withdraws it. */
const BETWEEN_ATTEMPTS: ReadonlySet<string> = new Set(['run.retrying', 'run.queued', 'run.started'])

const restOf = (event: LogEvent): string | undefined => textIn(fieldsOf(event), 'rest')

/** The event that ends a response; for a response that was cancelled the client knows none. */
const LAST_EVENTS: Readonly<Partial<Record<ResponseStatus, string>>> = { cancelled: 'incomplete' }

/** The answer of a run that has said nothing, from its result. */
export function resultBlock({ runId, items, result }: Transcript): TextItem | undefined {
  const hasText = items.some((item) => item.kind === 'text' && item.phase === undefined && item.text !== '')
  const text = hasText ? '' : outputText({ items: [], result })
  if (text === '') return undefined
  const id = `${runId}.result`
  return { kind: 'text', id, messageId: id, text, isOpen: false, isExplicit: true, restarts: 0 }
}
