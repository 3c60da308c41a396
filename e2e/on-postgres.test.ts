import { expect, it } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { canStartPostgres } from '../tooling/postgres-server.ts'
import { createSandbox } from './perdure-process.ts'

needsTool('postgresql', canStartPostgres()).describe('the suites on PostgreSQL', () => {
  it('have a schema for each sandbox', () => {
    const schemas = [createSandbox(), createSandbox()].map(({ env }) => env.PERDURE_STORAGE_SCHEMA)

    expect(schemas).toEqual([expect.any(String), expect.any(String)])
    expect(new Set(schemas).size).toBe(2)
  })
})
