import { createInMemoryStorage } from '@perdure/in-memory'
import {
  type ConsolidatorPhases,
  type Embedder,
  EVERY_ROW,
  type FactFilter,
  fromJsonText,
  type Storage,
} from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { publishing } from '../commit/create-commit.ts'
import { type ConsolidatorLimits, createConsolidator } from '../consolidator/consolidator.ts'
import { silentLogger, testDigest, untilIdle } from '../engine/test-engine.fixture.ts'
import type { Reply } from '../idempotency/reply.ts'
import { createPhase } from '../lifecycle/phase.ts'
import { createEventHub } from '../realtime/event-hub.ts'
import type { FactInput } from './fact-decisions.ts'
import { createMemory } from './memory.ts'
import type { ConflictResource, FactResource } from './memory-resources.ts'

export interface MemoryOptions {
  readonly storage?: Storage
  readonly clock?: ReturnType<typeof createManualClock>
  readonly ids?: ReturnType<typeof createSequenceIds>
  readonly embedder?: Embedder
  readonly phases?: Partial<ConsolidatorPhases>
  readonly limits?: Partial<ConsolidatorLimits>
}

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** Memory and consolidator of one process, on in-memory storage and a manual clock. */
export function createMemoryWorld(options: MemoryOptions = {}) {
  const storage = options.storage ?? createInMemoryStorage()
  const clock = options.clock ?? createManualClock()
  const ids = options.ids ?? createSequenceIds()
  const hub = createEventHub()
  const phase = createPhase()
  phase.enter('ready')
  const unitOfWork = publishing(storage.unitOfWork, { hub })
  const shared = { ...storage, unitOfWork, clock, timers: clock, ids, logger: silentLogger, idempotencyTtlMs: DAY }
  const memory = createMemory({
    ...{ ...shared, digest: testDigest, hub, embedder: options.embedder, basePath: '/v1' },
    limits: {
      ...{ maxFactBytes: 500, blockLimit: 20, similarityPercent: 70 },
      ...{ vectorCandidates: 1_000, embedTimeoutMs: 5_000 },
    },
  })
  const consolidator = createConsolidator({
    ...{ ...shared, phase, decisions: memory.decisions, phaseOverrides: options.phases ?? {} },
    limits: { enabled: true, idleAfterMs: HOUR, leaseMs: 60_000, halfLifeDays: 30, ...options.limits },
  })
  const now = (): FactFilter => ({ now: clock.now(), visibility: EVERY_ROW })

  return {
    ...{ ...memory, ...consolidator, memoryDaemons: memory.daemons },
    ...{ storage, clock, ids, hub, phase, unitOfWork },
    remember: async (text: string, over: Partial<FactInput> & { readonly owner?: string } = {}) => {
      const { owner = 'alice', ...input } = over
      return bodyOf<FactResource>(await memory.writeFacts.create({ input: { ...input, text }, owner }))
    },
    texts: async () => {
      const { items } = await storage.facts.list(now(), { limit: 200, order: 'asc' })
      return items.map(({ text }) => text)
    },
    found: async (query: string, over: object = {}) => {
      const { items } = await memory.searchMemory({ query, visibility: EVERY_ROW, ...over })
      return items.map(({ fact }) => fact.text)
    },
    conflicts: async () => {
      const page = { limit: 200, order: 'asc' } as const
      return (await memory.readMemory.listConflicts(undefined, page, EVERY_ROW)).items
    },
    eventsOf: async (topic: string) => {
      const events = await storage.events.read({ topic }, { after: 0, limit: 1_000 })
      return events.map(({ type, payload }) => ({ type, payload: fromJsonText(payload) as Record<string, unknown> }))
    },
    /** Advances the clock and waits until everything that becomes due is done. */
    async advance(ms: number) {
      clock.advance(ms)
      for (let turn = 0; turn < 6; turn++) await untilIdle(clock)
    },
  }
}

export const bodyOf = <T>(reply: Reply): T => reply.body as T

export const textsOf = ({ facts }: Pick<ConflictResource, 'facts'>) => facts.map(({ text }) => text)
