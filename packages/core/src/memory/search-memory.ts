import {
  type Clock,
  type FactFilter,
  type FactRecord,
  type FactStore,
  takeWithinPage,
  type Visibility,
} from '@perdure/ports'
import { type FactResource, toFactResource } from './memory-resources.ts'
import type { Vectors } from './vectors.ts'

export interface SearchMemoryDeps {
  readonly facts: FactStore
  readonly clock: Clock
  readonly vectors: Pick<Vectors, 'embedder' | 'embed'>
  /** Maximum number of facts whose vectors a search compares. */
  readonly vectorCandidates: number
}

export interface SearchMemoryRequest {
  readonly query: string
  readonly namespace?: string | undefined // default: every namespace
  readonly tags?: readonly string[] | undefined // a fact must have every tag
  readonly sessionId?: string | undefined // only facts that were written in this session
  readonly limit?: number | undefined // default: 10
  readonly visibility: Visibility
}

export interface SearchHit {
  readonly fact: FactResource
  /** Higher is better; comparable only within one answer. */
  readonly score: number
}

/**
 * Finds the facts that match the query best: by words (BM25) and, with an embedder, also by meaning. Reciprocal rank
 * fusion merges the two lists. If the embedder fails, the search uses words alone.
 */
export type SearchMemory = (request: SearchMemoryRequest) => Promise<{ readonly items: readonly SearchHit[] }>

const DEFAULT_LIMIT = 10
/** Each of the two lists contributes at most this many times `limit` facts, and never more than `MAX_POOL`. */
const POOL_FACTOR = 5
const MAX_POOL = 500
/** Reduces the weight of the first ranks; 60 is the constant from the original paper on reciprocal rank fusion. */
const RANK_OFFSET = 60
/**
 * Extra weight of a fact of importance 1 over a fact of importance 0; equals about three ranks at the top of a list.
 */
const IMPORTANCE_SHARE = 0.05

export function createSearchMemory({ facts, clock, vectors, vectorCandidates }: SearchMemoryDeps): SearchMemory {
  const byMeaning = async (query: string, filter: FactFilter, limit: number) => {
    const { embedder } = vectors
    if (embedder === undefined) return []
    const [vector] = (await vectors.embed([query])) ?? []
    if (vector === undefined) return []
    return facts.nearest({ vector, embedder: embedder.name, candidates: vectorCandidates }, filter, limit)
  }

  return async ({ query, namespace, tags, sessionId, limit = DEFAULT_LIMIT, visibility }) => {
    const filter = { namespace, tags, sourceSessionId: sessionId, now: clock.now(), visibility }
    const pool = Math.min(MAX_POOL, limit * POOL_FACTOR)
    const lists = await Promise.all([facts.search(query, filter, pool), byMeaning(query, filter, pool)])
    const { items } = takeWithinPage(fuse(lists), limit)
    return { items: items.map(({ fact, score }) => ({ fact: toFactResource(fact), score })) }
  }
}

/** Reciprocal rank fusion, best first; ties by id. */
function fuse(lists: readonly (readonly FactRecord[])[]) {
  const scored = new Map<string, { fact: FactRecord; score: number }>()
  for (const list of lists) {
    for (const [index, fact] of list.entries()) {
      const weight = 1 + IMPORTANCE_SHARE * fact.importance
      const score = (scored.get(fact.id)?.score ?? 0) + weight / (RANK_OFFSET + index + 1)
      scored.set(fact.id, { fact, score })
    }
  }
  return [...scored.values()].sort((a, b) => b.score - a.score || (a.fact.id < b.fact.id ? -1 : 1))
}
