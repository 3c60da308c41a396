import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/agent.ts'
import { agentOf, createTestEngine } from './test-engine.fixture.ts'

/** The contexts of two runs, and of which runs services were made. */
async function twoContexts(code: (context: RunContext) => unknown = () => undefined) {
  const contexts: RunContext[] = []
  const made: string[] = []
  const engine = createTestEngine({
    agents: [
      agentOf('agent', async (_, context) => {
        contexts.push(context)
        code(context)
      }),
    ],
    services: ({ run }) => {
      made.push(run.id)
      return { memory: { of: run.id }, session: undefined }
    },
  })
  await engine.run('agent')
  await engine.run('agent')
  const [first, second] = contexts as [RunContext, RunContext]
  return { first, second, made }
}

describe('the services of a run context', () => {
  it('are not made before its code names one, and then once', async () => {
    expect((await twoContexts()).made).toEqual([])

    const { first, second, made } = await twoContexts(({ memory, session }) => [memory, session])
    expect(made).toEqual([first.runId, second.runId])
  })

  it('are those of its run, also in a copy of it', async () => {
    const { first, second } = await twoContexts()
    const { memory } = first

    expect([memory, { ...second }.memory]).toEqual([{ of: first.runId }, { of: second.runId }])
    expect(Object.keys(first)).toEqual(expect.arrayContaining(['session', 'memory', 'skills', 'mcp']))
  })

  it('are found by the same functions in every run, so that all contexts have one shape', async () => {
    const { first, second } = await twoContexts()
    const getters = (context: RunContext) =>
      Object.values(Object.getOwnPropertyDescriptors(context)).flatMap(({ get }) => get ?? [])

    expect(getters(first)).toHaveLength(4)
    expect(getters(first).map((get, index) => get === getters(second)[index])).toEqual([true, true, true, true])
  })
})
