import { createInMemoryStorage } from '@perdure/in-memory'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { commands, runHistory } from './flow-model.fixture.ts'

const numRuns = Number(process.env.E2E_FLOW_RUNS ?? 150)

describe('flow control in memory', () => {
  it('keeps limits, rates, start times and order in random histories with crashes', () =>
    fc.assert(
      fc.asyncProperty(commands, (history) => runHistory(history, createInMemoryStorage())),
      { numRuns },
    ))
})
