import type { FactChange, FactInput } from './fact-decisions.ts'
import type { BlockResource, FactResource } from './memory-resources.ts'
import type { SearchHit, SearchMemoryRequest } from './search-memory.ts'
import type { BlockInput } from './write-blocks.ts'

export interface RunSearchOptions extends Pick<SearchMemoryRequest, 'namespace' | 'tags' | 'limit'> {
  /** Only facts that were written in the session of this run. */
  readonly inSession?: boolean
}

/**
 * The memory of the owner of the run. Every call is durable: a re-execution returns the recorded result, and each write
 * happens exactly once.
 */
export interface RunMemory {
  /** Finds the facts that match the query best. */
  search(query: string, options?: RunSearchOptions): Promise<readonly SearchHit[]>
  /** Stores a fact. @throws PerdureError `step-failed` if the fact is rejected */
  remember(text: string, options?: Omit<FactInput, 'text'>): Promise<FactResource>
  /** Changes a fact. @throws PerdureError `step-failed` if the fact does not exist or the change is rejected */
  update(factId: string, change: FactChange): Promise<FactResource>
  /** Deletes a fact; returns whether the fact existed. */
  forget(factId: string): Promise<boolean>
  /** A named block of text; call its methods to read and write it. */
  block(label: string, options?: { readonly namespace?: string }): RunBlock
}

export interface RunBlock {
  /** Returns the value of the block; `null` if it does not exist. */
  get(): Promise<string | null>
  /** Creates or replaces the block. @throws PerdureError `step-failed` if the value exceeds the limit of the block */
  set(value: string, options?: Pick<BlockInput, 'limit'>): Promise<BlockResource>
}
