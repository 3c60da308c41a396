import { EVERY_ROW, type RowAccess, type Visibility } from '@perdure/ports'
import type { KeyedRequest } from './keyed-request.ts'

const EVERY_ROW_MARK = '*'

/** The stored fingerprint of a request: also holds the rows that its caller could see. */
export const storedFingerprint = ({ fingerprint, visibility }: KeyedRequest): string =>
  visibility === undefined ? fingerprint : fingerprint + markOf(visibility)

/**
 * Compares a repeated request with the stored fingerprint of its key. `narrower` means that the caller may see fewer
 * rows than the first caller, so the stored answer could show a row that is hidden from this caller.
 */
export function compareToFirstUse(
  stored: string,
  { fingerprint, visibility }: KeyedRequest,
): 'same' | 'different' | 'narrower' {
  if (!stored.startsWith(fingerprint)) return 'different'
  const mark = stored.slice(fingerprint.length)
  // Earlier releases did not store the rows, and requests of the server itself have none.
  if (mark === '' || visibility === undefined) return 'same'
  const first: Visibility = mark === EVERY_ROW_MARK ? EVERY_ROW : JSON.parse(mark)
  return covers(visibility, first) ? 'same' : 'narrower'
}

const markOf = (visibility: Visibility) => (visibility === EVERY_ROW ? EVERY_ROW_MARK : JSON.stringify(visibility))

function covers(held: Visibility, wanted: Visibility): boolean {
  if (held === EVERY_ROW || wanted === EVERY_ROW) return held === EVERY_ROW
  return (
    (wanted.owner === undefined || wanted.owner === held.owner) &&
    includesAll(held.ids, wanted.ids) &&
    includesAll(held.agentIds, wanted.agentIds) &&
    includesAll(held.workflowIds, wanted.workflowIds)
  )
}

function includesAll(held: RowAccess['agentIds'] = [], wanted: RowAccess['agentIds'] = []): boolean {
  if (held === 'all' || wanted === 'all') return held === 'all'
  return wanted.every((id) => held.includes(id))
}
