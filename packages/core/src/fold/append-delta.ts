import type { Block } from './content.ts'
import { type FoldState, hasEnded } from './fold.ts'
import { changeItem } from './item-list.ts'
import { fieldsOf, type LogEvent } from './log-event.ts'
import type { TranscriptItem } from './transcript.ts'

/** A text that an event has appended to the only open block. */
export interface AppendedDelta {
  readonly state: FoldState
  /** The key of the block. */
  readonly key: string
  readonly before: Block
  readonly after: Block
  readonly delta: string
}

/**
 * Folds the event if all it does is to append text to the only open block, as most events of a run do; `undefined` for any
 * other event. The state equals that of `foldEvent`.
 */
export function appendDelta({ run, content, marks }: FoldState, event: LogEvent): AppendedDelta | undefined {
  const kind = KINDS.get(event.type)
  const [key] = content.open
  if (kind === undefined || key === undefined || content.open.length > 1 || hasEnded({ run })) return undefined
  const { delta, blockId, messageId } = fieldsOf(event)
  if (typeof delta !== 'string') return undefined
  let before: Block | undefined
  let after: Block | undefined
  const items = changeItem(content.items, key, (item) => {
    if (!isTarget(item, { kind, blockId, messageId })) return item
    before = item
    after = { ...item, text: item.text + delta }
    return after
  })
  if (before === undefined || after === undefined) return undefined
  const { open, asking, state } = content
  const shown = { items, open, asking, state }
  return { state: { run: { ...run, lastEventId: event.eventId }, content: shown, marks }, key, before, after, delta }
}

const KINDS: ReadonlyMap<string, Block['kind']> = new Map([
  ['text.delta', 'text'],
  ['reasoning.delta', 'reasoning'],
])

interface Target {
  readonly kind: Block['kind']
  readonly blockId: unknown
  readonly messageId: unknown
}

/** A delta names its block, or its message, or neither. */
function isTarget(item: TranscriptItem, { kind, blockId, messageId }: Target): item is Block {
  if (item.kind !== kind) return false
  if (typeof blockId === 'string') return item.id === blockId
  return typeof messageId !== 'string' || item.messageId === messageId
}
