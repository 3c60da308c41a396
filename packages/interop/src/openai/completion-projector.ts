import {
  type ApprovalItem,
  appendedText,
  askingItems,
  type Block,
  type FoldState,
  hasEnded,
  type ItemChange,
  itemChanges,
  itemIn,
  itemKey,
  type LogEvent,
  type MessageItem,
  type ReasoningItem,
  type TextItem,
  type ToolItem,
  type TranscriptItem,
  transcriptOf,
} from '@perdure/core'
import { isOpenApproval } from '@perdure/protocol'
import { TRUNCATED } from '../chat/log-limit.ts'
import type { Frame, Projector, RunView } from '../projection.ts'
import { clientCallId } from './client-call-id.ts'
import { argumentsOf, textOfMessage } from './output-items.ts'
import { cutOf, endOf, type RunEnd, secondsOf } from './response-object.ts'
import { resultBlock } from './response-projector.ts'
import { createSegments } from './segments.ts'
import { failureOf, RESTARTED } from './stream-errors.ts'
import { completionUsage, NO_TOKENS, tokensOf, tokensSince } from './usage.ts'

export interface CompletionView extends RunView {
  readonly segment: number
  readonly model: string
  /** Whether the client gets the text while the run says it, and not as a whole. */
  readonly isStreamed: boolean
  /** Whether the text of earlier events is shown as a whole by `opening`, so that none of it can be withdrawn. */
  readonly isCatchingUp?: boolean | undefined
  /** Whether a chunk with the usage follows the last one. */
  readonly hasUsage: boolean
}

export interface CompletionProjector extends Projector {
  isOver(): boolean
  /** Whether the answer ended because the run has withdrawn text that the client has. */
  hasRestarted(): boolean
  /** The whole answer, or the failure of the run; `undefined` while the run executes. */
  completion(): { readonly completion: object } | { readonly failure: RunEnd } | undefined
}

/** The function by whose call a client is asked for a decision. */
const APPROVAL_FUNCTION = 'perdure_approval'

const BETWEEN_BLOCKS = '\n\n'

const DONE: Frame = { data: '[DONE]' }

interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/**
 * Shows a segment of a run as one Chat Completion. Its text is that of the blocks in their order: a later block waits
 * until the ones before it are closed. A client cannot take text back, so a run that says it again ends the answer with
 * an error.
 */
export function createCompletionProjector(view: CompletionView): CompletionProjector {
  const segments = createSegments(view.runId)
  /** The blocks of this segment, in their order. */
  const blocks = new Map<string, Said>()
  let current = 0
  let content = ''
  let reasoning = ''
  let createdAt: number | undefined
  let usedBefore = NO_TOKENS
  let calls: readonly ToolCall[] = []
  let end: RunEnd | undefined
  let isOver = false
  let hasRestarted = false
  let isTruncated = false
  let isStreaming = view.isStreamed && !view.isCatchingUp
  let last: readonly Frame[] = []

  const chunk = (members: object): Frame => ({
    data: JSON.stringify({ ...common('chat.completion.chunk'), ...members }),
  })
  const common = (object: string) => ({ id: completionId(view), object, created: createdAt ?? 0, model: view.model })
  const choice = (delta: object, finish_reason: string | null = null): Frame =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })

  const usage = () => completionUsage(tokensSince(usedBefore, tokensOf(segments.fold().run.usage)))

  const begin = (): Frame => choice({ role: 'assistant', content: '' })

  const say = (text: string): readonly Frame[] => {
    if (text === '') return []
    content += text
    return [choice({ content: text })]
  }

  /** Says what is new in the first block that is open, and in the closed ones before it. */
  const sayBlocks = (): readonly Frame[] => {
    const frames: Frame[] = []
    const ordered = [...blocks.values()]
    for (; current < ordered.length; current++) {
      const block = ordered[current] as Said
      const text = block.text.slice(block.said)
      if (text !== '') frames.push(...say(block.said === 0 && content !== '' ? BETWEEN_BLOCKS + text : text))
      block.said = block.text.length
      if (block.isOpen) break
    }
    return frames
  }

  /** Takes a change of a block over; `false` if the client has text that the block does not say any more. */
  const take = (key: string, after: Pick<TextItem, 'text' | 'isOpen' | 'restarts'>): boolean => {
    const known = blocks.get(key)
    if (known === undefined) {
      const { text, isOpen, restarts } = after
      blocks.set(key, { index: blocks.size, text, isOpen, restarts, said: 0 })
      return true
    }
    const continues = known.said === 0 || (known.restarts === after.restarts && after.text.startsWith(known.text))
    const isTooLate = known.index < current && after.text.length > known.said
    if (!continues || isTooLate) return false
    Object.assign(known, { text: after.text, isOpen: after.isOpen, restarts: after.restarts })
    return true
  }

  const withdraw = (key: string): boolean => {
    const known = blocks.get(key)
    if (known === undefined) return true
    if (known.said > 0) return false
    Object.assign(known, { text: '', isOpen: false })
    return true
  }

  const think = (before: Block | undefined, after: ReasoningItem, event: LogEvent): readonly Frame[] => {
    const same = before === undefined || after.text.startsWith(before.text) ? (before?.text.length ?? 0) : 0
    const text = appendedText(before, after, event) ?? after.text.slice(same)
    reasoning += text
    return text === '' ? [] : [choice({ reasoning_content: text })]
  }

  /** `undefined` if the change takes back what the client has. */
  const showChange = ({ before: was, after: is }: ItemChange, event: LogEvent): readonly Frame[] | undefined => {
    const key = itemKey((is ?? was) as TranscriptItem)
    if (is === undefined) return withdraw(key) ? [] : undefined
    if (is.kind === 'reasoning') return think(was as Block | undefined, is, event)
    const isNew = isSaid(is) && (blocks.has(key) || !isSaidEarlier(was, is))
    return !isNew || take(key, toBlock(is)) ? [] : undefined
  }

  const showChanges = (before: FoldState, event: LogEvent): readonly Frame[] => {
    const changes = itemChanges(before.content.items, segments.fold().content.items)
    const shown = changes.map((change) => showChange(change, event))
    const frames = shown.flatMap((one) => one ?? [])
    if (shown.includes(undefined)) {
      hasRestarted = true
      return [...frames, ...fail(RESTARTED)]
    }
    return isStreaming ? [...frames, ...sayBlocks()] : frames
  }

  const show = (before: FoldState, event: LogEvent): readonly Frame[] => {
    const isFirst = createdAt === undefined
    if (isFirst) {
      createdAt = secondsOf(event)
      usedBefore = tokensOf(before.run.usage)
    }
    const opened = isFirst ? [begin()] : []
    const frames = [...opened, ...showChanges(before, event)]
    return !isOver && hasEnded(segments.fold()) ? [...frames, ...closeAtEnd()] : frames
  }

  const fail = (error: object): readonly Frame[] => {
    isOver = true
    last = [{ data: JSON.stringify({ error }) }]
    return last
  }

  const finish = (reason: string): readonly Frame[] => {
    isOver = true
    const called = calls.map((call, index) => ({ index, ...call }))
    last = [
      ...(called.length === 0 ? [] : [choice({ tool_calls: called })]),
      choice({}, reason),
      ...(view.hasUsage ? [chunk({ choices: [], usage: usage() })] : []),
      DONE,
    ]
    return last
  }

  const reasonOf = () => {
    if (calls.length > 0) return 'tool_calls'
    const cut = cutOf(transcriptOf(segments.fold()))
    if (isTruncated || cut === 'max_output_tokens') return 'length'
    return cut ?? 'stop'
  }

  const closeAtRest = (fold: FoldState): readonly Frame[] => {
    calls = askingItems(fold.content).flatMap((item) => questionOf(item, fold, view.runId))
    end = { status: 'completed' }
    return [...sayBlocks(), ...finish(reasonOf())]
  }

  const closeAtEnd = (): readonly Frame[] => {
    const transcript = transcriptOf(segments.fold())
    end = endOf(transcript)
    if (end.status !== 'completed') return fail(failureOf(end))
    const result = resultBlock(transcript)
    return [...sayBlocks(), ...(result === undefined ? [] : say(result.text)), ...finish(reasonOf())]
  }

  return {
    next(event) {
      if (isOver) return []
      if (event.type === TRUNCATED) isTruncated = true
      const before = segments.fold()
      segments.next(event)
      const later = segments.current() - view.segment
      if (segments.fold() === before || later < 0) return []
      return later > 0 ? closeAtRest(before) : show(before, event)
    },
    opening(of) {
      if (of === 'rest' || createdAt === undefined) return []
      isStreaming = view.isStreamed
      if (isOver) return [begin(), ...(content === '' ? [] : [choice({ content })]), ...last]
      return [begin(), ...(reasoning === '' ? [] : [choice({ reasoning_content: reasoning })]), ...sayBlocks()]
    },
    rest() {
      if (isOver) return []
      const isAtRest = segments.isResting() && segments.current() === view.segment
      return isAtRest ? closeAtRest(segments.fold()) : undefined
    },
    isOver: () => isOver,
    hasRestarted: () => hasRestarted,
    completion() {
      if (!isOver) return undefined
      if (end?.status !== 'completed') return { failure: end ?? { status: 'failed', code: 'run-failed' } }
      const message = {
        ...{ role: 'assistant', content: content === '' && calls.length > 0 ? null : content, refusal: null },
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      }
      const finish_reason = reasonOf()
      const choices = [{ index: 0, message, logprobs: null, finish_reason }]
      return { completion: { ...common('chat.completion'), choices, usage: usage() } }
    },
  }
}

/** A block as far as the client has it. */
interface Said {
  readonly index: number
  text: string
  isOpen: boolean
  restarts: number
  /** How much of the text the client has. */
  said: number
}

const completionId = ({ runId, segment }: CompletionView): string =>
  segment === 1 ? `chatcmpl-${runId}` : `chatcmpl-${runId}-${segment}`

const isSaid = (item: TranscriptItem): item is TextItem | MessageItem =>
  item.kind === 'message' || (item.kind === 'text' && item.phase === undefined)

const toBlock = (item: TextItem | MessageItem): Pick<TextItem, 'text' | 'isOpen' | 'restarts'> =>
  item.kind === 'text' ? item : { text: textOfMessage(item), isOpen: false, restarts: 0 }

/** Whether an earlier segment has said the text. */
function isSaidEarlier(before: TranscriptItem | undefined, after: TextItem | MessageItem): boolean {
  if (before === undefined || !isSaid(before)) return false
  const [was, is] = [toBlock(before), toBlock(after)]
  return was.text === is.text && was.restarts === is.restarts
}

/** What the client has to do, as a call of a function. */
function questionOf(item: TranscriptItem, { content }: FoldState, runId: string): readonly ToolCall[] {
  if (item.kind === 'approval' && isOpenApproval(item.status)) return [approvalCall(item, content)]
  if (item.kind !== 'tool' || item.executor !== 'client' || item.status !== 'called') return []
  return [functionCall(clientCallId(runId, item.id), item.name, argumentsOf(item))]
}

function approvalCall({ id, name, title, payload, toolCallId }: ApprovalItem, content: FoldState['content']): ToolCall {
  const tool: ToolItem | undefined = toolCallId === undefined ? undefined : itemIn(content, 'tool', toolCallId)
  const called = tool?.approvalId === id ? { tool: tool.name, arguments: tool.args } : {}
  return functionCall(id, APPROVAL_FUNCTION, JSON.stringify({ name, title, payload, ...called }))
}

const functionCall = (id: string, name: string, text: string): ToolCall => ({
  ...{ id, type: 'function' },
  function: { name, arguments: text },
})
