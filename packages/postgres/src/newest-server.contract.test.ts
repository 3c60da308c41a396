import { storageContract } from '@perdure/testkit'
import { afterAll, beforeAll } from 'vitest'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { NEWEST_BINARIES, startPostgres, type TestPostgres } from '../../../tooling/postgres-server.ts'
import { createTestSchema } from './test-schema.fixture.ts'

needsTool('PostgreSQL 18', NEWEST_BINARIES !== undefined).describe('on the newest PostgreSQL server', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres(undefined, { binaries: NEWEST_BINARIES })
  })
  afterAll(() => server.remove())

  const schema = createTestSchema(async () => server.url)
  storageContract({ name: 'PostgreSQL 18', open: () => schema.reuse(), close: async () => undefined })
})
