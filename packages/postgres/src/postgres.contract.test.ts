import { eventLogContract, storageContract, unitOfWorkContract } from '@perdure/testkit'
import { findTool } from '../../../tooling/machine-tools.ts'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { createTestSchema } from './test-schema.fixture.ts'

needsTool('PostgreSQL').describe('on a PostgreSQL server', () => {
  const harness = (name: string, options = {}) => {
    const schema = createTestSchema()
    return { name, open: () => schema.reuse(options), close: async () => undefined }
  }

  storageContract(harness('PostgreSQL'))
  // `newest-server.contract.test.ts` checks these commits on a newer server, where one is there.
  if (findTool('PostgreSQL 18') === undefined)
    storageContract(harness('PostgreSQL, every commit alone', { groups: false }))

  const unpipelined = harness('PostgreSQL, without pipelining', { pipeline: false })
  unitOfWorkContract(unpipelined)
  eventLogContract(unpipelined)
})
