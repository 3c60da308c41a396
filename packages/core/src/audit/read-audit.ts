import { AppError, type AuditEntry, type AuditLog, type Page, type PageQuery } from '@perdure/ports'
import { type AuditResource, toAuditResource } from './audit-resource.ts'

/** Narrows the chain; an entry matches all that are given. Times are ISO-8601, `since` inclusive, `until` exclusive. */
export interface AuditFilter {
  readonly action?: string | undefined
  readonly actor?: string | undefined // a subject or the id of a token
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface ReadAuditDeps {
  readonly chain: Pick<AuditLog, 'read' | 'readBefore' | 'state'>
  /** Lets others have a turn; called between the pages of a long walk. */
  readonly pause: () => Promise<void>
}

/** A page of the entries. @throws AppError `validation-failed` for a foreign cursor */
export type ListAudit = (filter: AuditFilter, page: PageQuery) => Promise<Page<AuditResource>>

const PAGE = 500
const CURSOR = /^\d{1,15}$/

export function createListAudit({ chain, pause }: ReadAuditDeps): ListAudit {
  return async (filter, { limit, cursor, order }) => {
    const matches = matcherOf(filter)
    const found: AuditEntry[] = []
    let place = placeOf(cursor, order)
    for (;;) {
      const entries =
        order === 'asc'
          ? await chain.read({ afterSeq: place, limit: PAGE })
          : await chain.readBefore({ beforeSeq: place, limit: PAGE })
      found.push(...entries.filter(matches).slice(0, limit + 1 - found.length))
      const last = entries.at(-1)
      if (found.length > limit || last === undefined || entries.length < PAGE) break
      place = last.seq
      await pause()
    }
    const shown = found.slice(0, limit)
    const next = found.length > limit ? String(shown.at(-1)?.seq) : null
    return { items: shown.map(toAuditResource), nextCursor: next }
  }
}

/** The entries that match, oldest first, up to what the chain holds now, a page at a time. */
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

function placeOf(cursor: string | undefined, order: PageQuery['order']): number {
  if (cursor === undefined) return order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER
  if (CURSOR.test(cursor)) return Number(cursor)
  throw new AppError('validation-failed', { message: 'cursor: not one of this list', hint: 'start without one' })
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
