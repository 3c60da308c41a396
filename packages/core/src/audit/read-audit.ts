import { type AuditEntry, type AuditLog, type Page, type PageQuery, perdureError, takeWithinPage } from '@perdure/ports'
import { type AuditResource, toAuditResource } from './audit-resource.ts'

/** An entry must match every given field. Times are ISO-8601; `since` is inclusive, `until` exclusive. */
export interface AuditFilter {
  readonly action?: string | undefined
  readonly actor?: string | undefined // subject or token id
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface ReadAuditDeps {
  readonly chain: Pick<AuditLog, 'read' | 'readBefore' | 'state'>
  /** Yields to other work; called between the pages of a long read. */
  readonly pause: () => Promise<void>
}

/** Returns a page of entries. @throws PerdureError `validation-failed` for a cursor from another list */
export type ListAudit = (filter: AuditFilter, page: PageQuery) => Promise<Page<AuditResource>>

const PAGE = 500
const CURSOR = /^\d{1,15}$/

export function createListAudit({ chain, pause }: ReadAuditDeps): ListAudit {
  return async (filter, { limit, cursor, order }) => {
    const matches = matcherOf(filter)
    const found: AuditEntry[] = []
    let boundarySeq = seqOfCursor(cursor, order)
    for (;;) {
      const entries =
        order === 'asc'
          ? await chain.read({ afterSeq: boundarySeq, limit: PAGE })
          : await chain.readBefore({ beforeSeq: boundarySeq, limit: PAGE })
      found.push(...entries.filter(matches).slice(0, limit + 1 - found.length))
      const last = entries.at(-1)
      if (found.length > limit || last === undefined || entries.length < PAGE) break
      boundarySeq = last.seq
      await pause()
    }
    const { items, hasMore } = takeWithinPage(found.map(toAuditResource), limit)
    const next = hasMore ? String(items.at(-1)?.seq) : null
    return { items, nextCursor: next }
  }
}

/** Yields pages of matching entries, oldest first, up to the last entry at the time of the call. */
export async function* walkAudit(
  { chain, pause }: ReadAuditDeps,
  filter: AuditFilter,
): AsyncGenerator<readonly AuditEntry[], void, void> {
  const matches = matcherOf(filter)
  const { last } = await chain.state()
  let afterSeq = 0
  for (;;) {
    const entries = await chain.read({ afterSeq, limit: PAGE })
    const known = entries.filter(({ seq }) => seq <= (last?.seq ?? 0))
    yield known.filter(matches)
    if (known.length < PAGE) return
    afterSeq = known.at(-1)?.seq ?? afterSeq
    await pause()
  }
}

function seqOfCursor(cursor: string | undefined, order: PageQuery['order']): number {
  if (cursor === undefined) return order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER
  if (CURSOR.test(cursor)) return Number(cursor)
  throw perdureError('validation-failed', {
    message: 'cursor: belongs to another list',
    hint: 'omit the cursor to start at the first page',
  })
}

function matcherOf({ action, actor, since, until }: AuditFilter): (entry: AuditEntry) => boolean {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  const to = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  return (entry) =>
    (action === undefined || entry.action === action) &&
    (actor === undefined || entry.actor.subject === actor || entry.actor.id === actor) &&
    entry.at >= from &&
    entry.at < to
}
