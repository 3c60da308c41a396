import { appendedText, type Block, type ItemChange, type LogEvent, type TranscriptItem } from '@perdure/core'

/** Whether the client shows something that the item does not say any more. */
export function isReplaced({ before, after }: ItemChange, event: LogEvent): boolean {
  if (before === undefined || after === undefined) return after === undefined
  if (before.kind === 'tool' && after.kind === 'tool') {
    const isTakenBack = !after.argsText.startsWith(before.argsText)
    return isTakenBack || (RANK[before.status] ?? 0) > (RANK[after.status] ?? 0)
  }
  if ((before.kind !== 'text' && before.kind !== 'reasoning') || before.kind !== after.kind) return false
  if (before.restarts !== after.restarts) return true
  if (!before.isOpen && (after.isOpen || after.text !== before.text)) return true
  return appended({ before, after }, event) === undefined && !after.text.startsWith(before.text)
}

/** A call that falls behind was withdrawn. */
const RANK: Readonly<Record<string, number>> = {
  calling: 0,
  called: 1,
  'awaiting-approval': 1,
  executing: 1,
  done: 2,
  failed: 2,
  denied: 2,
}

/** The text that the event has appended to the block; `undefined` when the event did something else. */
export function appended({ before, after }: ItemChange, event: LogEvent): string | undefined {
  if (before === undefined || after === undefined || !isBlock(before) || !isBlock(after)) return undefined
  return appendedText(before, after, event)
}

export const isBlock = (item: TranscriptItem): item is Block => item.kind === 'text' || item.kind === 'reasoning'
