import { CreateFactRequest, PutBlockRequest, SearchRequest, UpdateFactRequest } from '@perdure/protocol'
import { checkMembers } from '../durable/check-options.ts'
import type { ServiceCaller } from '../durable/service-caller.ts'
import { checkBySchema } from './check-by-schema.ts'
import {
  decideFactChange,
  decideFactDeletion,
  decideNewFact,
  type FactDecisionsDeps,
  requireFact,
} from './fact-decisions.ts'
import { toBlockResource, toFactResource } from './memory-resources.ts'
import type { RunMemory } from './run-memory.ts'
import type { SearchMemory } from './search-memory.ts'
import { type BlockDecisionsDeps, blockRef, decideBlock } from './write-blocks.ts'

export type RunMemoryDeps = FactDecisionsDeps & BlockDecisionsDeps & { readonly searchMemory: SearchMemory }

export function createRunMemory(deps: RunMemoryDeps, { run, step, transact }: ServiceCaller): RunMemory {
  const { owner, id: runId, sessionId } = run
  const visibility = { owner }

  return {
    search: (query, { inSession = false, ...options } = {}) =>
      step('memory.search', async () => {
        checkBySchema(SearchRequest, { ...options, query })
        if (inSession && sessionId === undefined) return []
        const ofSession = inSession ? sessionId : undefined
        return (await deps.searchMemory({ ...options, query, sessionId: ofSession, visibility })).items
      }),
    remember: (text, options = {}) =>
      transact('memory.remember', async () => {
        checkBySchema(CreateFactRequest, { ...options, text })
        const { fact, writes } = await decideNewFact(deps, { ...options, text }, { owner, runId, sessionId })
        return { writes, value: toFactResource(fact) }
      }),
    update: (factId, change) =>
      transact('memory.update', async () => {
        checkBySchema(UpdateFactRequest, change)
        const { fact, writes } = await decideFactChange(deps, await requireFact(deps, factId, visibility), change)
        return { writes, value: toFactResource(fact) }
      }),
    forget: (factId) =>
      transact('memory.forget', async () => {
        const fact = await deps.facts.find(factId, { now: deps.clock.now(), visibility })
        if (fact === undefined) return { writes: [], value: false }
        return { writes: await decideFactDeletion(deps, fact), value: true }
      }),
    block(label, options = {}) {
      checkMembers('ctx.memory.block', options, ['namespace'])
      const { namespace } = options
      return {
        get: () =>
          step(
            'memory.block.get',
            async () => (await deps.blocks.find(blockRef(owner, label, namespace)))?.value ?? null,
          ),
        set: (value, more = {}) =>
          transact('memory.block.set', async () => {
            checkBySchema(PutBlockRequest, { ...more, value })
            const ref = blockRef(owner, label, namespace)
            const { block, writes } = await decideBlock(deps, ref, { ...more, value })
            return { writes, value: toBlockResource(block) }
          }),
      }
    },
  }
}
