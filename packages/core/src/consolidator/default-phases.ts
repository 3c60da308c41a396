import { type ConsolidatorPhases, type EpochMs, type FactRecord, type FactRevision, wordsOf } from '@perdure/ports'

export interface DefaultPhasesOptions {
  /** Half-life of a fact's importance, in days. */
  readonly halfLifeDays: number
}

const DAY_MS = 86_400_000
const GROUP_BATCH = 50
const MAX_FORGOTTEN = 200
const MAX_WEIGHED = 500
/** An importance below this value is set to 0. */
const MIN_IMPORTANCE = 0.001
const MAX_METADATA_KEYS = 16
const MAX_TAGS = 64

/**
 * Phases that need no model. `extract` does nothing, because extracting facts from a conversation requires a model.
 * `merge` merges facts with the same statement, except those in an open conflict. `decay` deletes expired facts and
 * lowers importance by the elapsed time; the result does not depend on how often the phase runs.
 */
export function createDefaultPhases({ halfLifeDays }: DefaultPhasesOptions): ConsolidatorPhases {
  return {
    extract: async () => ({}),
    async merge(_, reads) {
      const forget: FactRecord[] = []
      const revise: FactRevision[] = []
      let after: string | undefined
      for (;;) {
        const groups = await reads.repeated(GROUP_BATCH, after)
        const inConflict = await reads.inConflict(groups.flatMap(({ facts }) => facts.map(({ id }) => id)))
        for (const { facts } of groups) {
          const clusters = clustersOf(facts.filter(({ id }) => !inConflict.has(id)).slice(0, MAX_FORGOTTEN))
          forget.push(...clusters.flatMap(({ others }) => others))
          revise.push(...clusters.flatMap(revisionOf))
        }
        if (forget.length >= MAX_FORGOTTEN) return { forget, revise, hasMore: true }
        if (groups.length < GROUP_BATCH) return { forget, revise }
        after = groups.at(-1)?.groupKey
      }
    },
    async decay({ now }, reads) {
      const forget = await reads.expired(MAX_FORGOTTEN)
      const stale = await reads.weighedBefore((now - DAY_MS) as EpochMs, MAX_WEIGHED)
      const weigh = stale.map((fact) => ({ fact, importance: importanceAt(fact, now, halfLifeDays * DAY_MS) }))
      return { forget, weigh, hasMore: forget.length === MAX_FORGOTTEN || stale.length === MAX_WEIGHED }
    },
  }
}

function importanceAt({ importance, weighedAt }: FactRecord, now: EpochMs, halfLifeMs: number): number {
  const left = importance * 2 ** (-(now - weighedAt) / halfLifeMs)
  return left < MIN_IMPORTANCE ? 0 : Math.min(importance, left)
}

/** Facts to merge: the fact to keep, and its tags and metadata after the merge. */
interface Cluster {
  readonly kept: FactRecord
  readonly others: FactRecord[]
  tags: readonly string[]
  metadata: Readonly<Record<string, string>>
}

/** Keeps the fact with the most words; among equals, the oldest. Facts with contradictory metadata are not merged. */
function clustersOf(facts: readonly FactRecord[]): readonly Cluster[] {
  const clusters: Cluster[] = []
  const mostCompleteFirst = [...facts].sort((a, b) => wordsOf(b.text).length - wordsOf(a.text).length)
  for (const fact of mostCompleteFirst) {
    const cluster = clusters.find((one) => canMerge(one, fact))
    if (cluster === undefined) clusters.push({ kept: fact, others: [], tags: fact.tags, metadata: fact.metadata })
    else {
      cluster.others.push(fact)
      cluster.tags = [...new Set([...cluster.tags, ...fact.tags])]
      cluster.metadata = { ...fact.metadata, ...cluster.metadata }
    }
  }
  return clusters
}

function canMerge({ tags, metadata }: Cluster, fact: FactRecord): boolean {
  const isContradicted = Object.entries(fact.metadata).some(([key, value]) => (metadata[key] ?? value) !== value)
  const keys = new Set([...Object.keys(metadata), ...Object.keys(fact.metadata)])
  return !isContradicted && keys.size <= MAX_METADATA_KEYS && new Set([...tags, ...fact.tags]).size <= MAX_TAGS
}

/** The change to the kept fact, if any. */
function revisionOf({ kept, others, tags, metadata }: Cluster): readonly FactRevision[] {
  if (others.length === 0) return []
  const importance = Math.max(kept.importance, ...others.map((fact) => fact.importance))
  const expiries = [kept, ...others].map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY)
  const latest = Math.max(...expiries)
  const isUnchanged =
    tags.length === kept.tags.length &&
    Object.keys(metadata).length === Object.keys(kept.metadata).length &&
    importance === kept.importance &&
    latest === expiries[0]
  if (isUnchanged) return []
  const expiresAt = latest === expiries[0] ? undefined : Number.isFinite(latest) ? (latest as EpochMs) : null
  const change = { tags, metadata, expiresAt }
  return [{ fact: kept, change: importance === kept.importance ? change : { ...change, importance } }]
}
