import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { never, restarts } from './processes.fixture.ts'
import { runOf, spoken, words } from './stream-call.fixture.ts'

describe('ctx.stream', () => {
  it('writes the text as it comes, in one block, and returns its summary', async () => {
    const { result, events, runId } = await runOf((_, { stream }) => stream('answer', () => words('Hel', 'lo')))

    const block = { messageId: `${runId}.1`, blockId: `${runId}.1.1` }
    expect(result).toEqual({ text: 'Hello', toolCalls: [] })
    expect(events).toEqual([
      ['text.start', block],
      ['text.delta', { ...block, delta: 'Hel' }],
      ['text.delta', { ...block, delta: 'lo' }],
      ['text.end', block],
    ])
  })

  it('calls the model once, and says nothing twice, across a wait', async () => {
    let calls = 0
    const engine = createTestEngine({
      workflows: [
        workflowOf('flow', async (_, { stream, sleep }) => {
          const { text } = await stream('answer', () => words(`call ${++calls}`))
          await sleep('nap', 10)
          return text
        }),
      ],
    })
    await engine.start()
    const { runId = '' } = await engine.execute('flow')
    await untilIdle(engine.clock)
    await engine.advance(10)

    expect((await engine.find(runId))?.result).toBe('"call 1"')
    expect((await spoken(engine, runId)).filter(([type]) => type === 'text.delta')).toHaveLength(1)
  })

  it.each([
    ['retry', 2, 'completed'],
    ['fail', 1, 'failed'],
  ] as const)('follows onCrash %s, and starts its blocks again', async (onCrash, calls, status) => {
    let count = 0
    const code = ({ stream }: RunContext) =>
      stream(
        'answer',
        async function* () {
          yield 'Hel'
          if (++count === 1) await never()
          yield 'lo'
        },
        { onCrash },
      )
    const boot = restarts()
    const flow = workflowOf('flow', (_, context) => code(context))
    const first = await boot([flow])
    const { runId = '' } = await first.execute('flow')
    await untilIdle(first.clock)
    const second = await boot([flow])

    expect([count, (await second.find(runId))?.status]).toEqual([calls, status])
    const starts = (await spoken(second, runId)).filter(([type]) => type === 'text.start')
    expect(starts).toHaveLength(calls)
    expect(new Set(starts.map(([, { blockId }]) => blockId)).size).toBe(1)
    expect((await second.eventsOf(runId)).map(({ type }) => type)).toContain('run.rewound')
  })

  it('withdraws in a repeated try what the failed try said, also in blocks that do not come again', async () => {
    let tries = 0
    const { events, result } = await runOf((_, { stream }) =>
      stream(
        'answer',
        async function* () {
          yield { type: 'text-delta', id: 'a', text: 'wrong' }
          if (++tries > 1) return
          yield { type: 'text-delta', id: 'b', text: 'wrong too' }
          yield { type: 'error', error: new Error('overloaded') }
        },
        { retries: { max: 1, delay: 0 } },
      ),
    )
    expect(result.text).toBe('wrong')
    const shown = new Map<string, string>()
    for (const [type, { blockId, delta }] of events) {
      if (type === 'text.start') shown.set(blockId, '')
      if (type === 'text.delta') shown.set(blockId, `${shown.get(blockId)}${delta}`)
    }
    expect([...shown.values()]).toEqual(['wrong', ''])
  })

  it('stops reading, and closes the source, when a try times out', async () => {
    const closed = gate()
    const engine = createTestEngine({
      agents: [
        agentOf('says', (_, { stream }) =>
          stream(
            'answer',
            async function* ({ signal }) {
              try {
                for (;;) {
                  yield 'x'
                  await new Promise((resolve) => signal.addEventListener('abort', resolve))
                }
              } finally {
                closed.resolve()
              }
            },
            { timeout: 10 },
          ),
        ),
      ],
    })
    const { runId = '' } = await engine.run('says', { answer: 'accepted' })
    await untilIdle(engine.clock)
    await engine.advance(10)

    await closed.promise
    expect((await engine.find(runId))?.status).toBe('failed')
    expect((await spoken(engine, runId)).filter(([type]) => type === 'text.delta')).toHaveLength(1)
  })

  it.each([
    ['no function', ({ stream }: RunContext) => stream('answer', undefined as never)],
    ['a function without a stream', ({ stream }: RunContext) => stream('answer', () => 'text' as never)],
    ['an unknown option', ({ stream }: RunContext) => stream('answer', () => words('a'), { modle: 'x' } as never)],
  ])('fails with %s', async (_, call) => {
    const { record } = await runOf((_input, context) => call(context))
    expect(record).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/validation-failed|step-failed/) },
    })
  })
})
