import { expect, it } from 'vitest'
import { createAuditedPlace } from './audited-place.ts'
import { runKills } from './kills.ts'
import { seedOf } from './seed.ts'

it('a server that is killed at random moments keeps what it acknowledged, and does nothing twice', async () => {
  const { violations, kills, deeds, requests } = await runKills({
    seed: seedOf(),
    kills: 12,
    workers: 8,
    lifeMs: [50, 500],
  })

  console.log(`${kills} kills, ${deeds} deeds, ${requests} requests`)
  expect(violations).toEqual([])
  expect(deeds).toBeGreaterThanOrEqual(8)
})

it('a server that audits every request in a file of its own, and is killed, has a link for what it acknowledged', async () => {
  const place = createAuditedPlace()
  const { violations, deeds } = await runKills({ seed: seedOf(), place, kills: 5, workers: 6, lifeMs: [50, 500] })

  expect(violations).toEqual([])
  expect(deeds).toBeGreaterThanOrEqual(6)
})
