import {
  type BlockStore,
  type Clock,
  contentBytes,
  type FactStore,
  MAX_PAGE_BYTES,
  type MemoryConflictStore,
  type Page,
  type PageQuery,
  type Visibility,
} from '@perdure/ports'
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
  /** @throws PerdureError `memory-fact-not-found` if the fact does not exist, is not visible or has expired */
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
      // The facts make a page larger than the store knows: a page that ends early needs the cursor of a shorter page.
      const cursorAfter = async (limit: number) =>
        (await memoryConflicts.list(namespace, { ...page, limit }, visibility)).nextCursor
      const { items, nextCursor } = await memoryConflicts.list(namespace, page, visibility)
      const shown: ConflictResource[] = []
      let bytes = 0
      for (const conflict of items) {
        const resource = toConflictResource(conflict, await factsOfConflict(deps, conflict))
        bytes += contentBytes(resource)
        if (shown.length > 0 && bytes > MAX_PAGE_BYTES)
          return { items: shown, nextCursor: await cursorAfter(shown.length) }
        shown.push(resource)
      }
      return { items: shown, nextCursor }
    },
  }
}
