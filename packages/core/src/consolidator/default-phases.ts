import { type ConsolidatorPhases, type EpochMs, type FactRecord, type FactRevision, wordsOf } from '@perdure/ports'

export interface DefaultPhasesOptions {
  /** In which the importance of a fact halves. */
  readonly halfLifeDays: number
}

const DAY_MS = 86_400_000
const GROUPS_AT_ONCE = 50
const MOST_FORGOTTEN = 200
const MOST_WEIGHED = 500
/** Below it a fact has no importance left to decay. */
const LEAST_IMPORTANCE = 0.001
const MOST_METADATA = 16
const MOST_TAGS = 64

/**
 * Phases that need no model. `extract` finds nothing: what a conversation says takes a model to tell. `merge` makes one
 * fact of those that say the same; facts in an open conflict wait for their decision. `decay` deletes what has expired and
 * lets importance fade, by the time that has passed and not by how often it is called.
 */
export function createDefaultPhases({ halfLifeDays }: DefaultPhasesOptions): ConsolidatorPhases {
  return {
    extract: async () => ({}),
    async merge(_, reads) {
      const forget: FactRecord[] = []
      const revise: FactRevision[] = []
      let after: string | undefined
      for (;;) {
        const groups = await reads.repeated(GROUPS_AT_ONCE, after)
        const waiting = await reads.inConflict(groups.flatMap(({ facts }) => facts.map(({ id }) => id)))
        for (const { facts } of groups) {
          const clusters = clustersOf(facts.filter(({ id }) => !waiting.has(id)).slice(0, MOST_FORGOTTEN))
          forget.push(...clusters.flatMap(({ others }) => others))
          revise.push(...clusters.flatMap(revisionOf))
        }
        if (forget.length >= MOST_FORGOTTEN) return { forget, revise, hasMore: true }
        if (groups.length < GROUPS_AT_ONCE) return { forget, revise }
        after = groups.at(-1)?.groupKey
      }
    },
    async decay({ now }, reads) {
      const forget = await reads.expired(MOST_FORGOTTEN)
      const faded = await reads.weighedBefore((now - DAY_MS) as EpochMs, MOST_WEIGHED)
      const weigh = faded.map((fact) => ({ fact, importance: importanceAt(fact, now, halfLifeDays * DAY_MS) }))
      return { forget, weigh, hasMore: forget.length === MOST_FORGOTTEN || faded.length === MOST_WEIGHED }
    },
  }
}

function importanceAt({ importance, weighedAt }: FactRecord, now: EpochMs, halfLifeMs: number): number {
  const left = importance * 2 ** (-(now - weighedAt) / halfLifeMs)
  return left < LEAST_IMPORTANCE ? 0 : Math.min(importance, left)
}

/** Facts that become one: the one that stays, and what it takes over from the others. */
interface Cluster {
  readonly stays: FactRecord
  readonly others: FactRecord[]
  tags: readonly string[]
  metadata: Readonly<Record<string, string>>
}

/** The most complete wording stays, of equal ones the oldest. Facts whose metadata contradict each other stay apart. */
function clustersOf(facts: readonly FactRecord[]): readonly Cluster[] {
  const clusters: Cluster[] = []
  const byWording = [...facts].sort((a, b) => wordsOf(b.text).length - wordsOf(a.text).length)
  for (const fact of byWording) {
    const cluster = clusters.find((one) => takesIn(one, fact))
    if (cluster === undefined) clusters.push({ stays: fact, others: [], tags: fact.tags, metadata: fact.metadata })
    else {
      cluster.others.push(fact)
      cluster.tags = [...new Set([...cluster.tags, ...fact.tags])]
      cluster.metadata = { ...fact.metadata, ...cluster.metadata }
    }
  }
  return clusters
}

function takesIn({ tags, metadata }: Cluster, fact: FactRecord): boolean {
  const isContradicted = Object.entries(fact.metadata).some(([key, value]) => (metadata[key] ?? value) !== value)
  const keys = new Set([...Object.keys(metadata), ...Object.keys(fact.metadata)])
  return !isContradicted && keys.size <= MOST_METADATA && new Set([...tags, ...fact.tags]).size <= MOST_TAGS
}

/** What changes of the fact that stays, if anything. */
function revisionOf({ stays, others, tags, metadata }: Cluster): readonly FactRevision[] {
  if (others.length === 0) return []
  const importance = Math.max(stays.importance, ...others.map((fact) => fact.importance))
  const expiries = [stays, ...others].map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY)
  const latest = Math.max(...expiries)
  const isUnchanged =
    tags.length === stays.tags.length &&
    Object.keys(metadata).length === Object.keys(stays.metadata).length &&
    importance === stays.importance &&
    latest === expiries[0]
  if (isUnchanged) return []
  const expiresAt = latest === expiries[0] ? undefined : Number.isFinite(latest) ? (latest as EpochMs) : null
  const change = { tags, metadata, expiresAt }
  return [{ fact: stays, change: importance === stays.importance ? change : { ...change, importance } }]
}
