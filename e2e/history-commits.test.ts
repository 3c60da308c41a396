import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { killAtCommits, SCENARIOS } from '../packages/ai-sdk/src/histories/every-commit.fixture.ts'
import { createRandom } from '../packages/testkit/src/random.ts'
import { startDurableServer } from './durable-server.ts'
import { createHistoryWorld, killAfterCommits } from './history-world.ts'
import { createCommitKiller } from './killed-at-commit.ts'
import { seedOf } from './torture/seed.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/histories.config.mjs')

/** `CRASH_POINTS=all` plays all of them, and kills after each commit. */
const SHORT = new Set([
  ...['the first message, with a file', 'an upload and its message', 'messages that wait for the turn'],
  ...['steering messages', 'an interrupting message', 'a compaction'],
])
/** Every action commits so often. */
const LEAST_COMMITS = 4

const names = Object.keys(SCENARIOS).filter((name) => process.env.CRASH_POINTS === 'all' || SHORT.has(name))

describe('a conversation whose server is killed by its database between two writes', () => {
  it('loses and repeats nothing', async () => {
    const killer = createCommitKiller()
    const random = createRandom(seedOf())
    const server = await startDurableServer(CONFIG, killer.env)
    const world = createHistoryWorld(server, killAfterCommits(server, killer))
    const open = async () => ({ ...world, stop: async () => undefined })
    for (const name of names) {
      const first = 1 + Math.floor(random() * LEAST_COMMITS)
      await killAtCommits(SCENARIOS[name] ?? expect.fail(name), { first, step: 1, points: 1 }, open).catch(
        (cause: unknown) => {
          throw new Error(`${name}: ${cause}`, { cause })
        },
      )
    }
    console.log(`${names.length} actions, ${world.kills()} kills`)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  }, 7_200_000)
})
