import fc from 'fast-check'
import { describe, it } from 'vitest'
import { history } from './actions.fixture.ts'
import { play } from './play.fixture.ts'
import { openMemoryWorld } from './world.fixture.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 30)

describe('a conversation', () => {
  it('has the same messages, files, calls and answers in prompt and page after any history, also with crashes', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        const world = await openMemoryWorld(one.compacts)
        try {
          await play(world, one)
        } finally {
          await world.stop()
        }
      }),
      { numRuns: HISTORIES, endOnFailure: HISTORIES > 1_000 },
    )
  }, 3_600_000)
})
