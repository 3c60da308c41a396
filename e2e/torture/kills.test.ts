import { expect, it } from 'vitest'
import { createAuditedSandbox } from './audited-sandbox.ts'
import { runKills } from './kills.ts'
import { seedOf } from './seed.ts'

it('keeps acknowledged work and repeats nothing when the server is killed at random moments', async () => {
  const { violations, kills, actions, requests } = await runKills({
    seed: seedOf(),
    kills: 12,
    workers: 8,
    uptimeMs: [50, 500],
  })

  console.log(`${kills} kills, ${actions} actions, ${requests} requests`)
  expect(violations).toEqual([])
  expect(actions).toBeGreaterThanOrEqual(8)
})

it('has an audit entry for every acknowledged action when a server with a separate audit file is killed', async () => {
  const sandbox = createAuditedSandbox()
  const { violations, actions } = await runKills({ seed: seedOf(), sandbox, kills: 5, workers: 6, uptimeMs: [50, 500] })

  expect(violations).toEqual([])
  expect(actions).toBeGreaterThanOrEqual(6)
})
