import { expect, it } from 'vitest'
import { seedOf } from './seed.ts'
import { crashStarts } from './start-crashes.ts'

it('a server that dies again and again while it recovers keeps what it acknowledged, and does nothing twice', async () => {
  const { violations, deaths, reached } = await crashStarts({ seed: seedOf(), kills: 4, workers: 6 })

  console.log(`${deaths} starts died, ${reached} of them before they listened`)
  expect(violations).toEqual([])
  expect(reached).toBeGreaterThan(2)
})
