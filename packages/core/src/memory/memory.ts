import type { Embedder, IdGenerator, Storage, UnitOfWork } from '@perdure/ports'
import type { ServiceCaller } from '../durable/service-caller.ts'
import type { CommitOnceDeps } from '../idempotency/commit-once.ts'
import type { Daemon } from '../lifecycle/daemon.ts'
import type { SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { EventHub } from '../realtime/event-hub.ts'
import { createRunMemory } from './create-run-memory.ts'
import { createEmbeddingLoop } from './embedding-loop.ts'
import type { FactDecisionsDeps } from './fact-decisions.ts'
import { MEMORY_TOPIC } from './memory-events.ts'
import { createReadMemory } from './read-memory.ts'
import { createResolveMemoryConflict } from './resolve-conflict.ts'
import { createSearchMemory } from './search-memory.ts'
import { createVectors } from './vectors.ts'
import { createWriteBlocks } from './write-blocks.ts'
import { createWriteFacts } from './write-facts.ts'

export interface MemoryDeps
  extends Pick<Storage, 'facts' | 'factUpkeep' | 'blocks' | 'memoryConflicts'>,
    SupervisedLoopDeps,
    Pick<FactDecisionsDeps, 'digest'>,
    Pick<CommitOnceDeps, 'idempotencyTtlMs'> {
  /** Must publish the events that it commits. */
  readonly unitOfWork: UnitOfWork
  readonly ids: IdGenerator
  readonly hub: Pick<EventHub, 'watch'>
  readonly embedder: Embedder | undefined
  readonly basePath: string
  readonly limits: MemoryLimits
}

export interface MemoryLimits {
  readonly maxFactBytes: number
  readonly blockLimit: number // characters
  readonly similarityPercent: number
  readonly vectorCandidates: number
  readonly embedTimeoutMs: number
}

export type Memory = ReturnType<typeof createMemory>

/** Wires the use cases and the embedding loop of memory. */
export function createMemory({ limits, ...rest }: MemoryDeps) {
  const deps = { ...rest, ...limits, similarity: limits.similarityPercent / 100 }
  const vectors = createVectors(deps)
  const searchMemory = createSearchMemory({ ...deps, vectors })
  const loop = createEmbeddingLoop({ ...deps, vectors })
  rest.hub.watch({ topic: MEMORY_TOPIC }, { wake: () => loop.wake() })
  const embedding: Daemon = loop

  return {
    searchMemory,
    readMemory: createReadMemory(deps),
    writeFacts: createWriteFacts(deps),
    writeBlocks: createWriteBlocks(deps),
    resolveMemoryConflict: createResolveMemoryConflict(deps),
    /** Dependencies of the functions that create and change facts; the consolidator uses the same functions. */
    decisions: deps satisfies FactDecisionsDeps,
    /** Creates `ctx.memory` of a run. */
    forRun: (caller: ServiceCaller) => createRunMemory({ ...deps, searchMemory }, caller),
    checkEmbedder: vectors.check,
    daemons: rest.embedder === undefined ? [] : [embedding],
  }
}
