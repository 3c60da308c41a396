import { logTailContract } from '@perdure/testkit'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

needsTool('PostgreSQL').describe('two processes on a PostgreSQL server', () => {
  const schema = createTestSchema()
  const close = async () => undefined

  for (const [name, options] of [
    ['PostgreSQL', {}],
    ['PostgreSQL, without announcements', { listen: false }],
    ['PostgreSQL, every commit alone', { groups: false }],
  ] as const) {
    logTailContract({
      name,
      close,
      open: async () => [await schema.open(options), await schema.open({ ...options, keepRows: true, isGuest: true })],
    })
  }
})
