import {
  type ConsolidationJob,
  type ConsolidationReads,
  EVERY_ROW,
  type MessageRecord,
  type PageStart,
  type Storage,
  takeWithinPage,
} from '@perdure/ports'

export type PhaseReadsDeps = Pick<Storage, 'facts' | 'factUpkeep' | 'memoryConflicts' | 'consolidation' | 'sessions'>

const MESSAGE_BATCH = 200

/** The reads of one job, which record how much of the transcript the job has read. */
export interface TrackedReads {
  readonly reads: ConsolidationReads
  /** Sequence number of the last message that was read; 0 if no message was read. */
  lastReadSeq(): number
  /** Whether there are new messages that were not read yet. */
  hasUnread(): boolean
}

export function createPhaseReads(deps: PhaseReadsDeps, { owner, sessionId, now }: ConsolidationJob): TrackedReads {
  const { facts, factUpkeep, memoryConflicts } = deps
  let lastSeq = 0
  let hasMore = false

  return {
    lastReadSeq: () => lastSeq,
    hasUnread: () => hasMore,
    reads: {
      async messages() {
        if (sessionId === undefined) return []
        const unseen = await oldestUnseen(deps, sessionId)
        lastSeq = unseen.items.at(-1)?.seq ?? 0
        hasMore = unseen.hasMore
        return unseen.items
      },
      similar: (text, limit) => facts.search(text, { owner, now, visibility: EVERY_ROW }, limit),
      repeated: (limit, after) => factUpkeep.repeated({ owner, after, now }, limit),
      expired: (limit) => factUpkeep.expired({ owner, now }, limit),
      weighedBefore: (at, limit) => factUpkeep.weighedBefore({ owner, at }, limit),
      async inConflict(factIds) {
        const open = await memoryConflicts.listOpenByFacts(factIds)
        return new Set(open.flatMap((conflict) => conflict.factIds))
      },
    },
  }
}

/**
 * Returns the first page of the new messages, oldest first. Reads backwards from the newest message, so that the cost
 * depends only on the number of new messages, and keeps no more than one page.
 */
async function oldestUnseen(
  { consolidation, sessions }: Pick<PhaseReadsDeps, 'consolidation' | 'sessions'>,
  sessionId: string,
): Promise<PageStart<MessageRecord>> {
  const seen = await consolidation.extractedThrough(sessionId)
  let oldest: PageStart<MessageRecord> = { items: [], hasMore: false }
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await sessions.messages(sessionId, { limit: MESSAGE_BATCH, order: 'desc', cursor })
    const unseen = items.filter(({ seq }) => seq > seen)
    const { items: kept, hasMore } = takeWithinPage([...unseen.toReversed(), ...oldest.items], MESSAGE_BATCH)
    oldest = { items: kept, hasMore: hasMore || oldest.hasMore }
    const isWholePageUnseen = unseen.length > 0 && unseen.length === items.length
    cursor = isWholePageUnseen ? (nextCursor ?? undefined) : undefined
  } while (cursor !== undefined)
  return oldest
}
