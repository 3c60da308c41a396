import { createInMemoryStorage } from '@perdure/in-memory'
import { noMeter, type Storage, type Visibility } from '@perdure/ports'
import { testDigest } from '../auth/tokens.fixture.ts'
import { createTestEngine, type EngineOptions } from '../engine/test-engine.fixture.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import { createSessionService, createSessions } from './sessions.ts'

export const ME: Visibility = { owner: 'alice' }
export const ALICE = { subject: 'alice', scopes: ['sessions:write:own'] }

/** The use cases of sessions and a run engine, on one storage and a manual clock. */
export function createSessionWorld(options: EngineOptions & { readonly storage?: Storage } = {}) {
  const storage = options.storage ?? createInMemoryStorage()
  let service: ReturnType<typeof createSessionService> | undefined
  const engine = createTestEngine({ ...options, storage, services: (caller) => ({ session: service?.(caller) }) })
  const { clock, ids } = engine
  service = createSessionService({ ...storage, clock, ids, maxResultBytes: 1_000 })
  const sessions = createSessions({
    ...{ ...storage, ...engine, clock, ids, digest: testDigest, basePath: '/v1' },
    render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }),
    idempotencyTtlMs: 86_400_000,
  })
  return { ...engine, ...sessions, storage }
}
