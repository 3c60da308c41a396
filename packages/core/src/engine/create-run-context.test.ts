import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine } from './test-engine.fixture.ts'

/** The contexts of two runs, and the ids of the runs whose services were created. */
async function twoContexts(code: (context: RunContext) => unknown = () => undefined) {
  const contexts: RunContext[] = []
  const created: string[] = []
  const engine = createTestEngine({
    agents: [
      agentOf('agent', async (_, context) => {
        contexts.push(context)
        code(context)
      }),
    ],
    services: ({ run }) => {
      created.push(run.id)
      return { memory: { of: run.id }, session: undefined }
    },
  })
  await engine.run('agent')
  await engine.run('agent')
  const [first, second] = contexts as [RunContext, RunContext]
  return { first, second, created }
}

describe('createRunContext', () => {
  it('creates services on first use, and only once', async () => {
    expect((await twoContexts()).created).toEqual([])

    const { first, second, created } = await twoContexts(({ memory, session }) => [memory, session])
    expect(created).toEqual([first.runId, second.runId])
  })

  it('gives each run its own services, even in a copy of the context', async () => {
    const { first, second } = await twoContexts()
    const { memory } = first

    expect([memory, { ...second }.memory]).toEqual([{ of: first.runId }, { of: second.runId }])
    expect(Object.keys(first)).toEqual(expect.arrayContaining(['session', 'memory', 'skills', 'mcp']))
  })

  it('uses the same getters in every run, so that all contexts share one shape', async () => {
    const { first, second } = await twoContexts()
    const getters = (context: RunContext) =>
      Object.values(Object.getOwnPropertyDescriptors(context)).flatMap(({ get }) => get ?? [])

    expect(getters(first)).toHaveLength(13)
    expect(getters(first).every((get, index) => get === getters(second)[index])).toBe(true)
  })
})
