import { createInMemoryStorage, createInMemoryTracer, type InMemoryTracer } from '@perdure/in-memory'
import { EVERY_ROW, noSpan, noTracer, type Tracer } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf, settled, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/agent.ts'

const RECEIVED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const SECRET = 'xyzzy'

/** The spans as a tree of titles, each with what it came to. */
function treeOf({ spans }: InMemoryTracer, parentId: string | undefined = 'b7ad6b7169203331'): unknown[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .map(({ title, spanId, error, isEnded }) => {
      const state = isEnded ? (error ?? 'ok') : 'open'
      const below = treeOf({ spans } as unknown as InMemoryTracer, spanId)
      return below.length === 0 ? `${title}: ${state}` : [`${title}: ${state}`, ...below]
    })
}

function setUp(run: (context: RunContext) => Promise<unknown>, over: object = {}) {
  const tracer = createInMemoryTracer()
  const child = agentOf('child', async (_, { usage }) => usage({ provider: 'p', model: 'm', inputTokens: 3 }))
  const engine = createTestEngine({ agents: [agentOf('parent', (_, context) => run(context)), child], tracer, ...over })
  return { tracer, engine, start: () => engine.run('parent', { traceparent: RECEIVED, answer: 'accepted' }) }
}

describe('the spans of a run', () => {
  it('are below the place it was started from: tries of steps, tools and children below the run', async () => {
    const { tracer, engine, start } = setUp(async ({ step, tool, agents, usage }) => {
      await step('look up', () => 1)
      await tool({ name: 'pay', execute: () => 2 })
      await usage({ provider: 'p', model: 'm', inputTokens: 4, outputTokens: 5 })
      await agents.run('child')
    })

    await start()
    await settled(engine.clock)

    expect(treeOf(tracer)).toEqual([
      ['invoke_agent parent: ok', 'step look up: ok', 'execute_tool pay: ok', 'invoke_agent child: ok'],
    ])
    expect(tracer.spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 5,
      'perdure.run.finish_reason': 'completed',
    })
  })

  it('are one for each execution of a run that waits', async () => {
    const { tracer, engine, start } = setUp(async ({ sleep, usage }) => {
      await usage({ provider: 'p', model: 'm', inputTokens: 4 })
      await sleep('nap', 1_000)
    })

    await start()
    await settled(engine.clock)
    await engine.start()
    await engine.pass(1_000)

    expect(treeOf(tracer)).toEqual(['invoke_agent parent: ok', 'invoke_agent parent: ok'])
    const [first, second] = tracer.spans.map(({ attributes }) => attributes)
    expect(first).toMatchObject({ 'perdure.run.status': 'suspended' })
    expect(first).not.toHaveProperty('gen_ai.usage.input_tokens')
    expect(second).toMatchObject({ 'perdure.run.status': 'completed', 'gen_ai.usage.input_tokens': 4 })
  })

  it('are errors with the class of what went wrong, never with its words', async () => {
    const { tracer, engine, start } = setUp(async ({ step, tool }) => {
      const failing = () => {
        throw Object.assign(new Error(SECRET), { code: 'card-declined' })
      }
      await tool({ name: 'pay', args: { SECRET }, execute: failing })
      await step('charge', failing, { retry: { maxAttempts: 2, initialDelayMs: 0 } })
    })

    await start()
    await settled(engine.clock)

    expect(treeOf(tracer)).toEqual([
      [
        'invoke_agent parent: step-failed',
        ...['execute_tool pay: execution_failed', 'step charge: card-declined', 'step charge: card-declined'],
      ],
    ])
    expect(JSON.stringify(tracer.spans)).not.toContain(SECRET)
  })

  it('give the code of the run and of its steps their own places to hand on', async () => {
    const places: (string | undefined)[] = []
    const { tracer, engine, start } = setUp(async ({ traceparent, step, tool }) => {
      places.push(traceparent)
      await step('one', (one) => void places.push(one.traceparent))
      await tool({ name: 'two', execute: (_, two) => void places.push(two.traceparent) })
    })

    await start()
    await settled(engine.clock)

    expect(places).toEqual(tracer.spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`))
  })

  it.each([
    ['abort', 'aborted', 'ok'],
    ['timeout', 'timeout', 'timeout'],
  ])('end with its %s, at the latest when the code is left behind', async (how, reason, state) => {
    const { tracer, engine } = setUp(() => new Promise(() => undefined))
    const timeoutMs = how === 'timeout' ? 1_000 : undefined
    const { runId } = outcomeOf(
      await engine.run('parent', { traceparent: RECEIVED, answer: 'accepted', body: { timeoutMs } }),
    )
    await settled(engine.clock)

    if (how === 'abort') await engine.abortRun({ runId, visibility: EVERY_ROW })
    else await engine.pass(1_000)
    await engine.pass(5_000)

    expect(treeOf(tracer)).toEqual([`invoke_agent parent: ${state}`])
    expect(tracer.spans[0]?.attributes['perdure.run.finish_reason']).toBe(reason)
  })

  it('go on in the same trace after a crash, and replay makes none', async () => {
    const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
    const held = gate<number>()
    let executions = 0
    const flow = workflowOf('flow', async (_, { step }) => {
      await step('first', () => 1)
      return step('second', () => (executions++ === 0 ? held.promise : 2))
    })
    const before = createInMemoryTracer()
    const first = createTestEngine({ ...shared, workflows: [flow], tracer: before })
    await first.execute('flow', { traceparent: RECEIVED })
    await settled(shared.clock)

    const after = createInMemoryTracer()
    const second = createTestEngine({ ...shared, workflows: [flow], tracer: after })
    await second.recover()
    await second.start()
    await settled(shared.clock)

    expect(treeOf(before)).toEqual([['invoke_workflow flow: open', 'step first: ok', 'step second: open']])
    expect(treeOf(after)).toEqual([['invoke_workflow flow: ok', 'step second: ok']])
    expect(after.spans[0]).toMatchObject({
      traceId: before.spans[0]?.traceId,
      attributes: { 'perdure.run.attempt': 2 },
    })
  })

  it('are not made, nor anything for them, while tracing is off', async () => {
    const started: string[] = []
    const off: Tracer = {
      ...noTracer,
      start(name) {
        started.push(name)
        return noSpan
      },
    }
    const places: unknown[] = []
    const { engine } = setUp(
      async ({ step, tool, agents, traceparent }) => {
        await step('one', (one) => void places.push(one.traceparent))
        await tool({ name: 'pay', execute: () => 2 })
        await agents.run('child')
        places.push(traceparent)
      },
      { tracer: off },
    )

    const { runId } = outcomeOf(await engine.run('parent', { traceparent: RECEIVED, answer: 'accepted' }))
    await settled(engine.clock)

    expect((await engine.find(runId))?.status).toBe('completed')
    expect([started, places]).toEqual([[], [RECEIVED, RECEIVED]])
  })
})
