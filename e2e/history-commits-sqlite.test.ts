import { describe, it, onTestFinished } from 'vitest'
import { killAtCommits, SCENARIOS, threeCommits } from '../packages/ai-sdk/src/histories/every-commit.fixture.ts'
import { openWorld } from '../packages/ai-sdk/src/histories/world.fixture.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'

const ALL = Object.entries(SCENARIOS).map(([name, scenario], index) => ({ name, scenario, index }))

/** The next process of the server uses the storage of the killed one. */
async function open(compacts: boolean) {
  const storage = await openSqliteStorage({ path: ':memory:' })
  onTestFinished(() => storage.close())
  return openWorld(compacts, { ...storage, close: async () => undefined })
}

describe('a conversation on SQLite whose server is killed between two writes', () => {
  it.each(ALL)('loses and repeats nothing of $name', ({ scenario, index }) =>
    killAtCommits(scenario, threeCommits(index), open),
  )
})
