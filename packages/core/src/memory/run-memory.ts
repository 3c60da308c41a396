import type { FactChange, FactInput } from './fact-decisions.ts'
import type { BlockResource, FactResource } from './memory-resources.ts'
import type { SearchHit, SearchMemoryRequest } from './search-memory.ts'
import type { BlockInput } from './write-blocks.ts'

export interface RunSearchOptions extends Pick<SearchMemoryRequest, 'namespace' | 'tags' | 'limit'> {
  /** Only what was learnt in the session of this run. */
  readonly inSession?: boolean
}

/**
 * Memory as the code of a run sees it: that of the owner of the run. Every call is durable: a re-execution gets what the
 * first one came to, and what is written is written exactly once.
 */
export interface RunMemory {
  search(query: string, options?: RunSearchOptions): Promise<readonly SearchHit[]>
  /** @throws AppError `step-failed` for a fact that is refused */
  remember(text: string, options?: Omit<FactInput, 'text'>): Promise<FactResource>
  /** @throws AppError `step-failed` when there is no such fact, or the change is refused */
  update(factId: string, change: FactChange): Promise<FactResource>
  /** Whether there was such a fact. */
  forget(factId: string): Promise<boolean>
  block(label: string, options?: { readonly namespace?: string }): RunBlock
}

export interface RunBlock {
  /** Its value; `null` when there is no such block. */
  get(): Promise<string | null>
  /** @throws AppError `step-failed` for a value over the limit of the block */
  set(value: string, options?: Pick<BlockInput, 'limit'>): Promise<BlockResource>
}
