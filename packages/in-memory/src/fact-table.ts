import {
  type FactFilter,
  type FactRecord,
  type FactStore,
  type FactUpkeep,
  searchByWords,
  wordsOf,
} from '@perdure/ports'
import { createFactUpkeep } from './fact-upkeep.ts'
import { createRecordTable } from './record-table.ts'
import { isVisible } from './row-visibility.ts'
import type { SessionBelongings } from './session-deletion.ts'
import type { RunBelongings } from './thread-deletion.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export interface FactTable extends Table<FactStore, WritesOf<'fact'>>, RunBelongings, SessionBelongings {
  readonly upkeep: FactUpkeep
}

/** The vector of a fact, or a marker that its embedder cannot embed the fact. */
interface Embedding {
  readonly embedder: string
  readonly vector?: readonly number[] | undefined
}

export function createFactTable(): FactTable {
  const facts = createRecordTable<FactRecord>()
  const embeddings = new Map<string, Embedding>()

  const at = (id: string, revision: number): FactRecord | undefined => {
    const fact = facts.get(id)
    return fact?.revision === revision ? fact : undefined
  }
  const matching = (filter: FactFilter, order: 'asc' | 'desc' = 'asc') => {
    const found = facts.all().filter((fact) => matches(fact, filter))
    return order === 'asc' ? found : found.reverse()
  }

  const clearReferences = (isOf: (fact: FactRecord) => boolean, change: Partial<FactRecord>, undo: UndoLog) => {
    for (const fact of facts.all().filter(isOf)) facts.put(Object.freeze({ ...fact, ...change }), undo)
  }

  return {
    store: {
      async find(id, { now, visibility }) {
        const fact = facts.get(id)
        return fact !== undefined && matches(fact, { now, visibility }) ? fact : undefined
      },
      list: async (filter, page) => facts.page(page, (fact) => matches(fact, filter)),
      async search(text, filter, limit) {
        const having = (word: string) => indexed.filter(({ words }) => words.has(word)).map(({ fact }) => fact)
        const indexed = facts.all().map((fact) => ({ fact, words: new Set(wordsOf(fact.text)) }))
        const found = searchByWords(
          {
            having,
            matching(words) {
              const any = new Set(words.flatMap(having))
              return matching(filter, 'desc').filter((fact) => any.has(fact))
            },
            texts: (chosen) => chosen,
          },
          text,
          limit,
        )
        return found.flatMap((id) => facts.get(id) ?? [])
      },
      async nearest({ vector, embedder, candidates }, filter, limit) {
        const scored = matching(filter, 'desc').flatMap((fact) => {
          const embedding = embeddings.get(fact.id)
          if (embedding?.embedder !== embedder || embedding.vector === undefined) return []
          return [{ fact, score: product(vector, embedding.vector) }]
        })
        return scored
          .slice(0, candidates)
          .filter(({ score }) => score > 0)
          .sort((a, b) => b.score - a.score)
          .slice(0, limit)
          .map(({ fact }) => fact)
      },
    },
    upkeep: createFactUpkeep(
      () => facts.all(),
      ({ id }) => embeddings.has(id),
    ),
    removeRun: (runId, undo) =>
      clearReferences(({ sourceRunId }) => sourceRunId === runId, { sourceRunId: undefined }, undo),
    removeSession: (id, undo) =>
      clearReferences(({ sourceSessionId }) => sourceSessionId === id, { sourceSessionId: undefined }, undo),
    appliers: {
      'fact.insert'({ type, fact }, { undo }) {
        const current = facts.get(fact.id)
        if (current !== undefined) return { type, current }
        facts.put(fact, undo)
        return 1
      },
      'fact.replace'({ type, fact }, { undo }) {
        const known = at(fact.id, fact.revision - 1)
        if (known === undefined) return { type, current: facts.get(fact.id) }
        facts.put(Object.freeze({ ...fact, owner: known.owner, createdAt: known.createdAt }), undo)
        if (known.text !== fact.text) putEntry(embeddings, [fact.id, undefined], undo)
        return 1
      },
      'fact.delete'({ type, id, revision }, { undo }) {
        if (at(id, revision) === undefined) return { type, current: facts.get(id) }
        facts.delete(id, undo)
        putEntry(embeddings, [id, undefined], undo)
        return 1
      },
      'fact.weigh'({ id, revision, importance, at: weighedAt }, { undo }) {
        const known = at(id, revision)
        if (known === undefined) return 0
        facts.put(Object.freeze({ ...known, importance, weighedAt }), undo)
        return 1
      },
      'fact.embed'({ id, revision, embedder, vector }, { undo }) {
        if (at(id, revision) === undefined) return 0
        putEntry(embeddings, [id, { embedder, vector }], undo)
        return 1
      },
      'fact.keep-vectors'({ embedder }, { undo }) {
        const foreign = [...embeddings].filter(([, embedding]) => embedding.embedder !== embedder)
        for (const [id] of foreign) putEntry(embeddings, [id, undefined], undo)
        return foreign.length
      },
    },
  }
}

function matches(fact: FactRecord, filter: FactFilter): boolean {
  const { namespace, tags = [], sourceSessionId, owner, now, visibility } = filter
  return (
    (fact.expiresAt === undefined || fact.expiresAt > now) &&
    (namespace === undefined || fact.namespace === namespace) &&
    (owner === undefined || fact.owner === owner) &&
    (sourceSessionId === undefined || fact.sourceSessionId === sourceSessionId) &&
    tags.every((tag) => fact.tags.includes(tag)) &&
    isVisible(fact, visibility)
  )
}

function product(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}
