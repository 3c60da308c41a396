import type { ConsolidatorPhases, PhaseResult } from '@perdure/ports'
import { aMessage, aSession } from '@perdure/testkit'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { createMemoryWorld, HOUR, type MemoryOptions } from '../memory/memory.fixture.ts'

export const never = () => new Promise<never>(() => undefined)
export const fails = () => Promise.reject(Object.assign(new Error('no model'), { kind: 'transient' }))
export const key: KeyedRequest = { id: 'k', fingerprint: 'same' }

export function startConsolidator(options: MemoryOptions = {}) {
  const world = createMemoryWorld(options)
  const start = () => {
    for (const daemon of world.daemons) daemon.start()
  }
  start()
  const addSession = async (id: string, texts: readonly string[] = ['hello']) => {
    const at = world.clock.now()
    await world.storage.unitOfWork.commit([
      { type: 'session.insert', session: aSession({ id, createdAt: at, updatedAt: at }) },
      ...texts.map(
        (text, index) =>
          ({
            type: 'message.append',
            message: aMessage({
              id: `${id}-${index}`,
              sessionId: id,
              createdAt: at,
              content: JSON.stringify(text) as never,
            }),
          }) as const,
      ),
    ])
  }
  return {
    ...world,
    addSession,
    /** Advances the clock until every session is idle and the loop has processed it. */
    async waitUntilIdle() {
      for (const ms of [HOUR, 30_000, 0]) await world.advance(ms)
    },
    counts: () => world.storage.jobs.counts(),
    deadLetters: async () => (await world.readConsolidator.deadLetters({ limit: 9, order: 'asc' })).items,
  }
}

/** Stores every message as a fact. */
export const extract: ConsolidatorPhases['extract'] = async (_, reads): Promise<PhaseResult> => ({
  remember: (await reads.messages()).map(({ content }) => ({ text: String(JSON.parse(content)) })),
  spent: { tokens: 10, costUsd: 0.5 },
})
