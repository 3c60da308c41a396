import type { Storage } from '@berth/ports'
import { createEventTable } from './event-table.ts'
import { createIdempotencyTable } from './idempotency-table.ts'
import { createRunTable } from './run-table.ts'
import { createSessionTable } from './session-table.ts'
import { createTokenTable } from './token-table.ts'
import { createUnitOfWork } from './unit-of-work.ts'

export interface InMemoryStorageOptions {
  /** Id of this database; random unless given. */
  readonly epoch?: string
}

/** The reference adapter: every storage port over plain maps, gone with the process. Closing it only waits for commits. */
export function createInMemoryStorage(options: InMemoryStorageOptions = {}): Storage {
  const runs = createRunTable()
  const events = createEventTable(options.epoch ?? crypto.randomUUID().replaceAll('-', ''))
  const idempotency = createIdempotencyTable()
  const sessions = createSessionTable()
  const tokens = createTokenTable()

  return {
    unitOfWork: createUnitOfWork({
      ...runs.appliers,
      ...events.appliers,
      ...idempotency.appliers,
      ...sessions.appliers,
      ...tokens.appliers,
    }),
    runs: runs.store,
    events: events.log,
    idempotency: idempotency.store,
    sessions: sessions.store,
    tokens: tokens.store,
    status: async () => ({ writable: true, walBytes: 0, dbBytes: 0 }),
    close: () => Promise.resolve(),
  }
}
