import {
  type ConsolidationJob,
  type ConsolidationReads,
  EVERY_ROW,
  type MessageRecord,
  type Storage,
} from '@perdure/ports'

export type PhaseReadsDeps = Pick<Storage, 'facts' | 'factUpkeep' | 'memoryConflicts' | 'consolidation' | 'sessions'>

const MESSAGES = 200

/** The reads of one job, and what of the transcript it has been given. */
export interface TrackedReads {
  readonly reads: ConsolidationReads
  /** The last message that was handed out; 0 when none was. */
  readThrough(): number
  /** Whether more messages wait than were handed out. */
  hasUnread(): boolean
}

export function createPhaseReads(deps: PhaseReadsDeps, { owner, sessionId, now }: ConsolidationJob): TrackedReads {
  const { facts, factUpkeep, memoryConflicts } = deps
  let through = 0
  let isMore = false

  return {
    readThrough: () => through,
    hasUnread: () => isMore,
    reads: {
      async messages() {
        if (sessionId === undefined) return []
        const unseen = await unseenMessages(deps, sessionId)
        const given = unseen.slice(0, MESSAGES)
        through = given.at(-1)?.seq ?? 0
        isMore = given.length < unseen.length
        return given
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

/** Oldest first. Walks back from the newest, so that it costs what is new and not the whole transcript. */
async function unseenMessages(
  { consolidation, sessions }: Pick<PhaseReadsDeps, 'consolidation' | 'sessions'>,
  sessionId: string,
): Promise<readonly MessageRecord[]> {
  const seen = await consolidation.extractedThrough(sessionId)
  const unseen: MessageRecord[] = []
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await sessions.messages(sessionId, { limit: MESSAGES, order: 'desc', cursor })
    unseen.push(...items.filter(({ seq }) => seq > seen))
    const isWhole = unseen.length > 0 && unseen.at(-1)?.id === items.at(-1)?.id
    cursor = isWhole ? (nextCursor ?? undefined) : undefined
  } while (cursor !== undefined)
  return unseen.reverse()
}
