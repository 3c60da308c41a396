import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type RunRecord, type Storage } from '@perdure/ports'
import { expect, it } from 'vitest'
import { ALICE, agentOf, createTestEngine } from './test-engine.fixture.ts'

it('refuses a resume that was decided before the run was resumed and suspended again, and strands no run', async () => {
  const stored = createInMemoryStorage()
  let stale: RunRecord | undefined
  const find: Storage['runs']['find'] = async (id, visibility) => stale ?? stored.runs.find(id, visibility)
  const asking = agentOf('asks', async (_, { suspend, resume }) =>
    resume === undefined || resume.payload === 'more' ? suspend({ state: 'asked' }) : resume.payload,
  )
  const engine = createTestEngine({ agents: [asking], storage: { ...stored, runs: { ...stored.runs, find } } })
  const { runId = '' } = await engine.run('asks')
  const before = await stored.runs.find(runId, EVERY_ROW)
  const resume = (payload: string) => engine.resumeRun({ runId, payload, principal: ALICE, visibility: EVERY_ROW })
  await resume('more')
  expect(await stored.runs.find(runId, EVERY_ROW)).toMatchObject({ status: 'suspended', attempt: 1, execution: 2 })

  stale = before
  await expect(resume('late')).rejects.toMatchObject({ code: 'run-not-suspended' })
  stale = undefined
  await engine.advance(0)

  expect(await stored.runs.find(runId, EVERY_ROW)).toMatchObject({ status: 'suspended', execution: 2 })
  await resume('done')
  expect(await stored.runs.find(runId, EVERY_ROW)).toMatchObject({ status: 'completed', result: '"done"' })
})
