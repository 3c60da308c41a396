import { createInMemoryStorage } from '@perdure/in-memory'
import { openSqliteStorage } from '@perdure/sqlite'
import { describe, it } from 'vitest'
import { checkIdempotency } from './idempotency-model.fixture.ts'

describe('an idempotency key', () => {
  it('has its effects once and a single answer, with in-memory storage', async () => {
    await checkIdempotency(async () => createInMemoryStorage(), { numRuns: 400 })
  })

  it('has its effects once and a single answer, with SQLite', async () => {
    await checkIdempotency(() => openSqliteStorage({ path: ':memory:' }), { numRuns: 150 })
  })
})
