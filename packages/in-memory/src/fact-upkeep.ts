import type { FactRecord, FactUpkeep } from '@perdure/ports'

/** Implements `FactUpkeep` over all facts in creation order. */
export function createFactUpkeep(
  all: () => readonly FactRecord[],
  isEmbedded: (fact: FactRecord) => boolean,
): FactUpkeep {
  const owned = (owner: string | undefined) => all().filter((fact) => owner === undefined || fact.owner === owner)

  return {
    async repeated({ owner, after, now }, limit) {
      const alive = owned(owner).filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
      const groups = new Map<string, FactRecord[]>()
      for (const fact of alive) {
        const key = JSON.stringify([fact.owner, fact.namespace, fact.fingerprint])
        groups.set(key, [...(groups.get(key) ?? []), fact])
      }
      return [...groups]
        .filter(([key, facts]) => facts.length > 1 && (after === undefined || key > after))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([groupKey, facts]) => ({ groupKey, facts }))
    },
    async expired({ owner, now }, limit) {
      const timeOf = ({ expiresAt }: FactRecord) => expiresAt ?? Number.POSITIVE_INFINITY
      return firstBy(
        owned(owner).filter((fact) => timeOf(fact) <= now),
        timeOf,
        limit,
      )
    },
    async weighedBefore({ owner, at }, limit) {
      const timeOf = ({ weighedAt }: FactRecord) => weighedAt
      return firstBy(
        owned(owner).filter(({ importance, weighedAt }) => importance > 0 && weighedAt <= at),
        timeOf,
        limit,
      )
    },
    unembedded: async (limit) =>
      all()
        .filter((fact) => !isEmbedded(fact))
        .slice(0, limit),
  }
}

function firstBy(facts: readonly FactRecord[], timeOf: (fact: FactRecord) => number, limit: number) {
  return [...facts].sort((a, b) => timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1)).slice(0, limit)
}
