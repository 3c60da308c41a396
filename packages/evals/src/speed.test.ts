import { expect, it } from 'vitest'
import { defineEval, matchesText, memoryJournal, runEvals } from './index.ts'
import { shop } from './shop.fixture.ts'

const CASES = 200
/** The promise is 10 s on two idle cores. Processor time does not depend on the tests beside this one. */
const LIMIT_MS = 20_000

it('evaluates 200 chats with a scripted model in a bounded processor time', async () => {
  const cases = Array.from({ length: CASES }, (_, index) => ({ id: `case-${index}`, turns: [`hello ${index}`] }))
  const definition = defineEval({ name: 'many', agent: shop, cases, scorers: [matchesText(/^You said: hello/)] })
  const before = process.cpuUsage()
  const { trials } = await runEvals([definition], { journal: memoryJournal(), concurrency: 16 })
  const { user, system } = process.cpuUsage(before)
  expect(trials.filter(({ pass }) => pass)).toHaveLength(CASES)
  expect((user + system) / 1_000).toBeLessThan(LIMIT_MS)
})
