import { describe, it } from 'vitest'
import { killAtCommits, SCENARIOS, threeCommits } from './every-commit.fixture.ts'
import { openMemoryWorld } from './world.fixture.ts'

const ALL = Object.entries(SCENARIOS).map(([name, scenario], index) => ({ name, scenario, index }))

describe('a conversation whose server is killed between two writes', () => {
  it.each(ALL)('loses and repeats nothing of $name', ({ scenario, index }) =>
    killAtCommits(scenario, threeCommits(index), openMemoryWorld),
  )
})
