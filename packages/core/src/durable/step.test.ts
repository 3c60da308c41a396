import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { gate, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { type Code, never, processes, startFlow } from './processes.fixture.ts'

describe('ctx.step', () => {
  it('stores the result and returns it to a re-execution without calling the code again', async () => {
    const process = processes()
    let calls = 0
    const first = await process(async ({ step }) => {
      await step('count', () => ++calls)
      await never()
    })
    const runId = await startFlow(first)

    const second = await process(async ({ step }) => ({ count: await step('count', () => ++calls) }))

    expect(calls).toBe(1)
    expect(await second.find(runId)).toMatchObject({ status: 'completed', result: '{"count":1}', attempt: 2 })
  })

  it('returns the JSON of the result, as a re-execution would', async () => {
    const process = processes()
    const engine = await process(async ({ step }) => {
      const value = await step('date', () => ({ at: new Date(0), none: undefined }))
      const nothing = await step('nothing', () => undefined)
      return [value, nothing === undefined]
    })

    const runId = await startFlow(engine)

    expect((await engine.find(runId))?.result).toBe('[{"at":"1970-01-01T00:00:00.000Z"},true]')
  })

  it('accepts any thenable as the work of a step or a tool', async () => {
    const process = processes()
    // biome-ignore lint/suspicious/noThenProperty: libraries return thenables that are not promises
    const later: PromiseLike<string> = { then: (onFulfilled) => Promise.resolve('made').then(onFulfilled) }
    const engine = await process(async ({ step, tool }) => [
      await step('text', () => later, { timeout: 1_000 }),
      await tool({ name: 'text', execute: () => later }),
    ])

    const runId = await startFlow(engine)

    expect((await engine.find(runId))?.result).toBe('["made",{"ok":true,"value":"made"}]')
  })

  it('passes a step the same idempotency key in every execution, and each step a different one', async () => {
    const process = processes()
    const seen: string[] = []
    const code: Code = async ({ step }) => {
      await step('a', ({ idempotencyKey }) => seen.push(idempotencyKey))
      await step('b', async ({ idempotencyKey }) => {
        seen.push(idempotencyKey)
        if (seen.length < 3) await never()
      })
    }
    const runId = await startFlow(await process(code))
    await process(code)

    expect(seen).toEqual([`${runId}.1`, `${runId}.2`, `${runId}.2`])
  })

  it('retries with growing delays and emits step.error for each failure', async () => {
    const process = processes()
    let tries = 0
    const engine = await process(({ step }) =>
      step(
        'flaky',
        () => {
          if (++tries < 3) throw new Error(`try ${tries}`)
          return tries
        },
        { retries: { max: 2, delay: '100ms', jitter: 'none' } },
      ),
    )
    const runId = await startFlow(engine)
    expect(tries).toBe(1)
    await engine.advance(100)
    expect(tries).toBe(2)
    await engine.advance(199)
    expect(tries).toBe(2)
    await engine.advance(1)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '3' })
    const types = (await engine.eventsOf(runId)).map(({ type }) => type)
    expect(types.filter((type) => type === 'step.error')).toHaveLength(2)
  })

  it('fails the run with step-failed after its last attempt, and replays the same failure', async () => {
    const process = processes()
    let calls = 0
    const code: Code = async ({ step }) => {
      try {
        await step('bad', () => {
          calls++
          throw new Error('broken')
        })
      } catch (error) {
        if (calls === 1) await never()
        throw error
      }
    }
    const runId = await startFlow(await process(code))
    calls = 2
    const second = await process(code)

    expect(calls).toBe(2)
    expect(await second.find(runId)).toMatchObject({
      status: 'failed',
      error: { code: 'step-failed', message: expect.stringContaining('broken') },
    })
  })

  it('fails an attempt that exceeds its timeout', async () => {
    const process = processes()
    let reason: unknown
    const engine = await process(({ step }) =>
      step(
        'slow',
        ({ signal }) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
          })
          return never()
        },
        { timeout: 500 },
      ),
    )
    const runId = await startFlow(engine)

    await engine.advance(500)

    expect(await engine.find(runId)).toMatchObject({ status: 'failed', error: { code: 'step-failed' } })
    expect(reason).toBe('timeout')
  })

  it.each([
    ['retry', { calls: 2, status: 'completed' }],
    ['fail', { calls: 1, status: 'failed' }],
  ] as const)('applies onCrash %s if the process dies while the step executes', async (onCrash, expected) => {
    const process = processes()
    let calls = 0
    const code: Code = ({ step }) => step('work', () => (++calls === 1 ? never() : calls), { onCrash })
    const runId = await startFlow(await process(code))

    const second = await process(code)

    expect(calls).toBe(expected.calls)
    expect((await second.find(runId))?.status).toBe(expected.status)
  })

  it.each([
    [true, { calls: 2, status: 'completed' }],
    [false, { calls: 1, status: 'failed' }],
  ] as const)(
    'asks for an approval after a crash with onCrash ask, and follows the decision (approved: %s)',
    async (approved, expected) => {
      const process = processes()
      let calls = 0
      const code: Code = ({ step }) => step('work', () => (++calls === 1 ? never() : calls), { onCrash: 'ask' })
      const runId = await startFlow(await process(code))

      const second = await process(code)
      expect((await second.find(runId))?.status).toBe('suspended')
      expect(calls).toBe(1)
      const [approval] = (await second.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items
      expect(approval?.toolCallId).toBeUndefined()
      await second.resolveApproval({ approvalId: approval?.id ?? '', approved, by: 'bob', visibility: EVERY_ROW })
      await untilIdle(second.clock)

      expect(calls).toBe(expected.calls)
      expect((await second.find(runId))?.status).toBe(expected.status)
    },
  )

  it('ends a step that was approved while other calls of its run worked and waited', async () => {
    const process = processes()
    let calls = 0
    const other = gate()
    const code: Code = async ({ step, waitForEvent }) =>
      (
        await Promise.all([
          step('work', () => (++calls === 1 ? never() : calls), { onCrash: 'ask' }),
          step('other', () => other.promise),
          waitForEvent('go'),
        ])
      ).slice(0, 2)
    const runId = await startFlow(await process(code))

    const second = await process(code)
    const [approval] = (await second.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items
    await second.resolveApproval({ approvalId: approval?.id ?? '', approved: true, by: 'bob', visibility: EVERY_ROW })
    await untilIdle(second.clock)
    other.resolve()
    await untilIdle(second.clock)

    expect(calls).toBe(2)
    expect((await second.find(runId))?.status).toBe('suspended')
    const steps = await second.storage.steps.list(runId)
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ['work', 'completed'],
      ['other', 'completed'],
      ['go', 'waiting'],
    ])
  })

  it('fails a step that was interrupted more often than its recoveries allow', async () => {
    const process = processes()
    let executions = 0
    const work = async () => {
      executions++
      await never()
    }
    const code: Code = ({ step }) => step('fragile', work, { recoveries: 1 })
    const runId = await startFlow(await process(code))
    await process(code)
    const third = await process(code)

    expect(executions).toBe(2)
    expect(await third.find(runId)).toMatchObject({ status: 'failed', error: { code: 'step-failed' } })
  })

  it('replays parallel branches in the order in which their steps completed', async () => {
    const process = processes()
    const gates = { a: gate(), b: gate() }
    const order: string[] = []
    const code: Code = async ({ step }) => {
      const branch = async (name: 'a' | 'b') => {
        await step(`${name}1`, () => gates[name].promise)
        order.push(name)
        await step(`${name}2`, () => name)
      }
      await Promise.all([branch('a'), branch('b')])
      await step('last', never)
    }
    const first = await process(code)
    const runId = await startFlow(first)
    gates.b.resolve()
    await untilIdle(first.clock)
    gates.a.resolve()
    await untilIdle(first.clock)

    const second = await process(code)

    expect(order).toEqual(['b', 'a', 'b', 'a'])
    expect(await second.find(runId)).toMatchObject({ status: 'running', attempt: 2 })
  })

  it.each([
    ['a call with another name', async ({ step }: RunContext) => step('renamed', () => 1)],
    ['a call of another kind', async ({ sleep }: RunContext) => sleep('one', 5)],
    ['one call fewer', async () => 'done'],
  ])('fails the run with onDivergence fail when its code makes %s', async (_, changed) => {
    const process = processes({ onDivergence: 'fail' })
    const first = await process(async ({ step }) => {
      await step('one', () => 1)
      await never()
    })
    const runId = await startFlow(first)

    const second = await process(changed)

    expect(await second.find(runId)).toMatchObject({ status: 'failed', error: { code: 'workflow-divergence' } })
  })

  it('does not repeat an event that was emitted before a recorded call', async () => {
    const process = processes()
    const code: Code = async ({ step, emit, attempt }) => {
      await emit('note.before', { attempt })
      await step('one', () => 1)
      await emit('note.after', { attempt })
      if (attempt === 1) await never()
    }
    const runId = await startFlow(await process(code))
    const second = await process(code)

    const notes = (await second.eventsOf(runId)).filter(({ type }) => type.startsWith('note.'))
    expect(notes.map(({ type, payload }) => [type, JSON.parse(payload).attempt])).toEqual([
      ['note.before', 1],
      ['note.after', 1],
      ['note.after', 2],
    ])
  })
})
