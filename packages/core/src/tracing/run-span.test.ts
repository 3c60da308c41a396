import { createInMemoryStorage, createInMemoryTracer, type InMemoryTracer } from '@perdure/in-memory'
import { EVERY_ROW, noSpan, noTracer, type Tracer } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

const RECEIVED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const SECRET = 'xyzzy'

/** The spans as a tree of titles, each with its outcome. */
function treeOf({ spans }: InMemoryTracer, parentId: string | undefined = 'b7ad6b7169203331'): unknown[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .map(({ title, spanId, error, isEnded }) => {
      const state = isEnded ? (error ?? 'ok') : 'open'
      const children = treeOf({ spans } as unknown as InMemoryTracer, spanId)
      return children.length === 0 ? `${title}: ${state}` : [`${title}: ${state}`, ...children]
    })
}

function setUp(run: (context: RunContext) => Promise<unknown>, over: object = {}) {
  const tracer = createInMemoryTracer()
  const child = agentOf('child', async (_, { usage }) => usage({ provider: 'p', model: 'm', inputTokens: 3 }))
  const engine = createTestEngine({ agents: [agentOf('parent', (_, context) => run(context)), child], tracer, ...over })
  return { tracer, engine, start: () => engine.run('parent', { traceparent: RECEIVED, answer: 'accepted' }) }
}

describe('run tracing', () => {
  it('creates the run span under the received trace context, and step, tool and child-run spans below it', async () => {
    const { tracer, engine, start } = setUp(async ({ step, tool, invoke, usage }) => {
      await step('look up', () => 1)
      await tool({ name: 'pay', execute: () => 2 })
      await usage({ provider: 'p', model: 'm', inputTokens: 4, outputTokens: 5 })
      await invoke('child')
    })

    await start()
    await untilIdle(engine.clock)

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

  it('creates a separate span for each execution of a suspended run', async () => {
    const { tracer, engine, start } = setUp(async ({ sleep, usage }) => {
      await usage({ provider: 'p', model: 'm', inputTokens: 4 })
      await sleep('nap', 1_000)
    })

    await start()
    await untilIdle(engine.clock)
    await engine.start()
    await engine.advance(1_000)

    expect(treeOf(tracer)).toEqual(['invoke_agent parent: ok', 'invoke_agent parent: ok'])
    const [first, second] = tracer.spans.map(({ attributes }) => attributes)
    expect(first).toMatchObject({ 'perdure.run.status': 'suspended' })
    expect(first).not.toHaveProperty('gen_ai.usage.input_tokens')
    expect(second).toMatchObject({ 'perdure.run.status': 'completed', 'gen_ai.usage.input_tokens': 4 })
  })

  it('records the error class of a failure, never its message', async () => {
    const { tracer, engine, start } = setUp(async ({ step, tool }) => {
      const failing = () => {
        throw Object.assign(new Error(SECRET), { code: 'card-declined' })
      }
      await tool({ name: 'pay', args: { SECRET }, execute: failing })
      await step('charge', failing, { retries: { max: 1, delay: 0 } })
    })

    await start()
    await untilIdle(engine.clock)

    expect(treeOf(tracer)).toEqual([
      [
        'invoke_agent parent: step-failed',
        ...['execute_tool pay: execution_failed', 'step charge: card-declined', 'step charge: card-declined'],
      ],
    ])
    expect(JSON.stringify(tracer.spans)).not.toContain(SECRET)
  })

  it('gives the code of the run and of its steps their own traceparent', async () => {
    const received: (string | undefined)[] = []
    const { tracer, engine, start } = setUp(async ({ traceparent, step, tool }) => {
      received.push(traceparent)
      await step('one', (one) => void received.push(one.traceparent))
      await tool({ name: 'two', execute: (_, two) => void received.push(two.traceparent) })
    })

    await start()
    await untilIdle(engine.clock)

    expect(received).toEqual(tracer.spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`))
  })

  it.each([
    ['abort', 'aborted', 'ok'],
    ['timeout', 'timeout', 'timeout'],
  ])('ends the span on %s even if the agent never returns', async (how, reason, state) => {
    const { tracer, engine } = setUp(() => new Promise(() => undefined))
    const timeoutMs = how === 'timeout' ? 1_000 : undefined
    const { runId } = outcomeOf(
      await engine.run('parent', { traceparent: RECEIVED, answer: 'accepted', body: { timeoutMs } }),
    )
    await untilIdle(engine.clock)

    if (how === 'abort') await engine.abortRun({ runId, visibility: EVERY_ROW })
    else await engine.advance(1_000)
    await engine.advance(5_000)

    expect(treeOf(tracer)).toEqual([`invoke_agent parent: ${state}`])
    expect(tracer.spans[0]?.attributes['perdure.run.finish_reason']).toBe(reason)
  })

  it('continues the same trace after a crash, without spans for replayed steps', async () => {
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
    await untilIdle(shared.clock)

    const after = createInMemoryTracer()
    const second = createTestEngine({ ...shared, workflows: [flow], tracer: after })
    await second.recover()
    await second.start()
    await untilIdle(shared.clock)

    expect(treeOf(before)).toEqual([['invoke_workflow flow: open', 'step first: ok', 'step second: open']])
    expect(treeOf(after)).toEqual([['invoke_workflow flow: ok', 'step second: ok']])
    expect(after.spans[0]).toMatchObject({
      traceId: before.spans[0]?.traceId,
      attributes: { 'perdure.run.attempt': 2 },
    })
  })

  it('creates no spans while tracing is off, and passes on the received traceparent', async () => {
    const started: string[] = []
    const off: Tracer = {
      ...noTracer,
      start(name) {
        started.push(name)
        return noSpan
      },
    }
    const received: unknown[] = []
    const { engine } = setUp(
      async ({ step, tool, invoke, traceparent }) => {
        await step('one', (one) => void received.push(one.traceparent))
        await tool({ name: 'pay', execute: () => 2 })
        await invoke('child')
        received.push(traceparent)
      },
      { tracer: off },
    )

    const { runId } = outcomeOf(await engine.run('parent', { traceparent: RECEIVED, answer: 'accepted' }))
    await untilIdle(engine.clock)

    expect((await engine.find(runId))?.status).toBe('completed')
    expect([started, received]).toEqual([[], [RECEIVED, RECEIVED]])
  })
})
