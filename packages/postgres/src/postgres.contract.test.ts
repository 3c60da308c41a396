import { eventLogContract, storageContract, unitOfWorkContract } from '@perdure/testkit'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { createTestSchema } from './test-schema.fixture.ts'

needsTool('PostgreSQL').describe('on a PostgreSQL server', () => {
  const harness = (name: string, options = {}) => {
    const schema = createTestSchema()
    return { name, open: () => schema.reuse(options), close: async () => undefined }
  }

  storageContract(harness('PostgreSQL'))
  storageContract(harness('PostgreSQL, every commit alone', { groups: false }))

  const unpipelined = harness('PostgreSQL, without pipelining', { pipeline: false })
  unitOfWorkContract(unpipelined)
  eventLogContract(unpipelined)
})
