import { type AgentRegistration, codeOf, type RunContext, type WorkflowRegistration } from '@perdure/core'
import type { RunKind } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createAttribution } from './attribution.ts'

const contextOf = (runId: string) => ({ runId }) as RunContext
function call(kind: RunKind, registration: AgentRegistration | WorkflowRegistration, runId: string): unknown {
  const found = codeOf(kind, registration)
  if ('problem' in found) throw new Error(found.problem)
  return found.code(undefined, contextOf(runId))
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A tracked agent that runs `run`. */
const setUp = (run: (note: () => void) => unknown) => {
  const attribution = createAttribution()
  const seen: (string | undefined)[] = []
  const note = () => void seen.push(attribution.runId())
  const tracked = attribution.agent({ id: 'a', agent: { id: 'a', run: () => run(note) } })
  return { attribution, seen, note, call: (runId: string) => call('agent', tracked, runId) }
}

describe('createAttribution', () => {
  it('attributes code to its run before and after an await', async () => {
    const { seen, call } = setUp(async (note) => {
      note()
      await nextTurn()
      note()
    })
    await Promise.all([call('run_1'), call('run_2')])

    expect(seen).toEqual(['run_1', 'run_2', 'run_1', 'run_2'])
  })

  it('attributes timers and promises that the run does not await', async () => {
    const left = Promise.withResolvers<void>()
    const { seen, call } = setUp(async (note) => {
      setTimeout(() => {
        note()
        void nextTurn().then(note).then(left.resolve)
      })
    })
    await call('run_1')
    await left.promise

    expect(seen).toEqual(['run_1', 'run_1'])
  })

  it('attributes every part of a generator, whichever code advances it', async () => {
    const { seen, call } = setUp(async function* (note) {
      try {
        note()
        yield { type: 'one' }
        await nextTurn()
        note()
        yield { type: 'two' }
      } finally {
        note()
      }
    })
    const events = call('run_1') as AsyncGenerator<{ type: string }>

    expect((await events.next()).value).toEqual({ type: 'one' })
    expect((await events.next()).value).toEqual({ type: 'two' })
    expect((await events.return(undefined)).done).toBe(true)
    expect(seen).toEqual(['run_1', 'run_1', 'run_1'])
  })

  it('does not attribute the code of the caller or a function passed to outside()', async () => {
    const { attribution, seen, note, call } = setUp(async (inner) => {
      attribution.outside(inner)
      await attribution.outside(() => nextTurn().then(inner))
    })
    await call('run_1')
    note()

    expect(seen).toEqual([undefined, undefined, undefined])
  })

  it('supports an agent that is a class instance with private fields', async () => {
    class Greeter {
      readonly id = 'greeter'
      readonly #greeting = 'hello'
      async run() {
        return this.#greeting
      }
    }
    const tracked = createAttribution().agent({ id: 'greeter', agent: new Greeter() })

    expect(await call('agent', tracked, 'run_1')).toBe('hello')
  })

  it('calls the listener before the code of a run', async () => {
    const order: string[] = []
    const { attribution, call } = setUp(async () => void order.push('code'))
    attribution.onEnter((runId) => void order.push(runId))
    await call('run_1')

    expect(order).toEqual(['run_1', 'code'])
  })

  it('attributes the code of a workflow', async () => {
    const attribution = createAttribution()
    const tracked = attribution.workflow({ id: 'w', workflow: { id: 'w', execute: async () => attribution.runId() } })

    expect(await call('workflow', tracked, 'run_1')).toBe('run_1')
  })
})
