import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { never, restarts } from './processes.fixture.ts'

type Events = readonly (readonly [type: string, payload: Record<string, unknown>])[]

async function eventsOf(engine: ReturnType<typeof createTestEngine>, runId: string): Promise<Events> {
  const all = await engine.eventsOf(runId)
  return all.flatMap(({ type, payload }) =>
    /^(text|reasoning|part)\./.test(type) ? [[type, JSON.parse(payload)]] : [],
  )
}

async function said(code: (context: RunContext) => Promise<unknown>): Promise<Events> {
  const engine = createTestEngine({ agents: [agentOf('says', (_, context) => code(context))] })
  const { runId = '' } = await engine.run('says', { answer: 'accepted' })
  await untilIdle(engine.clock)
  expect((await engine.find(runId))?.error).toBeUndefined()
  return eventsOf(engine, runId)
}

/** The error with which a call is rejected. */
const refusalOf = (call: Promise<void>) =>
  call.then(
    () => 'taken',
    ({ kind, message }) => `${kind}: ${message}`,
  )

describe('ctx.text', () => {
  it('writes one block until it is ended', async () => {
    const events = await said(async ({ text }) => {
      text('Hel')
      text('lo')
      await text.end()
      await text('again')
    })
    expect(events.map(([type, { messageId, delta }]) => [type, String(messageId).split('.')[1], delta])).toEqual([
      ['text.start', 'text1', undefined],
      ['text.delta', 'text1', 'Hel'],
      ['text.delta', 'text1', 'lo'],
      ['text.end', 'text1', undefined],
      ['text.start', 'text2', undefined],
      ['text.delta', 'text2', 'again'],
    ])
  })

  it('begins a new block after a durable call, after reasoning, and in another phase', async () => {
    const events = await said(async ({ text, reasoning, step }) => {
      await text('before')
      await step('one', () => 1)
      await text('after')
      await reasoning('hm')
      await text('so')
      await text('aside', { phase: 'commentary' })
    })
    expect(events.map(([type, { delta }]) => delta ?? type)).toEqual([
      ...['text.start', 'before', 'text.end', 'text.start', 'after', 'text.end', 'reasoning.start', 'hm'],
      ...['reasoning.end', 'text.start', 'so', 'text.end', 'text.start', 'aside'],
    ])
  })

  it.each([
    ['a number', ({ text }: RunContext) => text(1 as never)],
    ['an unknown option', ({ text }: RunContext) => text('a', { loud: true } as never)],
    ['an unknown phase', ({ text }: RunContext) => text('a', { phase: 'shouting' as never })],
    ['data without a name', ({ data }: RunContext) => data('', 1)],
    ['a file without content', ({ file }: RunContext) => file({ mediaType: 'text/plain' })],
    ['a patch before any state', ({ state }: RunContext) => state.patch([])],
  ])('rejects %s without an event', async (_, call) => {
    let refusal = ''
    const events = await said(async (context) => {
      refusal = await refusalOf(call(context))
    })
    expect(refusal).toMatch(/^validation-failed: /)
    expect(events).toEqual([])
  })
})

describe('ctx.state', () => {
  it('writes the whole state and patches, and rejects a patch that does not apply', async () => {
    let refusal = ''
    const events = await said(async ({ state }) => {
      state({ city: 'Bern' })
      state.patch([{ op: 'replace', path: '/city', value: 'Basel' }])
      refusal = await refusalOf(state.patch([{ op: 'remove', path: '/none' }]))
      await state.patch([{ op: 'test', path: '/city', value: 'Basel' }])
    })
    expect(events.map(([type]) => type)).toEqual(['part.state', 'part.state-delta', 'part.state-delta'])
    expect(refusal).toContain('/none does not exist')
  })
})

describe('a patch of the state that multiplies it', () => {
  const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/b${index}` }) as const)

  it.each([
    ['ctx.state.patch', ({ state }: RunContext) => [state({ a: { x: 1 } }), state.patch(doubling)] as const],
    [
      'ctx.emit after ctx.state',
      ({ state, emit }: RunContext) => [state({ a: { x: 1 } }), emit('part.state-delta', { patch: doubling })] as const,
    ],
    [
      'ctx.emit alone',
      ({ emit }: RunContext) =>
        [emit('part.state', { state: { a: {} } }), emit('part.state-delta', { patch: doubling })] as const,
    ],
    [
      'ctx.emit of a state that was built by patches',
      ({ emit }: RunContext) =>
        [
          emit('part.state-delta', { patch: [{ op: 'add', path: '/a', value: {} }] }),
          emit('part.state-delta', { patch: doubling }),
        ] as const,
    ],
  ])('is rejected by %s without an event', async (_, call) => {
    let refusal = ''
    const events = await said(async (context) => {
      const [first, second] = call(context)
      await first
      refusal = await refusalOf(second)
      await context.emit('part.state-delta', { patch: [{ op: 'test', path: '/a/b0', value: 1 }] })
    })
    expect(refusal).toMatch(/^validation-failed: .*1048576 bytes/)
    expect(events).toHaveLength(2)
  })

  it('is rejected with more operations than allowed, also of an unknown state', async () => {
    const patch = Array.from({ length: 1_001 }, () => ({ op: 'remove', path: '/unknown' }))
    let refusal = ''
    const events = await said(async ({ emit }) => {
      refusal = await refusalOf(emit('part.state-delta', { patch }))
    })
    expect(refusal).toContain('1001 operations')
    expect(events).toEqual([])
  })

  it('is rejected again when the code is executed again after a wait', async () => {
    const refusals: string[] = []
    const boot = restarts()
    const flow = workflowOf('flow', async (_, { state, sleep }) => {
      await state({ a: {} })
      refusals.push(await refusalOf(state.patch(doubling)))
      await sleep('nap', 10)
      refusals.push(await refusalOf(state.patch(doubling)))
    })
    const engine = await boot([flow])
    await engine.execute('flow')
    await untilIdle(engine.clock)
    await engine.advance(10)
    expect(refusals.map((refusal) => refusal.slice(0, 17))).toEqual(Array(3).fill('validation-failed'))
  })
})

describe('ctx.data, ctx.source and ctx.file', () => {
  it('write parts with ids', async () => {
    const events = await said(async ({ data, source, file }) => {
      data('weather', { celsius: 3 }, { id: 'w1' })
      source({ url: 'https://example.com' })
      await file({ mediaType: 'text/plain', data: 'aGk=' })
    })
    expect(events).toEqual([
      ['part.data', { name: 'weather', data: { celsius: 3 }, id: 'w1' }],
      ['part.source', { sourceId: expect.stringMatching(/^run_\w+\.source1$/), url: 'https://example.com' }],
      ['part.file', { fileId: expect.stringMatching(/^run_\w+\.file2$/), mediaType: 'text/plain', data: 'aGk=' }],
    ])
  })
})

describe('a re-execution', () => {
  const speaking = (run: (context: RunContext) => Promise<unknown>) => workflowOf('flow', (_, context) => run(context))
  const everything = async ({ text, reasoning, state, data, source, file }: RunContext, name: string) => {
    reasoning(name)
    state({ name })
    state.patch([{ op: 'replace', path: '/name', value: name.length }])
    data('named', name)
    source({ title: name })
    file({ mediaType: 'text/plain', url: `https://example.com/${name}` })
    await text(name)
  }

  it('says nothing again that was said before a wait', async () => {
    const boot = restarts()
    const flow = speaking(async (context) => {
      await everything(context, 'one')
      await context.sleep('nap', 10)
      await everything(context, 'two')
    })
    const engine = await boot([flow])
    const { runId = '' } = await engine.execute('flow')
    await untilIdle(engine.clock)
    await engine.advance(10)

    const events = await eventsOf(engine, runId)
    expect(events.flatMap(([, { delta }]) => delta ?? [])).toEqual(['one', 'one', 'two', 'two'])
    const starts = events.flatMap(([type, { messageId }]) => (type.endsWith('.start') ? [messageId] : []))
    expect(new Set(starts).size).toBe(4)
    expect(events.filter(([type]) => type === 'part.state-delta')).toHaveLength(2)
  })

  it('gives the blocks of an attempt after a crash the ids of the first attempt', async () => {
    const boot = restarts()
    const flow = speaking(async (context) => {
      await everything(context, 'one')
      if (context.attempt === 1) await never()
    })
    const first = await boot([flow])
    const { runId = '' } = await first.execute('flow')
    await untilIdle(first.clock)
    const second = await boot([flow])

    const all = (await second.eventsOf(runId)).map(({ type, payload }) => `${type} ${payload}`)
    const rewound = all.findIndex((event) => event.startsWith('run.rewound'))
    const spoken = (events: readonly string[]) => events.filter((event) => /^(text|reasoning|part)\./.test(event))
    expect(spoken(all.slice(rewound))).toEqual(spoken(all.slice(0, rewound)))
    expect(spoken(all.slice(rewound)).length).toBeGreaterThan(6)
  })

  it('gives the blocks new ids after the run has suspended itself', async () => {
    const agent = agentOf('asks', async (_, context) => {
      await context.text('a')
      if (context.resume === undefined) return context.suspend()
      return 'done'
    })
    const engine = createTestEngine({ agents: [agent] })
    const { runId = '' } = await engine.run('asks', { answer: 'accepted' })
    await untilIdle(engine.clock)
    await engine.resumeRun({ runId, principal: { subject: 'alice', scopes: ['agents:invoke'] }, visibility: EVERY_ROW })

    const ids = (await eventsOf(engine, runId)).flatMap(([type, { messageId }]) =>
      type === 'text.start' ? [messageId] : [],
    )
    expect(new Set(ids).size).toBe(2)
  })
})
