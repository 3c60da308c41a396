import {
  type ConsolidationJob,
  type ConsolidationReads,
  EVERY_ROW,
  type MessageRecord,
  type Storage,
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
        const unseen = await unseenMessages(deps, sessionId)
        const batch = unseen.slice(0, MESSAGE_BATCH)
        lastSeq = batch.at(-1)?.seq ?? 0
        hasMore = batch.length < unseen.length
        return batch
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
 * Returns the new messages, oldest first. Reads backwards from the newest message, so that the cost depends only on the
 * number of new messages.
 */
async function unseenMessages(
  { consolidation, sessions }: Pick<PhaseReadsDeps, 'consolidation' | 'sessions'>,
  sessionId: string,
): Promise<readonly MessageRecord[]> {
  const seen = await consolidation.extractedThrough(sessionId)
  const unseen: MessageRecord[] = []
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await sessions.messages(sessionId, { limit: MESSAGE_BATCH, order: 'desc', cursor })
    unseen.push(...items.filter(({ seq }) => seq > seen))
    const isWholePageUnseen = unseen.length > 0 && unseen.at(-1)?.id === items.at(-1)?.id
    cursor = isWholePageUnseen ? (nextCursor ?? undefined) : undefined
  } while (cursor !== undefined)
  return unseen.reverse()
}
