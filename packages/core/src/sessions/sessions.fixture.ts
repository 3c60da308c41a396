import { createInMemoryStorage } from '@perdure/in-memory'
import { isRefusal, noMeter, type SessionRecord, type Storage, type Visibility } from '@perdure/ports'
import { aSession } from '@perdure/testkit'
import { testDigest } from '../auth/tokens.fixture.ts'
import { agentOf, createTestEngine, type EngineOptions } from '../engine/test-engine.fixture.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import { createSessionService, createSessions } from './sessions.ts'

export const ME: Visibility = { owner: 'alice' }
export const ALICE = { subject: 'alice', scopes: ['sessions:write:own'] }

/** The use cases of sessions and a run engine, on one storage and a manual clock. */
export function createSessionWorld(options: EngineOptions & { readonly storage?: Storage } = {}) {
  const storage = options.storage ?? createInMemoryStorage()
  let service: ReturnType<typeof createSessionService> | undefined
  const engine = createTestEngine({ ...options, storage, services: (caller) => ({ session: service?.(caller) }) })
  const { clock, ids, files } = engine
  const resultFiles = options.fileLimits === undefined ? undefined : files.resultFiles
  service = createSessionService({ ...storage, resultFiles, clock, ids, maxResultBytes: 1_000 })
  const sessions = createSessions({
    ...{ ...storage, ...engine, clock, ids, digest: testDigest, basePath: '/v1' },
    render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }),
    idempotencyTtlMs: 86_400_000,
    files: storage.files,
    readFiles: files.useCases.readFiles,
  })
  return { ...engine, ...sessions, storage }
}

const idOf = (error: unknown) => (isRefusal(error) ? error.code : error)
/** The id of the error with which the work fails, or `done`. */
export const refusal = (work: Promise<unknown>) => work.then(() => 'done', idOf)

/** A world with the session `chat`, an agent that answers at once, and one that never does. */
export async function worldWith(session: Partial<SessionRecord> = {}) {
  const world = createSessionWorld({
    agents: [agentOf('echo', async (input) => input), agentOf('hold', () => new Promise<never>(() => undefined))],
  })
  await world.storage.unitOfWork.commit([
    { type: 'session.insert', session: aSession({ id: 'chat', title: 'old', ...session }) },
  ])
  const typesOf = async (sessionId: string) =>
    (await world.storage.events.read({ sessionId }, { after: 0, limit: 100 })).map(({ type }) => type)
  return { ...world, typesOf }
}
