import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { history } from '../packages/ai-sdk/src/histories/actions.fixture.ts'
import { play } from '../packages/ai-sdk/src/histories/play.fixture.ts'
import { startDurableServer } from './durable-server.ts'
import { createHistoryWorld, killAtMoments } from './history-world.ts'
import { seedOf } from './torture/seed.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/histories.config.mjs')
const HISTORIES = Number(process.env.E2E_HISTORIES ?? 4)

describe('a conversation whose server is killed', () => {
  it('has the same messages, files, calls and answers in prompt and page after any history', async () => {
    const server = await startDurableServer(CONFIG)
    const world = createHistoryWorld(server, killAtMoments(server))
    const histories = fc.sample(history, { numRuns: HISTORIES, seed: seedOf() })
    for (const [index, one] of histories.entries()) {
      await play(world, one, `${index}-`).catch((cause: unknown) => {
        throw new Error(`history ${index}: ${JSON.stringify(one)}: ${cause}`, { cause })
      })
    }
    console.log(`${histories.length} histories, ${world.kills()} kills`)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  }, 7_200_000)
})
