import type { ToolItem, TranscriptItem, UserMessageItem } from '@perdure/core'
import { type Content, type ItemChange, itemIn, itemKey } from '@perdure/core'
import { isOpenApproval, type JsonVersion } from '@perdure/protocol'
import type { AiSdkVersion, Chunk } from './chunk.ts'
import { blockChunks, messageChunks, partChunk, userMessageChunk } from './item-chunks.ts'
import { approvalStages, INPUT, laterStages, type Stages, toolStages } from './tool-chunks.ts'

/** The state of the agent, which is one part of the message. */
export interface StateItem {
  readonly kind: 'state'
  readonly id: 'state'
  readonly state: JsonVersion
}

export type ShownItem = TranscriptItem | StateItem

/** A part of the message as the client has it. */
export interface ShownPart {
  readonly item: ShownItem
  /** The step that the part belongs to, from 1. */
  readonly step: number
  readonly stages?: Stages
}

/** The parts of one assistant message, in the order in which a client has them. */
export interface MessageParts {
  /** The chunks that show a change. `delta`: what the event has appended to the text. */
  show(change: ItemChange, content: Content, delta?: string): readonly Chunk[]
  /** Appends to the text of a block that the client has. False, and no effect, if the client does not have it. */
  append(key: string, block: Block): boolean
  showState(state: JsonVersion): readonly Chunk[]
  /** The chunks that withdraw these items. */
  withdraw(keys: readonly string[], content: Content): readonly Chunk[]
  /** A durable call lies between the parts so far and the next one: the next part begins a step of its own. */
  mark(): void
  /** The chunks of every part, for a client that has none. */
  all(content: Content): readonly Chunk[]
  list(): readonly ShownPart[]
  /** The chunks that end a response: what was held back, and the end of the step. */
  end(content: Content): readonly Chunk[]
}

export function createMessageParts(version: AiSdkVersion): MessageParts {
  /** Ordered like the parts of the client. */
  const parts = new Map<string, ShownPart>()
  let step = 0
  let isMarked = false
  let isResting = false

  /** The step that was begun after the last call of the client has no parts yet. */
  let emptyStepNumber = 0
  const isStepEmpty = () => step > 0 && step === emptyStepNumber && inStep().length === 0

  const inStep = () => [...parts].filter(([, part]) => part.step === step)

  /** A client that answers approvals looks only at the last step, so its open calls must stay in one step. */
  const mayEndStep = () =>
    inStep().every(([, { item }]) => {
      if (item.kind === 'text' || item.kind === 'reasoning') return !item.isOpen
      if (item.kind === 'tool') return !OPEN_CALL.has(item.status)
      return item.kind !== 'approval' || !isOpenApproval(item.status)
    })

  const beginPart = (): readonly Chunk[] => {
    if (step === 0) {
      step = 1
      isMarked = false
      return [{ type: 'start-step' }]
    }
    if (!isMarked || !mayEndStep()) return []
    isMarked = false
    if (inStep().length === 0) return []
    step += 1
    return [{ type: 'finish-step' }, { type: 'start-step' }]
  }

  const stagesOf = (item: ShownItem, content: Content): Stages | undefined => {
    if (item.kind === 'tool') return toolStages(item, content, { version, isResting })
    return item.kind === 'approval' && isOwnPart(item, content) ? approvalStages(item, version) : undefined
  }

  const newChunks = (item: ShownItem, stages: Stages | undefined): readonly Chunk[] =>
    item.kind === 'user-message' ? userChunks(item, version) : chunksOf(item, stages)

  const put = (key: string, item: ShownItem, more: Pick<ShownPart, 'step' | 'stages'>) =>
    parts.set(key, { item, ...more })

  /** Shows an item that the client does not have. */
  const showNew = (key: string, item: ShownItem, content: Content): readonly Chunk[] => {
    const stages = stagesOf(item, content)
    const chunks = newChunks(item, stages)
    if (chunks.length === 0) return []
    // The message of a user precedes the step that answers it.
    const begun = item.kind === 'user-message' ? [] : beginPart()
    if (item.kind === 'user-message') isMarked = true
    put(key, item, { step, ...(stages === undefined ? {} : { stages }) })
    return [...begun, ...chunks]
  }

  const showBlock = (before: Block, after: Block, { content, delta, step: ofPart }: BlockChange): readonly Chunk[] => {
    const key = itemKey(after)
    if (delta === undefined && isReplaced(before, after)) {
      return [...withdraw([key], content), ...showNew(key, after, content)]
    }
    put(key, after, { step: ofPart })
    return blockChunks(before, after, delta)
  }

  const showChanged = (part: ShownPart, after: TranscriptItem, content: Content): readonly Chunk[] => {
    if (SHOWN_ONCE.has(after.kind)) return []
    const { item: before, step: ofPart } = part
    const isCurrent = ofPart === step
    const stages = stagesOf(after, content)
    put(itemKey(after), after, { step: ofPart, ...(stages === undefined ? {} : { stages }) })
    if (stages === undefined) return newChunks(after, undefined)
    if (after.kind === 'tool' && before.kind === 'tool' && stages[INPUT] === undefined) {
      return isCurrent && after.status === 'calling' ? inputChunks(before, after, stages) : []
    }
    return laterStages(part.stages ?? [], stages, isCurrent)
  }

  const withdraw = (keys: readonly string[], content: Content): readonly Chunk[] => {
    const gone = keys.flatMap((key) => {
      const part = parts.get(key)
      return part === undefined ? [] : [part]
    })
    for (const key of keys) parts.delete(key)
    if (gone.length === 0) return []
    if (version !== 6 && gone.every((part) => part.step === step)) {
      return [{ type: 'reset-step' }, ...inStep().flatMap(([, { item }]) => newChunks(item, stagesOf(item, content)))]
    }
    const ended = gone.flatMap(({ item }) =>
      isBlock(item) && item.isOpen ? [{ type: `${item.kind}-end`, id: item.id }] : [],
    )
    const partIds = gone.map(({ item }) => item.id)
    return [...ended, { type: 'data-perdure-rewound', data: { partIds } }]
  }

  /** The inputs of calls that no code has taken up. */
  const heldInputs = (content: Content): readonly Chunk[] => {
    isResting = true
    return inStep().flatMap(([, part]) =>
      part.item.kind === 'tool' && part.stages?.[INPUT] === undefined ? showChanged(part, part.item, content) : [],
    )
  }

  /** A client that performs tools sends their results again while its last step has nothing else to do. */
  const emptyStep = (): readonly Chunk[] => {
    const calls = inStep().flatMap(([, { item }]) => (item.kind === 'tool' && isSentBack(item) ? [item] : []))
    if (calls.length === 0 || calls.some(({ status }) => OPEN_CALL.has(status))) return []
    step += 1
    emptyStepNumber = step
    return EMPTY_STEP
  }

  return {
    show({ before, after }, content, delta) {
      if (after === undefined) return before === undefined ? [] : withdraw([itemKey(before)], content)
      const key = itemKey(after)
      const part = parts.get(key)
      if (part === undefined) return showNew(key, after, content)
      if (isBlock(after) && isBlock(part.item)) {
        return showBlock(part.item, after, { content, step: part.step, ...(delta === undefined ? {} : { delta }) })
      }
      return showChanged(part, after, content)
    },
    append(key, item) {
      const part = parts.get(key)
      if (part === undefined) return false
      parts.set(key, { item, step: part.step })
      return true
    },
    showState(state) {
      const part = parts.get('state')
      const chunk = stateChunk(state)
      if (part !== undefined) {
        put('state', { kind: 'state', id: 'state', state }, { step: part.step })
        return [chunk]
      }
      const begun = beginPart()
      put('state', { kind: 'state', id: 'state', state }, { step })
      return [...begun, chunk]
    },
    withdraw,
    mark() {
      isMarked = true
    },
    all(content) {
      let shown = 0
      const chunks = [...parts.values()].flatMap(({ item, step: ofPart }) => {
        const begun: Chunk[] = []
        if (shown > 0 && ofPart !== shown) begun.push({ type: 'finish-step' })
        if (ofPart !== shown) begun.push({ type: 'start-step' })
        shown = ofPart
        return [...begun, ...newChunks(item, stagesOf(item, content))]
      })
      return isStepEmpty() ? [...chunks, ...EMPTY_STEP] : chunks
    },
    list: () => [...parts.values()],
    end: (content) => (step === 0 ? [] : [...heldInputs(content), ...emptyStep(), { type: 'finish-step' }]),
  }
}

interface BlockChange {
  readonly content: Content
  readonly step: number
  readonly delta?: string
}

/** The client stores an empty step only together with another change. */
const EMPTY_STEP: readonly Chunk[] = [
  { type: 'finish-step' },
  { type: 'start-step' },
  { type: 'message-metadata', messageMetadata: {} },
]

/** The states of a call that waits for the model, for its user, or for the code that performs it. */
const OPEN_CALL: ReadonlySet<string> = new Set(['calling', 'called', 'awaiting-approval'])

/** Whether the client takes the call for one of its own, because nothing says that somebody else executes it. */
const isSentBack = ({ executor, declared, isInvalid }: ToolItem): boolean =>
  executor === 'client' || declared !== undefined || isInvalid === true

/** The parts that a client cannot replace. */
const SHOWN_ONCE: ReadonlySet<string> = new Set(['source', 'file', 'message', 'user-message'])

type Block = Extract<TranscriptItem, { readonly kind: 'text' | 'reasoning' }>

const isBlock = (item: ShownItem): item is Block => item.kind === 'text' || item.kind === 'reasoning'

/** Whether the block says something else than before, not only more. */
const isReplaced = (before: Block, after: Block): boolean =>
  before.restarts !== after.restarts ||
  (before.isOpen ? !after.text.startsWith(before.text) : after.isOpen || after.text !== before.text)

/** An approval of a tool call of this run is shown with the call. */
const isOwnPart = ({ toolCallId, id }: { readonly toolCallId?: string; readonly id: string }, content: Content) =>
  toolCallId === undefined || itemIn(content, 'tool', toolCallId)?.approvalId !== id

/** A message that the run has received before it said anything stands before the answer. */
const userChunks = (item: UserMessageItem, version: AiSdkVersion): readonly Chunk[] =>
  item.isFirst ? [] : [userMessageChunk(item, version)]

function chunksOf(item: Exclude<ShownItem, UserMessageItem>, stages: Stages | undefined): readonly Chunk[] {
  if (item.kind === 'state') return [stateChunk(item.state)]
  if (item.kind === 'tool' && stages?.[INPUT] === undefined) return inputChunks(undefined, item, stages ?? [])
  if (stages !== undefined) return stages.filter((stage) => stage !== undefined)
  if (isBlock(item)) return blockChunks(undefined, item)
  if (item.kind === 'message') return messageChunks(item)
  const chunk = partChunk(item)
  return chunk === undefined ? [] : [chunk]
}

/** The start of a call whose arguments are not complete, and what the model has said of them. */
function inputChunks(before: ToolItem | undefined, after: ToolItem, [start]: Stages): readonly Chunk[] {
  const isSame = before !== undefined && before.name === after.name && after.argsText.startsWith(before.argsText)
  const inputTextDelta = isSame ? after.argsText.slice(before.argsText.length) : after.argsText
  return [
    ...(isSame || start === undefined ? [] : [start]),
    ...(inputTextDelta === '' ? [] : [{ type: 'tool-input-delta', toolCallId: after.id, inputTextDelta }]),
  ]
}

const stateChunk = (data: JsonVersion): Chunk => ({ type: 'data-state', id: 'state', data })
