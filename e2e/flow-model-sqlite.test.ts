import fc from 'fast-check'
import { describe, it } from 'vitest'
import { commands, runHistory } from '../packages/core/src/engine-model/flow-model.fixture.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'

const numRuns = Number(process.env.E2E_FLOW_RUNS ?? 60)

describe('flow control on SQLite', () => {
  it('keeps limits, rates, start times and order in random histories with crashes', () =>
    fc.assert(
      fc.asyncProperty(commands, async (history) => {
        const storage = await openSqliteStorage({ path: ':memory:' })
        try {
          await runHistory(history, storage)
        } finally {
          await storage.close()
        }
      }),
      { numRuns },
    ))
})
