import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

/** A storage that counts the calls that are read, in all and by the largest read. */
function countingStorage() {
  const stored = createInMemoryStorage()
  const { steps } = stored
  const read = { total: 0, largest: 0 }
  const count = (rows: number) => {
    read.total += rows
    read.largest = Math.max(read.largest, rows)
  }
  const counted: Storage = {
    ...stored,
    steps: {
      ...steps,
      async list(runId, content) {
        const calls = await steps.list(runId, content)
        count(calls.length)
        return calls
      },
      async listBriefly(runId, range) {
        const calls = await steps.listBriefly(runId, range)
        count(calls.length)
        return calls
      },
      async ended(runId, range) {
        const part = await steps.ended(runId, range)
        count(part.items.length)
        return part
      },
      async read(runId, range) {
        const part = await steps.read(runId, range)
        count(part.items.length)
        return part
      },
      async find(runId, seq) {
        count(1)
        return steps.find(runId, seq)
      },
    },
  }
  return { storage: counted, read }
}

const settle = async (engine: ReturnType<typeof createTestEngine>, turns: number) => {
  for (let turn = 0; turn < turns; turn++) await engine.advance(0)
}

describe('a run with many calls', () => {
  it('reads each outcome a few times while a call waits beside them', async () => {
    const { storage, read } = countingStorage()
    const code = async (_: unknown, ctx: RunContext) => {
      const waiting = ctx.waitForEvent('go')
      for (let index = 0; index < 300; index++) await ctx.step('work', () => index)
      return waiting
    }
    const engine = createTestEngine({ storage, workflows: [workflowOf('flow', code)] })
    const { runId } = outcomeOf(await engine.execute('flow'))
    await settle(engine, 20)

    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })
    expect(read.total).toBeLessThan(5 * 300)

    await engine.emitEvent({ name: 'go', payload: 'gone' })
    await settle(engine, 20)
    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '"gone"' })
  })

  it('delivers the outcome of a wait that ends while other calls execute', async () => {
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>()
    const code = async (_: unknown, ctx: RunContext) => {
      const order: string[] = []
      await Promise.all([
        ctx.waitForEvent('go').then(() => order.push('event')),
        ctx.step('work', () => isOpen).then(() => order.push('step')),
      ])
      return order
    }
    const engine = createTestEngine({ agents: [agentOf('flow', code)] })
    const { runId } = outcomeOf(await engine.run('flow', { answer: 'accepted' }))
    await settle(engine, 5)
    await engine.emitEvent({ name: 'go', payload: 1 })
    await settle(engine, 5)
    open()
    await settle(engine, 5)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '["event","step"]' })
  })

  it('reads its waits in parts when it is suspended, executed again and resumed', async () => {
    const { storage, read } = countingStorage()
    const WAITS = 1_500
    const code = (_: unknown, ctx: RunContext) =>
      Promise.all([
        ...Array.from({ length: WAITS }, (__, index) => ctx.waitForEvent(`go-${index % 3}`)),
        ctx.waitForEvent('last'),
      ]).then((all) => all.length)
    const engine = createTestEngine({ storage, workflows: [workflowOf('flow', code)] })
    const { runId } = outcomeOf(await engine.execute('flow'))
    await settle(engine, 60)
    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })

    await engine.emitEvent({ name: 'last', payload: 1 })
    await settle(engine, 100)
    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })
    for (const index of [0, 1, 2]) await engine.emitEvent({ name: `go-${index}`, payload: 1 })
    await settle(engine, 400)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: `${WAITS + 1}` })
    expect(read.largest).toBeLessThanOrEqual(500)
    expect(read.total).toBeLessThan(30 * WAITS)
  })
})
