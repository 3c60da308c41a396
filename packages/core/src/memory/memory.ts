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
  /** Publishes what it commits. */
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

/** Everything that memory is made of, wired once. */
export function createMemory({ limits, ...given }: MemoryDeps) {
  const deps = { ...given, ...limits, similarity: limits.similarityPercent / 100 }
  const vectors = createVectors(deps)
  const searchMemory = createSearchMemory({ ...deps, vectors })
  const loop = createEmbeddingLoop({ ...deps, vectors })
  given.hub.watch({ topic: MEMORY_TOPIC }, { wake: () => loop.wake() })
  const embedding: Daemon = loop

  return {
    searchMemory,
    readMemory: createReadMemory(deps),
    writeFacts: createWriteFacts(deps),
    writeBlocks: createWriteBlocks(deps),
    resolveMemoryConflict: createResolveMemoryConflict(deps),
    /** What the consolidator decides facts with. */
    decisions: deps satisfies FactDecisionsDeps,
    /** Memory as the code of a run sees it. */
    ofRun: (caller: ServiceCaller) => createRunMemory({ ...deps, searchMemory }, caller),
    checkEmbedder: vectors.check,
    daemons: given.embedder === undefined ? [] : [embedding],
  }
}
