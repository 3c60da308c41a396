import type {
  ApprovalItem,
  Content,
  MessageItem,
  ReasoningItem,
  TextItem,
  ToolItem,
  TranscriptItem,
} from '@perdure/core'
import { askingItems, type ItemChange, itemIn, itemKey } from '@perdure/core'
import {
  approvalRequestItem,
  argumentsOf,
  functionCallItem,
  type ItemEvent,
  type ItemStatus,
  mcpCallItem,
  messageItem,
  type OutputItem,
  reasoningEvents,
  reasoningItem,
  textEvents,
  textOfMessage,
  toolOutcome,
} from './output-items.ts'

/** The output of one response: what of the transcript its client has, and the events that show a change. */
export interface ResponseOutput {
  /** @param delta what the event has appended to the text */
  show(change: ItemChange, delta: string | undefined): readonly ItemEvent[]
  /** Shows the answer of a run that has said nothing. */
  showResult(text: TextItem): readonly ItemEvent[]
  /** Ends what is open, and shows what the client has to do before the run continues. */
  rest(content: Content): readonly ItemEvent[]
  /** Ends what is open. */
  end(): readonly ItemEvent[]
  items(): readonly OutputItem[]
}

type Block = TextItem | ReasoningItem
type Shown = Block | ToolItem | MessageItem

interface Part {
  readonly id: string
  readonly index: number
  readonly shown: Shown | undefined
  readonly status: ItemStatus
  readonly item: OutputItem
}

export function createResponseOutput(): ResponseOutput {
  const parts = new Map<string, Part>()
  const used = new Map<string, number>()
  /** The calls that no event of this response has executed. */
  const uncalled = new Map<string, ToolItem>()
  let size = 0

  /** An id that no item of this response has had: a client refuses an item that is added again. */
  const freshId = (id: string): string => {
    const times = used.get(id) ?? 0
    used.set(id, times + 1)
    return times === 0 ? id : `${id}~${times}`
  }

  const at = ({ index }: Pick<Part, 'index'>, events: readonly ItemEvent[]): readonly ItemEvent[] =>
    events.map(({ type, ...members }) => ({ type, output_index: index, ...members }))

  const add = (key: string, id: string, toItem: (id: string) => OutputItem, shown?: Shown) => {
    const part: Part = { id: freshId(id), index: size, shown, status: 'in_progress', item: toItem(id) }
    const added = { ...part, item: { ...part.item, id: part.id } }
    size += 1
    parts.set(key, added)
    return { part: added, events: at(added, [{ type: 'response.output_item.added', item: added.item }]) }
  }

  const finish = (key: string, part: Part, item: OutputItem, status: ItemStatus): readonly ItemEvent[] => {
    parts.set(key, { ...part, item, status })
    return at(part, [{ type: 'response.output_item.done', item }])
  }

  /** Adds an item that is complete when it is shown. */
  const addWhole = (
    key: string,
    { open, whole }: { readonly open: OutputItem; readonly whole: OutputItem },
    between: (id: string) => readonly ItemEvent[],
    shown?: Shown,
  ): readonly ItemEvent[] => {
    const { part, events } = add(key, open.id, () => open, shown)
    return [...events, ...at(part, between(part.id)), ...finish(key, part, { ...whole, id: part.id }, 'completed')]
  }

  const withdraw = (key: string): readonly ItemEvent[] => {
    const part = parts.get(key)
    if (part === undefined) return []
    const events = part.status === 'in_progress' ? endPart(key, part, 'incomplete') : []
    parts.delete(key)
    return events
  }

  const endPart = (key: string, part: Part, status: ItemStatus): readonly ItemEvent[] => {
    const { id, shown } = part
    if (shown?.kind === 'tool') return finish(key, part, mcpCallItem(id, shown, status), status)
    if (shown?.kind !== 'text' && shown?.kind !== 'reasoning') return []
    const { end, toItem } = shapeOf(shown)
    return [...at(part, end(id, shown.text)), ...finish(key, part, toItem(id, status), status)]
  }

  const showNewBlock = (key: string, block: Block): readonly ItemEvent[] => {
    if (block.text === '') return []
    const { prefix, begin, delta, toItem } = shapeOf(block)
    const { part, events } = add(key, `${prefix}_${block.id}`, (id) => toItem(id, 'in_progress'), block)
    const begun = [...events, ...at(part, [...begin(part.id), delta(part.id, block.text)])]
    return block.isOpen ? begun : [...begun, ...endPart(key, part, 'completed')]
  }

  const showBlock = (before: Block | undefined, after: Block, delta: string | undefined): readonly ItemEvent[] => {
    const key = itemKey(after)
    const part = parts.get(key)
    if (part === undefined) return saysSame(before, after) ? [] : showNewBlock(key, after)
    const known = part.shown as Block
    const isDone = part.status !== 'in_progress'
    if (isDone && !after.isOpen && saysSame(known, after)) return []
    if (isDone || !continues(known, after, delta)) return [...withdraw(key), ...showNewBlock(key, after)]
    return growBlock(key, { ...part, shown: after }, delta ?? after.text.slice(known.text.length))
  }

  const growBlock = (key: string, part: Part, added: string): readonly ItemEvent[] => {
    const block = part.shown as Block
    parts.set(key, part)
    const said = added === '' ? [] : at(part, [shapeOf(block).delta(part.id, added)])
    return block.isOpen ? said : [...said, ...endPart(key, part, 'completed')]
  }

  const showNewTool = (key: string, tool: ToolItem): readonly ItemEvent[] => {
    const outcome = toolOutcome(tool)
    if (outcome === undefined && tool.status !== 'executing') {
      uncalled.set(key, tool)
      return []
    }
    uncalled.delete(key)
    const { part, events } = add(key, `mcp_${tool.id}`, (id) => mcpCallItem(id, tool, 'in_progress'), tool)
    const args = argumentsOf(tool)
    const called: readonly ItemEvent[] = [
      { type: 'response.mcp_call.in_progress', item_id: part.id },
      { type: 'response.mcp_call_arguments.delta', item_id: part.id, delta: args },
      { type: 'response.mcp_call_arguments.done', item_id: part.id, arguments: args },
    ]
    const begun = [...events, ...at(part, called)]
    return outcome === undefined ? begun : [...begun, ...endTool(key, part, outcome)]
  }

  const endTool = (key: string, part: Part, outcome: 'completed' | 'failed'): readonly ItemEvent[] => [
    ...at(part, [{ type: `response.mcp_call.${outcome}`, item_id: part.id }]),
    ...endPart(key, part, outcome),
  ]

  const showTool = (before: ToolItem | undefined, after: ToolItem): readonly ItemEvent[] => {
    const key = itemKey(after)
    const part = parts.get(key)
    if (part !== undefined) return showKnownTool(key, part, after)
    const isShownEarlier = before?.status === after.status && toolOutcome(before) === toolOutcome(after)
    return isShownEarlier && !uncalled.has(key) ? [] : showNewTool(key, after)
  }

  const showKnownTool = (key: string, part: Part, after: ToolItem): readonly ItemEvent[] => {
    const outcome = toolOutcome(after)
    const isDone = part.status !== 'in_progress'
    if (isDone && outcome === part.status) {
      // The final output tells what the log has added since, such as the error of a denied call.
      parts.set(key, { ...part, shown: after, item: mcpCallItem(part.id, after, outcome) })
      return []
    }
    if (isDone || (outcome === undefined && after.status !== 'executing')) {
      return [...withdraw(key), ...showNewTool(key, after)]
    }
    const known: Part = { ...part, shown: after }
    parts.set(key, known)
    return outcome === undefined ? [] : endTool(key, known, outcome)
  }

  const showMessage = (item: MessageItem): readonly ItemEvent[] => {
    const key = itemKey(item)
    const text = textOfMessage(item)
    const gone = withdraw(key)
    if (text === '') return gone
    const id = `msg_message.${item.id}`
    const forms = { open: messageItem(id, { text: '' }, 'in_progress'), whole: messageItem(id, { text }, 'completed') }
    const said = (id: string) => [...textEvents.begin(id), textEvents.delta(id, text), ...textEvents.end(id, text)]
    return [...gone, ...addWhole(key, forms, said, item)]
  }

  const showQuestion = (key: string, item: OutputItem): readonly ItemEvent[] =>
    addWhole(key, { open: item, whole: item }, () => [])

  const showClientCall = (tool: ToolItem): readonly ItemEvent[] => {
    const args = argumentsOf(tool)
    const forms = { open: functionCallItem(tool, 'in_progress'), whole: functionCallItem(tool, 'completed') }
    return addWhole(itemKey(tool), forms, (item_id) => [
      { type: 'response.function_call_arguments.delta', item_id, delta: args },
      { type: 'response.function_call_arguments.done', item_id, name: tool.name, arguments: args },
    ])
  }

  const endOpen = (): readonly ItemEvent[] =>
    [...parts].flatMap(([key, part]) => (part.status === 'in_progress' ? endPart(key, part, 'incomplete') : []))

  const showItem = (
    before: TranscriptItem | undefined,
    after: TranscriptItem,
    delta: string | undefined,
  ): readonly ItemEvent[] => {
    switch (after.kind) {
      case 'text':
      case 'reasoning':
        return showBlock(before as Block | undefined, after, delta)
      case 'tool':
        return after.executor === 'client' ? [] : showTool(before as ToolItem | undefined, after)
      case 'message':
        return showMessage(after)
      default:
        return []
    }
  }

  return {
    show({ before, after }, delta) {
      if (after !== undefined) return showItem(before, after, delta)
      const key = before === undefined ? '' : itemKey(before)
      uncalled.delete(key)
      return withdraw(key)
    },
    showResult: (text) => showNewBlock(itemKey(text), text),
    rest(content) {
      const asked = askingItems(content).flatMap((item) => {
        if (item.kind === 'tool') return showClientCall(item)
        if (item.kind !== 'approval') return []
        return showQuestion(itemKey(item), approvalRequestItem(item, toolOf(content, item)))
      })
      return [...endOpen(), ...asked]
    },
    end() {
      const calls = [...uncalled].flatMap(([key, tool]) => {
        const { part, events } = add(key, `mcp_${tool.id}`, (id) => mcpCallItem(id, tool, 'in_progress'), tool)
        return [...events, ...endPart(key, part, 'incomplete')]
      })
      return [...endOpen(), ...calls]
    },
    items: () => [...parts.values()].sort((one, other) => one.index - other.index).map(itemNow),
  }
}

/** The item with what the client has of it so far. */
function itemNow({ id, shown, status, item }: Part): OutputItem {
  if (status !== 'in_progress') return item
  if (shown?.kind === 'tool') return { ...mcpCallItem(id, shown, 'incomplete'), status }
  if (shown?.kind !== 'text' && shown?.kind !== 'reasoning') return item
  return { ...shapeOf(shown).toItem(id, 'incomplete'), status }
}

const shapeOf = (block: Block) =>
  block.kind === 'text'
    ? {
        ...{ prefix: 'msg', ...textEvents },
        toItem: (id: string, status: ItemStatus) => messageItem(id, block, status),
      }
    : {
        ...{ prefix: 'rs', ...reasoningEvents },
        toItem: (id: string, status: ItemStatus) => reasoningItem(id, block, status),
      }

const saysSame = (before: Block | undefined, after: Block): boolean =>
  before?.restarts === after.restarts && before.text === after.text

/** Whether the block says the same and maybe more. */
const continues = (before: Block, after: Block, delta: string | undefined): boolean =>
  before.restarts === after.restarts && (delta !== undefined || after.text.startsWith(before.text))

/** The call of this run that the approval is about. */
function toolOf(content: Content, { id, toolCallId }: ApprovalItem): ToolItem | undefined {
  const tool = toolCallId === undefined ? undefined : itemIn(content, 'tool', toolCallId)
  return tool?.approvalId === id ? tool : undefined
}
