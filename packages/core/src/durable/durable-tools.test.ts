import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, fromJsonText, type RunRecord, type UnitOfWork } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, agentOf, createTestEngine, outcomeOf, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import type { RunContext } from '../targets/run-context.ts'
import { type Code, flowOf, never, processes, startFlow, waitFor } from './processes.fixture.ts'
import type { StepContext } from './step.ts'

describe('ctx.tool', () => {
  it('stores the call and its usage in one commit', async () => {
    const commits: (readonly string[])[] = []
    const storage = createInMemoryStorage()
    const unitOfWork: UnitOfWork = {
      async commit(writes) {
        const usages = writes.flatMap((write) =>
          write.type === 'run.charge' ? [`usage ${write.usage.toolCalls}`] : [],
        )
        commits.push([...usages, ...writes.flatMap((write) => (write.type === 'step.insert' ? [write.step.name] : []))])
        return storage.unitOfWork.commit(writes)
      },
    }
    const agent = agentOf('worker', async (_, { tool }) => {
      await tool({ name: 'one', execute: () => 1 })
      await tool({ name: 'two', execute: () => 2 })
    })
    const engine = createTestEngine({ agents: [agent], storage: { ...storage, unitOfWork } })

    await waitFor(engine, engine.run('worker'))

    expect(commits.filter((commit) => commit.length > 0)).toEqual([
      ['usage 1', 'one'],
      ['usage 1', 'two'],
    ])
  })

  it('repeats a tool that throws, and returns its last failure as data', async () => {
    let calls = 0
    const execute = () => {
      calls++
      throw new Error(`failure ${calls}`)
    }
    const agent = agentOf('worker', (_, { tool }) => tool({ name: 'flaky', execute, retries: { max: 2, delay: 10 } }))
    const engine = createTestEngine({ agents: [agent] })

    const reply = engine.run('worker')
    for (const ms of [0, 10, 20, 0]) await engine.advance(ms)

    expect(outcomeOf(await reply)).toMatchObject({
      status: 'completed',
      result: { ok: false, error: { kind: 'execution_failed', message: 'failure 3' } },
    })
    expect(calls).toBe(3)
  })

  it('does not repeat a tool that throws a NonRetryableError', async () => {
    let calls = 0
    const execute = () => {
      calls++
      throw new NonRetryableError('no such account')
    }
    const agent = agentOf('worker', (_, { tool }) => tool({ name: 'final', execute, retries: 2 }))
    const engine = createTestEngine({ agents: [agent] })

    expect(outcomeOf(await waitFor(engine, engine.run('worker')))).toMatchObject({ result: { ok: false } })
    expect(calls).toBe(1)
  })

  it('does not count a call with an invalid name', async () => {
    const agent = agentOf('worker', async (_, { tool }) => {
      await tool({ name: '', execute: () => 1 } as never).catch(() => undefined)
      await tool({ name: 'one', execute: () => 1 })
    })
    const engine = createTestEngine({ agents: [agent] })

    const { runId = '' } = await waitFor(engine, engine.run('worker', { body: { budget: { toolCalls: 1 } } }))

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', usage: { toolCalls: 1 } })
  })

  it('returns a failure as data, and emits an event at the start and at the end of each call', async () => {
    const agent = agentOf('worker', async (_, { tool }) => [
      await tool({ name: 'good', args: { n: 1 }, execute: (args) => args }),
      await tool({ name: 'bad', execute: () => Promise.reject(new Error('no')) }),
      await tool({
        name: 'typed',
        execute: () => Promise.reject(Object.assign(new Error('limit'), { kind: 'rate_limited' })),
      }),
    ])
    const engine = createTestEngine({ agents: [agent] })

    const reply = await waitFor(engine, engine.run('worker'))

    expect(outcomeOf(reply).result).toEqual([
      { ok: true, value: { n: 1 } },
      { ok: false, error: { kind: 'execution_failed', message: 'no' } },
      { ok: false, error: { kind: 'rate_limited', message: 'limit' } },
    ])
    const types = (await engine.eventsOf(reply.runId ?? ''))
      .map(({ type }) => type)
      .filter((type) => type.startsWith('tool.'))
    expect(types).toEqual([
      'tool.execute.start',
      'tool.execute.end',
      'tool.execute.start',
      'tool.execute.error',
      'tool.execute.start',
      'tool.execute.error',
    ])
  })
})

describe('a tool that was executing when the process died', () => {
  const crashing = (onCrash: 'retry' | 'fail' | 'ask' | undefined) => {
    const effects: string[] = []
    const execute = (_: unknown, { idempotencyKey }: StepContext) =>
      effects.push(idempotencyKey) === 1 ? never() : 'done'
    const code: Code = async ({ tool, sleep }) => {
      const outcome = await tool({
        name: 'pay',
        args: { amount: 40 },
        execute,
        ...(onCrash === undefined ? {} : { onCrash }),
      })
      await sleep('nap', 10)
      return outcome
    }
    return { effects, code }
  }
  const failed = (kind: string) => ({ ok: false, error: { kind, message: expect.stringContaining('pay') } })
  const resultOf = (run: RunRecord | undefined) => JSON.parse(run?.result ?? 'null')

  it.each([
    [undefined, 2, { ok: true, value: 'done' }],
    ['retry', 2, { ok: true, value: 'done' }],
    ['fail', 1, failed('execution_failed')],
  ] as const)(
    'follows onCrash %s, keeps its idempotencyKey, and has its result stored',
    async (onCrash, executions, expected) => {
      const process = processes()
      const { effects, code } = crashing(onCrash)
      const runId = await startFlow(await process(code))

      const second = await process(code)
      await second.advance(10)

      expect(resultOf(await second.find(runId))).toEqual(expected)
      expect(effects).toHaveLength(executions)
      expect(new Set(effects).size).toBe(1)
    },
  )

  it.each([
    [true, 2, { ok: true, value: 'done' }],
    [false, 1, failed('execution_failed')],
  ] as const)(
    'asks for an approval with onCrash ask, and follows the decision (approved: %s)',
    async (approved, executions, expected) => {
      const process = processes()
      const { effects, code } = crashing('ask')
      const runId = await startFlow(await process(code))

      const second = await process(code)
      const [approval] = (await second.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items
      await second.resolveApproval({ approvalId: approval?.id ?? '', approved, by: 'bob', visibility: EVERY_ROW })
      await untilIdle(second.clock)
      await second.advance(10)

      expect(resultOf(await second.find(runId))).toEqual(expected)
      expect(effects).toHaveLength(executions)
      const types = (await second.eventsOf(runId)).map(({ type }) => type)
      expect(approval?.payload).toEqual({ toolName: 'pay', args: { amount: 40 } })
      expect([approval?.toolCallId, types.includes('tool.approval.requested')]).toEqual([effects[0], true])
    },
  )

  it.each(['fail', 'ask'] as const)(
    'has a failed end in the log when it must not run again (onCrash %s)',
    async (onCrash) => {
      const process = processes()
      const { effects, code } = crashing(onCrash)
      const runId = await startFlow(await process(code))

      const second = await process(code)
      const [approval] = (await second.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items
      const decision = { approved: false, by: 'bob', visibility: EVERY_ROW } as const
      if (approval !== undefined) await second.resolveApproval({ approvalId: approval.id, ...decision })
      await untilIdle(second.clock)

      const told = (await second.eventsOf(runId)).flatMap(({ type, payload }) =>
        type === 'tool.execute.error' || type === 'step.error' ? [{ type, ...(fromJsonText(payload) as object) }] : [],
      )
      const [key] = effects
      const error = {
        kind: 'execution_failed',
        message: expect.stringContaining('was executing when the server stopped'),
      }
      expect(told).toMatchObject([
        { type: 'tool.execute.error', toolCallId: key, toolName: 'pay', idempotencyKey: key, error },
        { type: 'step.error', step: 'pay', error: { code: 'step-failed' }, willRetry: false },
      ])
    },
  )
})

describe('the id of a tool call that requires an approval', () => {
  const execute = (args: unknown) => args
  const deliver = { name: 'deliver', args: { what: 'cake' }, approval: true, execute }
  const toldOf = async (engine: ReturnType<typeof createTestEngine>, runId: string) =>
    (await engine.eventsOf(runId)).flatMap(({ type, payload }) => {
      const { toolCallId, toolName, idempotencyKey } = fromJsonText(payload) as Record<string, string>
      return toolName === undefined
        ? []
        : [{ type, toolName, call: toolCallId?.slice(runId.length), effect: idempotencyKey?.slice(runId.length) }]
    })
  const idsOf = (told: Awaited<ReturnType<typeof toldOf>>, name: string) => [
    ...new Set(told.flatMap(({ toolName, call }) => (toolName === name ? [call] : []))),
  ]
  const approveAll = async (engine: ReturnType<typeof createTestEngine>, runId: string) => {
    const { items } = await engine.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    for (const { id: approvalId } of items) {
      await engine.resolveApproval({ approvalId, approved: true, by: 'bob', visibility: EVERY_ROW })
    }
    await untilIdle(engine.clock)
  }

  it('belongs to no parallel call, and is the same when the tool executes', async () => {
    const boot = processes()
    const code: Code = ({ tool, clientTool }) =>
      Promise.all([
        tool(deliver),
        clientTool({ name: 'pickDay', args: { days: ['Monday'] } }),
        tool({ ...deliver, name: 'wrap', args: { paper: 'blue' } }),
      ])
    const first = await boot(code)
    const runId = await startFlow(first)
    const [pickDay] = idsOf(await toldOf(first, runId), 'pickDay')
    const second = await boot(code)
    const toolResults = [{ toolCallId: `${runId}${pickDay}`, result: 'Monday' }]
    await waitFor(second, second.resumeRun({ runId, toolResults, principal: ALICE, visibility: EVERY_ROW }))
    await approveAll(await boot(code), runId)

    const told = await toldOf(second, runId)
    const ids = ['deliver', 'pickDay', 'wrap'].map((name) => idsOf(told, name))
    expect(ids).toEqual([['.1'], ['.2'], ['.3']])
    expect((await second.find(runId))?.status).toBe('completed')
    expect(told.filter(({ type }) => type === 'tool.execute.start')).toEqual([
      { type: 'tool.execute.start', toolName: 'deliver', call: '.1', effect: '.4' },
      { type: 'tool.execute.start', toolName: 'wrap', call: '.3', effect: '.5' },
    ])
  })

  it('stays as it is when the version of the server that asked gave it the number of the next call', async () => {
    const storage = createInMemoryStorage()
    const older: UnitOfWork = {
      commit: (writes) =>
        storage.unitOfWork.commit(
          writes.map((write) => {
            if (write.type === 'step.insert') return { ...write, step: { ...write.step, eventName: undefined } }
            if (write.type !== 'approval.insert') return write
            return { ...write, approval: { ...write.approval, toolCallId: `${write.approval.runId}.2` } }
          }),
        ),
    }
    const code: Code = ({ tool }) => tool(deliver)
    const engine = createTestEngine({ workflows: [flowOf(code)], storage: { ...storage, unitOfWork: older } })
    await engine.start()
    const runId = await startFlow(engine)
    await approveAll(engine, runId)

    const executed = (await toldOf(engine, runId)).filter(({ type }) => type.startsWith('tool.execute'))
    expect(executed.map(({ call }) => call)).toEqual(['.2', '.2'])
    expect((await engine.find(runId))?.status).toBe('completed')
  })
})

describe('a durable call', () => {
  it.each([
    ['a step without a name', ({ step }: RunContext) => step('', () => 1)],
    ['a step whose name is not a string', ({ step }: RunContext) => step(42 as never, () => 1)],
    ['a name that is not well-formed Unicode', ({ sleep }: RunContext) => sleep('\ud800', 1)],
    ['a sleep for NaN milliseconds', ({ sleep }: RunContext) => sleep('nap', Number.NaN)],
    ['a sleep beyond the largest date', ({ sleep }: RunContext) => sleep('nap', 1e18)],
    ['a sleep until an invalid date', ({ sleep }: RunContext) => sleep('nap', new Date(Number.NaN))],
    ['a wait with an invalid timeout', ({ waitForEvent }: RunContext) => waitForEvent('go', { timeout: Number.NaN })],
    ['an approval with an invalid timeout', ({ approval }: RunContext) => approval('go', { timeout: -1 })],
    ['a child that is not registered', ({ invoke }: RunContext) => invoke('nobody')],
    [
      'usage that is not a number',
      ({ usage }: RunContext) => usage({ provider: 'p', model: 'm', inputTokens: Number.NaN }),
    ],
    ['negative usage', ({ usage }: RunContext) => usage({ provider: 'p', model: 'm', costUsd: -1 })],
  ] as [string, (context: RunContext) => Promise<unknown>][])(
    'rejects %s and stores no step for it',
    async (_, call) => {
      const process = processes()
      const code: Code = async (context) => {
        const refused = await call(context).then(
          () => 'taken',
          (error: { code?: string; kind?: string }) => error.code ?? error.kind,
        )
        await context.sleep('nap', 10)
        return refused
      }
      const engine = await process(code)
      const runId = await startFlow(engine)
      await engine.advance(10)

      expect(await engine.find(runId)).toMatchObject({
        status: 'completed',
        result: expect.stringMatching(/validation-failed|agent-not-found/),
      })
      expect((await engine.storage.steps.list(runId)).map(({ name }) => name)).toEqual(['nap'])
    },
  )
})

describe('forkThread', () => {
  it('continues from the completed calls of another thread without changing it', async () => {
    const process = processes()
    let calls = 0
    const code: Code = async ({ step, waitForEvent }) => [await step('one', () => ++calls), await waitForEvent('go')]
    const engine = await process(code)
    const runId = await startFlow(engine)
    const source = await engine.find(runId)
    const before = JSON.stringify([source, await engine.storage.steps.list(runId), await engine.eventsOf(runId)])

    const fork = await engine.forkThread({ workflowId: 'flow', threadId: source?.threadId ?? '' })
    await untilIdle(engine.clock)
    await engine.resumeWorkflow({
      workflowId: 'flow',
      threadId: fork.threadId ?? '',
      payload: 'forked',
      visibility: EVERY_ROW,
    })
    await untilIdle(engine.clock)

    expect(await engine.find(fork.id)).toMatchObject({ status: 'completed', result: '[1,"forked"]' })
    expect(calls).toBe(1)
    expect(
      JSON.stringify([await engine.find(runId), await engine.storage.steps.list(runId), await engine.eventsOf(runId)]),
    ).toBe(before)
  })

  it('repeats the call of a child that had used up the budget of the source run', async () => {
    let toolCalls = 2
    const child = agentOf('child', async (_, { tool }) => {
      for (let n = 0; n < toolCalls; n++) await tool({ name: 'look-up', execute: () => n })
      return 'done'
    })
    const flow = workflowOf('flow', (_, { invoke }) => invoke('child'), { budget: { toolCalls: 1 } })
    const engine = createTestEngine({ agents: [child], workflows: [flow] })
    await engine.start()
    const source = await engine.find(await startFlow(engine))
    expect(source).toMatchObject({ finishReason: 'budget-exhausted' })

    toolCalls = 1
    const fork = await engine.forkThread({ workflowId: 'flow', threadId: source?.threadId ?? '' })
    await untilIdle(engine.clock)

    expect(await engine.find(fork.id)).toMatchObject({ status: 'completed', result: '"done"' })
  })
})
