import { AppError } from '@berth/ports'
import { UpdateFactRequest } from '@berth/protocol'
import type { ServiceCaller } from '../agents/run-services.ts'
import {
  decideFactChange,
  decideFactDeletion,
  decideNewFact,
  type FactChange,
  type FactDecisionsDeps,
  type FactInput,
  requireFact,
} from './fact-decisions.ts'
import { type BlockResource, type FactResource, toBlockResource, toFactResource } from './memory-resources.ts'
import type { SearchHit, SearchMemory, SearchMemoryRequest } from './search-memory.ts'
import { type BlockDecisionsDeps, type BlockInput, blockRef, decideBlock } from './write-blocks.ts'

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

export type RunMemoryDeps = FactDecisionsDeps & BlockDecisionsDeps & { readonly searchMemory: SearchMemory }

export function createRunMemory(deps: RunMemoryDeps, { run, step, transact }: ServiceCaller): RunMemory {
  const { owner, id: runId, sessionId } = run
  const visibility = { owner }

  return {
    search: (query, { inSession = false, ...options } = {}) =>
      step('memory.search', async () => {
        if (inSession && sessionId === undefined) return []
        const ofSession = inSession ? sessionId : undefined
        return (await deps.searchMemory({ ...options, query, sessionId: ofSession, visibility })).items
      }),
    remember: (text, options = {}) =>
      transact('memory.remember', async () => {
        checkRunInput({ ...options, text })
        const { fact, writes } = await decideNewFact(deps, { ...options, text }, { owner, runId, sessionId })
        return { writes, value: toFactResource(fact) }
      }),
    update: (factId, change) =>
      transact('memory.update', async () => {
        checkRunInput(change)
        const { fact, writes } = await decideFactChange(deps, await requireFact(deps, factId, visibility), change)
        return { writes, value: toFactResource(fact) }
      }),
    forget: (factId) =>
      transact('memory.forget', async () => {
        const fact = await deps.facts.find(factId, { now: deps.clock.now(), visibility })
        if (fact === undefined) return { writes: [], value: false }
        return { writes: await decideFactDeletion(deps, fact), value: true }
      }),
    block: (label, { namespace } = {}) => ({
      get: () =>
        step(
          'memory.block.get',
          async () => (await deps.blocks.find(blockRef(owner, label, namespace)))?.value ?? null,
        ),
      set: (value, options = {}) =>
        transact('memory.block.set', async () => {
          const ref = blockRef(owner, label, namespace)
          const { block, writes } = await decideBlock(deps, ref, { value: String(value), ...options })
          return { writes, value: toBlockResource(block) }
        }),
    }),
  }
}

/** The same rules as in the API. @throws AppError `validation-failed` */
function checkRunInput(input: FactChange): void {
  const checked = UpdateFactRequest['~standard'].validate(input)
  if (!('issues' in checked) || checked.issues === undefined) return
  const message = checked.issues.map(({ path = [], message }) => `${path.map(keyOf).join('.')}: ${message}`).join('; ')
  throw new AppError('validation-failed', { message })
}

const keyOf = (part: PropertyKey | { readonly key: PropertyKey }) => String(typeof part === 'object' ? part.key : part)
