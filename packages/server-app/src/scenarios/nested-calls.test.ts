import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { runAgent } from '../testing/run-agent.ts'

const run = (code: (context: RunContext) => Promise<unknown>) =>
  runAgent({ id: 'a', description: 'Calls.', agent: { id: 'a', run: (_input, context) => code(context) } }, {})

const inside = /made inside the durable call outer/

describe('a run', () => {
  it.each<[string, (context: RunContext) => Promise<unknown>]>([
    ['a step in a step', ({ step }) => step('outer', () => step('inner', async () => 1))],
    [
      'a step in a tool',
      ({ tool, step }) =>
        tool({ name: 'outer', args: {}, execute: () => step('inner', async () => 1) }).then((answer) => {
          if (!answer.ok) throw new Error(answer.error.message)
        }),
    ],
    ['an approval in a step', ({ step, approval }) => step('outer', () => approval('inner'))],
    [
      'a sleep in a step, after an await',
      ({ step, sleep }) =>
        step('outer', async () => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          await sleep('inner', 1)
        }),
    ],
  ])('fails if it nests durable calls: %s', async (_, code) => {
    const { status, outcome } = await run(code)

    expect(status).toBe('failed')
    expect(outcome.error?.message).toMatch(inside)
  })

  it('completes if it makes durable calls in parallel or one after another', async () => {
    const { status, result } = await run(async ({ step }) => {
      const sides = await Promise.all([step('a', async () => 1), step('b', async () => 2)])
      return [...sides, await step('c', async () => 3)]
    })

    expect({ status, result }).toEqual({ status: 'completed', result: [1, 2, 3] })
  })
})
