import { eventLogContract, storageContract, unitOfWorkContract } from '@perdure/testkit'
import { afterAll, beforeAll } from 'vitest'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { newestBinaries, startPostgres, type TestPostgres } from '../../../tooling/postgres-server.ts'
import { createTestSchema } from './test-schema.fixture.ts'

needsTool('PostgreSQL 18').describe('on the newest PostgreSQL server', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres(undefined, { binaries: newestBinaries() })
  })
  afterAll(() => server.remove())

  const schema = createTestSchema(async () => server.url)
  const harness = (name: string, options = {}) => ({
    name,
    open: () => schema.reuse(options),
    close: async () => undefined,
  })

  // Every port is checked on each server once, and each way to commit in every port once.
  storageContract(harness('PostgreSQL 18, every commit alone', { groups: false }))

  const grouped = harness('PostgreSQL 18')
  unitOfWorkContract(grouped)
  eventLogContract(grouped)
})
