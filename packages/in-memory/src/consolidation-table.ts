import type { ChangedSession, ConsolidationSpend, ConsolidationStore } from '@perdure/ports'
import type { SessionBelongings } from './session-deletion.ts'
import { putEntry } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

/** What this table reads from other tables. */
export interface SessionActivity {
  /** Every session with the time of its last change. */
  sessions(): readonly ChangedSession[]
  /** Whether the session has an active run. */
  isActive(sessionId: string): boolean
}

export function createConsolidationTable({
  sessions,
  isActive,
}: SessionActivity): Table<ConsolidationStore, WritesOf<'consolidation'>> & SessionBelongings {
  const seen = new Map<string, number>()
  const extracted = new Map<string, number>()
  const spent = new Map<string, ConsolidationSpend>()
  const isKnown = (sessionId: string) => sessions().some((session) => session.sessionId === sessionId)

  return {
    store: {
      async idleSessions(before, limit) {
        return sessions()
          .filter(({ sessionId, changedAt }) => changedAt <= before && changedAt > (seen.get(sessionId) ?? -1))
          .filter(({ sessionId }) => !isActive(sessionId))
          .sort((a, b) => a.changedAt - b.changedAt || (a.sessionId < b.sessionId ? -1 : 1))
          .slice(0, limit)
      },
      extractedThrough: async (sessionId) => extracted.get(sessionId) ?? 0,
      spentOn: async (day) => spent.get(day) ?? { tokens: 0, costUsd: 0 },
    },
    removeSession(sessionId, undo) {
      putEntry(seen, [sessionId, undefined], undo)
      putEntry(extracted, [sessionId, undefined], undo)
    },
    appliers: {
      'consolidation.seen'({ sessionId, changedAt }, { undo }) {
        const session = sessions().find((one) => one.sessionId === sessionId)
        const before = seen.get(sessionId) ?? -1
        const isNew = session !== undefined && session.changedAt > before && session.changedAt <= changedAt
        if (isNew) putEntry(seen, [sessionId, session.changedAt], undo)
        return isNew ? 1 : 0
      },
      'consolidation.extracted'({ sessionId, throughSeq }, { undo }) {
        if (!isKnown(sessionId)) return 0
        putEntry(extracted, [sessionId, Math.max(throughSeq, extracted.get(sessionId) ?? 0)], undo)
        return 1
      },
      'consolidation.spend'({ day, spend: { tokens, costUsd } }, { undo }) {
        const before = spent.get(day) ?? { tokens: 0, costUsd: 0 }
        putEntry(spent, [day, { tokens: before.tokens + tokens, costUsd: before.costUsd + costUsd }], undo)
        return 1
      },
    },
  }
}
