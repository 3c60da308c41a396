import type { BlockStore, Clock, FactStore, MemoryConflictStore, Page, PageQuery, Visibility } from '@perdure/ports'
import { requireFact } from './fact-decisions.ts'
import {
  type BlockResource,
  type ConflictResource,
  type FactResource,
  toBlockResource,
  toConflictResource,
  toFactResource,
} from './memory-resources.ts'
import { factsOfConflict } from './resolve-conflict.ts'

export interface ReadMemoryDeps {
  readonly facts: FactStore
  readonly blocks: BlockStore
  readonly memoryConflicts: MemoryConflictStore
  readonly clock: Clock
}

export interface ListFactsQuery {
  readonly namespace?: string | undefined
  readonly tag?: string | undefined
}

/** Reads memory for the API. */
export interface ReadMemory {
  /** @throws AppError `memory-fact-not-found` if the fact does not exist, is not visible or has expired */
  fact(id: string, visibility: Visibility): Promise<FactResource>
  listFacts(query: ListFactsQuery, page: PageQuery, visibility: Visibility): Promise<Page<FactResource>>
  listBlocks(namespace: string | undefined, page: PageQuery, visibility: Visibility): Promise<Page<BlockResource>>
  listConflicts(namespace: string | undefined, page: PageQuery, visibility: Visibility): Promise<Page<ConflictResource>>
}

export function createReadMemory(deps: ReadMemoryDeps): ReadMemory {
  const { facts, blocks, memoryConflicts, clock } = deps
  return {
    fact: async (id, visibility) => toFactResource(await requireFact(deps, id, visibility)),
    async listFacts({ namespace, tag }, page, visibility) {
      const tags = tag === undefined ? undefined : [tag]
      const { items, nextCursor } = await facts.list({ namespace, tags, now: clock.now(), visibility }, page)
      return { items: items.map(toFactResource), nextCursor }
    },
    async listBlocks(namespace, page, visibility) {
      const { items, nextCursor } = await blocks.list(namespace, page, visibility)
      return { items: items.map(toBlockResource), nextCursor }
    },
    async listConflicts(namespace, page, visibility) {
      const { items, nextCursor } = await memoryConflicts.list(namespace, page, visibility)
      const shown = items.map(async (conflict) => toConflictResource(conflict, await factsOfConflict(deps, conflict)))
      return { items: await Promise.all(shown), nextCursor }
    },
  }
}
