import { storageContract } from '@perdure/testkit'
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
  storageContract({ name: 'PostgreSQL 18', open: () => schema.reuse(), close: async () => undefined })
})
