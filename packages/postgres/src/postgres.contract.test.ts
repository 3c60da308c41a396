import { eventLogContract, storageContract, unitOfWorkContract } from '@perdure/testkit'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { isPostgresAvailable } from '../../../tooling/postgres-server.ts'
import { createTestSchema } from './test-schema.fixture.ts'

needsTool('PostgreSQL', isPostgresAvailable).describe('on a PostgreSQL server', () => {
  const schema = createTestSchema()

  storageContract({ name: 'PostgreSQL', open: () => schema.open() })
  storageContract({ name: 'PostgreSQL, every commit alone', open: () => schema.open({ groups: false }) })

  const unpipelined = { name: 'PostgreSQL, without pipelining', open: () => schema.open({ pipeline: false }) }
  unitOfWorkContract(unpipelined)
  eventLogContract(unpipelined)
})
