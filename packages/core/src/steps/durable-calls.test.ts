import { createInMemoryStorage } from '@berth/in-memory'
import { EVERY_ROW } from '@berth/ports'
import { createManualClock, createSequenceIds } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../agents/agent.ts'
import { agentOf, createEngine, gate, outcomeOf, settled, workflowOf } from '../runs/engine.fixture.ts'

type Code = (context: RunContext) => Promise<unknown>

/** Processes, one after the other, on the same storage; each may register other code. */
function processes() {
  const clock = createManualClock()
  const shared = { storage: createInMemoryStorage(), clock, ids: createSequenceIds() }
  return async (code: Code, over = {}) => {
    const engine = createEngine({ ...shared, workflows: [workflowOf('flow', (_, context) => code(context), over)] })
    await engine.recover()
    await engine.start()
    await settled(clock)
    return engine
  }
}

const start = async (engine: Awaited<ReturnType<ReturnType<typeof processes>>>) => {
  const { runId = '' } = await engine.execute('flow')
  await settled(engine.clock)
  return runId
}

const never = () => new Promise<never>(() => undefined)

describe('ctx.step', () => {
  it('stores the result and gives it to a re-execution without calling the code again', async () => {
    const process = processes()
    let calls = 0
    const first = await process(async ({ step }) => {
      await step('count', () => ++calls)
      await never()
    })
    const runId = await start(first)

    const second = await process(async ({ step }) => ({ count: await step('count', () => ++calls) }))

    expect(calls).toBe(1)
    expect(await second.find(runId)).toMatchObject({ status: 'completed', result: '{"count":1}', attempt: 2 })
  })

  it('gives the code what a re-execution would get: the JSON of the result', async () => {
    const process = processes()
    const engine = await process(async ({ step }) => {
      const value = await step('date', () => ({ at: new Date(0), none: undefined }))
      const nothing = await step('nothing', () => undefined)
      return [value, nothing === undefined]
    })

    const runId = await start(engine)

    expect((await engine.find(runId))?.result).toBe('[{"at":"1970-01-01T00:00:00.000Z"},true]')
  })

  it('hands out the same effect id in every execution, and another for every step', async () => {
    const process = processes()
    const seen: string[] = []
    const code: Code = async ({ step }) => {
      await step('a', ({ effectId }) => seen.push(effectId))
      await step('b', async ({ effectId }) => {
        seen.push(effectId)
        if (seen.length < 3) await never()
      })
    }
    const runId = await start(await process(code))
    await process(code)

    expect(seen).toEqual([`${runId}.1`, `${runId}.2`, `${runId}.2`])
  })

  it('tries again after growing pauses and says so', async () => {
    const process = processes()
    let tries = 0
    const engine = await process(({ step }) =>
      step(
        'flaky',
        () => {
          if (++tries < 3) throw new Error(`try ${tries}`)
          return tries
        },
        { retry: { maxAttempts: 3, initialDelayMs: 100 } },
      ),
    )
    const runId = await start(engine)
    expect(tries).toBe(1)
    await engine.pass(100)
    expect(tries).toBe(2)
    await engine.pass(199)
    expect(tries).toBe(2)
    await engine.pass(1)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '3' })
    const types = (await engine.eventsOf(runId)).map(({ type }) => type)
    expect(types.filter((type) => type === 'step.error')).toHaveLength(2)
  })

  it('fails the run with step-failed when its tries are used up, and the same failure is replayed', async () => {
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
    const runId = await start(await process(code))
    calls = 2
    const second = await process(code)

    expect(calls).toBe(2)
    expect(await second.find(runId)).toMatchObject({
      status: 'failed',
      error: { code: 'step-failed', message: expect.stringContaining('broken') },
    })
  })

  it('gives up a try that takes longer than its time', async () => {
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
        { timeoutMs: 500 },
      ),
    )
    const runId = await start(engine)

    await engine.pass(500)

    expect(await engine.find(runId)).toMatchObject({ status: 'failed', error: { code: 'step-failed' } })
    expect(reason).toBe('timeout')
  })

  it.each([
    ['retry', { calls: 2, status: 'completed' }],
    ['fail', { calls: 1, status: 'failed' }],
  ] as const)('follows onCrash %s when the process dies while it executes', async (onCrash, expected) => {
    const process = processes()
    let calls = 0
    const code: Code = ({ step }) => step('work', () => (++calls === 1 ? never() : calls), { onCrash })
    const runId = await start(await process(code))

    const second = await process(code)

    expect(calls).toBe(expected.calls)
    expect((await second.find(runId))?.status).toBe(expected.status)
  })

  it.each([
    [true, { calls: 2, status: 'completed' }],
    [false, { calls: 1, status: 'failed' }],
  ] as const)('asks a human after a crash with onCrash ask, who decides %s', async (granted, expected) => {
    const process = processes()
    let calls = 0
    const code: Code = ({ step }) => step('work', () => (++calls === 1 ? never() : calls), { onCrash: 'ask' })
    const runId = await start(await process(code))

    const second = await process(code)
    expect((await second.find(runId))?.status).toBe('suspended')
    expect(calls).toBe(1)
    const [approval] = (await second.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items
    await second.resolveApproval({ approvalId: approval?.id ?? '', granted, by: 'bob', visibility: EVERY_ROW })
    await settled(second.clock)

    expect(calls).toBe(expected.calls)
    expect((await second.find(runId))?.status).toBe(expected.status)
  })

  it('runs parallel branches and replays them in the order in which they came out', async () => {
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
    const runId = await start(first)
    gates.b.resolve()
    await settled(first.clock)
    gates.a.resolve()
    await settled(first.clock)

    const second = await process(code)

    expect(order).toEqual(['b', 'a', 'b', 'a'])
    expect(await second.find(runId)).toMatchObject({ status: 'running', attempt: 2 })
  })

  it.each([
    ['another name', async ({ step }: RunContext) => step('renamed', () => 1)],
    ['another kind', async ({ sleep }: RunContext) => sleep('one', 5)],
    ['one call less', async () => 'done'],
  ])('fails a run as workflow-divergence when its code makes %s', async (_, changed) => {
    const process = processes()
    const first = await process(async ({ step }) => {
      await step('one', () => 1)
      await never()
    })
    const runId = await start(first)

    const second = await process(changed)

    expect(await second.find(runId)).toMatchObject({ status: 'failed', error: { code: 'workflow-divergence' } })
  })

  it('says nothing twice: what was emitted before a recorded call is not emitted again', async () => {
    const process = processes()
    const code: Code = async ({ step, emit, attempt }) => {
      await emit('note.before', { attempt })
      await step('one', () => 1)
      await emit('note.after', { attempt })
      if (attempt === 1) await never()
    }
    const runId = await start(await process(code))
    const second = await process(code)

    const notes = (await second.eventsOf(runId)).filter(({ type }) => type.startsWith('note.'))
    expect(notes.map(({ type, payload }) => [type, JSON.parse(payload).attempt])).toEqual([
      ['note.before', 1],
      ['note.after', 1],
      ['note.after', 2],
    ])
  })
})

describe('ctx.sleep', () => {
  it('suspends the run, holds no place, and goes on when it is time', async () => {
    const process = processes()
    const code: Code = async ({ sleep }) => {
      await sleep('nap', 60_000)
      return 'rested'
    }
    const engine = await process(code, { concurrency: 'single' })
    const runId = await start(engine)
    expect((await engine.find(runId))?.status).toBe('suspended')

    await engine.pass(59_999)
    expect((await engine.find(runId))?.status).toBe('suspended')
    await engine.pass(1)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '"rested"', attempt: 1 })
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toEqual([
      'run.started',
      'step.start',
      'run.suspended',
      'step.end',
      'checkpoint.written',
      'run.resumed',
      'run.started',
      'run.completed',
    ])
  })

  it('is settled at the next start when it fell due while no process ran', async () => {
    const process = processes()
    const code: Code = async ({ sleep }) => {
      await sleep('nap', 60_000)
      return 'rested'
    }
    const first = await process(code)
    const runId = await start(first)
    await first.drain(0)
    first.clock.advance(3_600_000)

    const second = await process(code)
    await second.pass(0)

    expect((await second.find(runId))?.status).toBe('completed')
  })

  it('lets a race go on while a step still executes', async () => {
    const process = processes()
    const engine = await process(async ({ step, sleep }) =>
      Promise.race([step('long', never), sleep('limit', 1_000).then(() => 'timed out')]),
    )
    const runId = await start(engine)
    expect((await engine.find(runId))?.status).toBe('running')

    await engine.pass(1_000)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '"timed out"' })
  })
})

describe('a wait of a run that has ended', () => {
  it('is closed when it falls due, and found no more', async () => {
    const process = processes()
    const engine = await process(async ({ sleep }) => sleep('nap', 60_000))
    const runId = await start(engine)
    await engine.abortRun({ runId, visibility: EVERY_ROW })

    await engine.pass(60_000)

    expect(await engine.storage.steps.due(engine.clock.now(), 10)).toEqual([])
    expect((await engine.storage.steps.list(runId)).map(({ status }) => status)).toEqual(['failed'])
    expect((await engine.find(runId))?.status).toBe('aborted')
  })

  it('is closed by the event it waited for, and wakes nothing', async () => {
    const process = processes()
    const engine = await process(async ({ waitForEvent }) => waitForEvent('go'))
    const runId = await start(engine)
    await engine.abortRun({ runId, visibility: EVERY_ROW })

    expect((await engine.emitEvent({ name: 'go' })).body).toMatchObject({ wokenRunIds: [] })
    expect(await engine.storage.steps.waitingForEvent('go', 10)).toEqual([])
  })
})

describe('ctx.waitForEvent', () => {
  const code: Code = async ({ waitForEvent }) => waitForEvent('order.paid', { timeoutMs: 10_000 })

  it('goes on with the payload of the event', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)

    const reply = await engine.emitEvent({ name: 'order.paid', payload: { amount: 3 } })
    await settled(engine.clock)

    expect(reply.body).toEqual({ name: 'order.paid', wokenRunIds: [runId], fireIds: [] })
    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '{"amount":3}' })
  })

  it('goes on with null when the event does not come in time, and only then', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)

    await engine.pass(10_000)
    const late = await engine.emitEvent({ name: 'order.paid' })

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: 'null' })
    expect(late.body).toMatchObject({ wokenRunIds: [] })
  })
})

describe('ctx.approval', () => {
  const code: Code = async ({ approval }) =>
    approval('deploy', { title: 'Deploy?', payload: { to: 'live' }, timeoutMs: 5_000 })
  const open = async (engine: Awaited<ReturnType<ReturnType<typeof processes>>>, runId: string) =>
    (await engine.readApprovals.list({ runId, status: 'pending' }, { limit: 9, order: 'asc' }, EVERY_ROW)).items

  it('waits for a decision, names who took it, and lets the first one win', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)
    const [approval] = await open(engine, runId)
    expect(approval).toMatchObject({ name: 'deploy', title: 'Deploy?', payload: { to: 'live' }, workflowId: 'flow' })
    const decide = (granted: boolean) =>
      engine.resolveApproval({
        approvalId: approval?.id ?? '',
        granted,
        reason: 'ok',
        by: 'bob',
        visibility: EVERY_ROW,
      })

    expect((await decide(true)).body).toMatchObject({ status: 'granted', by: 'bob' })
    await settled(engine.clock)

    expect(await engine.find(runId)).toMatchObject({
      status: 'completed',
      result: '{"granted":true,"reason":"ok","by":"bob"}',
    })
    expect((await decide(true)).body).toMatchObject({ status: 'granted' })
    await expect(decide(false)).rejects.toMatchObject({
      code: 'approval-resolved',
      message: expect.stringContaining('bob'),
    })
  })

  it('lets exactly one of many decisions at the same time win', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)
    const [approval] = await open(engine, runId)

    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        engine.resolveApproval({
          approvalId: approval?.id ?? '',
          granted: n % 2 === 0,
          by: `b${n}`,
          visibility: EVERY_ROW,
        }),
      ),
    )
    await settled(engine.clock)

    const winners = new Set(
      all.flatMap((one) => (one.status === 'fulfilled' ? [(one.value.body as { by: string }).by] : [])),
    )
    expect(winners.size).toBe(1)
    expect((await engine.find(runId))?.status).toBe('completed')
  })

  it('expires when nobody decides', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)

    await engine.pass(5_000)

    expect(await engine.find(runId)).toMatchObject({
      status: 'completed',
      result: '{"granted":false,"reason":"expired"}',
    })
    expect(await open(engine, runId)).toEqual([])
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toContain('approval.expired')
  })

  it('closes with its run', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)
    const [approval] = await open(engine, runId)

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await settled(engine.clock)

    expect(await open(engine, runId)).toEqual([])
    expect((await engine.eventsOf(runId)).at(-1)?.type).toBe('run.aborted')
    const inbox = await engine.storage.events.read({ topic: 'approvals/events' }, { after: 0, limit: 9 })
    expect(inbox.map(({ type }) => type)).toEqual(['approval.requested', 'approval.expired'])
    await expect(
      engine.resolveApproval({ approvalId: approval?.id ?? '', granted: true, by: 'bob', visibility: EVERY_ROW }),
    ).rejects.toMatchObject({ code: 'approval-resolved' })
  })

  it('survives a restart, several at once, decided in any order', async () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const process = processes()
      const executed: string[] = []
      const three: Code = async ({ tool }) =>
        Promise.all(['a', 'b', 'c'].map((name) => tool({ name, approval: true, execute: () => executed.push(name) })))
      let engine = await process(three)
      const runId = await start(engine)
      const approvals = await open(engine, runId)
      expect(approvals).toHaveLength(3)
      for (const index of order) {
        engine = await process(three)
        await engine.resolveApproval({
          approvalId: approvals[index]?.id ?? '',
          granted: true,
          by: 'bob',
          visibility: EVERY_ROW,
        })
        await settled(engine.clock)
      }

      expect((await engine.find(runId))?.status).toBe('completed')
      expect([...executed].sort()).toEqual(['a', 'b', 'c'])
    }
  })
})

describe('ctx.suspend', () => {
  it('pauses a plain agent until it is resumed with a payload', async () => {
    const plain = agentOf('plain', async (_, { suspend, resume }) =>
      resume === undefined ? suspend({ state: { step: 1 } }) : { state: resume.state, payload: resume.payload },
    )
    const engine = createEngine({ agents: [plain] })
    const first = outcomeOf(await waitFor(engine, engine.run('plain')))
    expect(first).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'resume' }] })

    const reply = await waitFor(
      engine,
      engine.resumeRun({
        runId: first.runId,
        payload: 'go',
        principal: { subject: 'bob', scopes: [] },
        visibility: EVERY_ROW,
      }),
    )

    expect(outcomeOf(reply)).toMatchObject({ status: 'completed', result: { state: { step: 1 }, payload: 'go' } })
  })

  it('asks for decisions and goes on when all are taken', async () => {
    const plain = agentOf('plain', async (_, { suspend, resume }) =>
      resume === undefined
        ? suspend({ approvals: [{ name: 'one' }, { name: 'two' }] })
        : resume.approvals.map(({ name, granted }) => [name, granted]),
    )
    const engine = createEngine({ agents: [plain] })
    const first = outcomeOf(await waitFor(engine, engine.run('plain')))
    expect(first.approvals).toHaveLength(2)
    const [one, two] = first.approvals ?? []
    const resume = (approvals: { id: string; granted: boolean }[]) =>
      waitFor(
        engine,
        engine.resumeRun({
          runId: first.runId,
          approvals,
          principal: { subject: 'bob', scopes: [] },
          visibility: EVERY_ROW,
        }),
      )

    expect(outcomeOf(await resume([{ id: one?.id ?? '', granted: true }]))).toMatchObject({ status: 'suspended' })
    expect(outcomeOf(await resume([{ id: two?.id ?? '', granted: false }]))).toMatchObject({
      status: 'completed',
      result: [
        ['one', true],
        ['two', false],
      ],
    })
    await expect(resume([{ id: two?.id ?? '', granted: false }])).rejects.toMatchObject({ code: 'run-not-suspended' })
  })
})

describe('a resume with decisions and a payload', () => {
  it('hands the payload to the code that goes on', async () => {
    const plain = agentOf('plain', async (_, { suspend, resume }) =>
      resume === undefined ? suspend({ approvals: [{ name: 'one' }] }) : resume.payload,
    )
    const engine = createEngine({ agents: [plain] })
    const { runId, approvals } = outcomeOf(await waitFor(engine, engine.run('plain')))

    const reply = await waitFor(
      engine,
      engine.resumeRun({
        ...{ runId, payload: { note: 'go' }, visibility: EVERY_ROW },
        approvals: [{ id: approvals?.[0]?.id ?? '', granted: true }],
        principal: { subject: 'bob', scopes: [] },
      }),
    )

    expect(outcomeOf(reply)).toMatchObject({ status: 'completed', result: { note: 'go' } })
  })
})

describe('ctx.agents.run', () => {
  it('leaves the transcript of the session to the parent', async () => {
    const child = agentOf('child', async () => 'inner')
    const parent = agentOf('parent', async (_, { agents }) => agents.run('child'))
    const engine = createEngine({ agents: [child, parent] })
    await waitFor(engine, engine.run('parent', { body: { input: 'hi', sessionId: 'chat' }, answer: 'accepted' }))
    await settled(engine.clock)

    const { items } = await engine.storage.sessions.messages('chat', { limit: 9, order: 'asc' })
    expect(items.map(({ role, content }) => [role, content])).toEqual([
      ['user', '"hi"'],
      ['assistant', '"inner"'],
    ])
  })

  it('runs a child and goes on with its result; the parent holds no place while it waits', async () => {
    const child = agentOf('child', async (input) => ({ got: input }))
    const parent = agentOf('parent', async (_, { agents }) => agents.run('child', 7))
    const engine = createEngine({ agents: [child, parent], concurrency: 1 })

    const reply = await waitFor(engine, engine.run('parent', { answer: 'accepted' }))
    await settled(engine.clock)

    const run = await engine.find(reply.runId ?? '')
    expect(run).toMatchObject({ status: 'completed', result: '{"got":7}' })
    const [record] = (await engine.storage.runs.list({ parentRunId: run?.id }, { limit: 9, order: 'asc' }, EVERY_ROW))
      .items
    expect(record).toMatchObject({ targetId: 'child', depth: 1, owner: 'alice' })
  })

  it('takes its children along when it is aborted', async () => {
    const child = agentOf('child', never)
    const parent = agentOf('parent', async (_, { agents }) => agents.run('child'))
    const engine = createEngine({ agents: [child, parent] })
    const { runId = '' } = await engine.run('parent', { answer: 'accepted' })
    await settled(engine.clock)

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await settled(engine.clock)

    const { items } = await engine.storage.runs.list({ parentRunId: runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ status }) => status)).toEqual(['aborted'])
  })

  it('nests eight deep and no deeper', async () => {
    const nest = agentOf('nest', async (input, { agents }) =>
      Number(input) === 0 ? 'bottom' : agents.run('nest', Number(input) - 1),
    )
    const engine = createEngine({ agents: [nest] })
    const run = async (depth: number) => {
      const { runId = '' } = await engine.run('nest', { body: { input: depth }, answer: 'accepted' })
      for (let turn = 0; turn < 12; turn++) await settled(engine.clock)
      return engine.find(runId)
    }

    expect(await run(8)).toMatchObject({ status: 'completed', result: '"bottom"' })
    expect(await run(9)).toMatchObject({ status: 'failed', error: { code: 'step-failed' } })
  })
})

describe('what cannot be recorded', () => {
  it.each([
    ['a step without a name', ({ step }: RunContext) => step('', () => 1)],
    ['a step whose name is no text', ({ step }: RunContext) => step(42 as never, () => 1)],
    ['a name that is not well-formed', ({ sleep }: RunContext) => sleep('\ud800', 1)],
    ['a sleep of no length', ({ sleep }: RunContext) => sleep('nap', Number.NaN)],
    ['a sleep past the end of time', ({ sleep }: RunContext) => sleep('nap', 1e18)],
    ['a sleep until an invalid date', ({ sleep }: RunContext) => sleep('nap', new Date(Number.NaN))],
    ['a wait with an odd time-out', ({ waitForEvent }: RunContext) => waitForEvent('go', { timeoutMs: Number.NaN })],
    ['an approval with an odd time-out', ({ approval }: RunContext) => approval('go', { timeoutMs: -1 })],
    ['a child that is not registered', ({ agents }: RunContext) => agents.run('nobody')],
    [
      'usage that is no number',
      ({ usage }: RunContext) => usage({ provider: 'p', model: 'm', inputTokens: Number.NaN }),
    ],
    ['usage that is negative', ({ usage }: RunContext) => usage({ provider: 'p', model: 'm', costUsd: -1 })],
  ] as [string, (context: RunContext) => Promise<unknown>][])(
    'refuses %s, and takes no place for it',
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
      const runId = await start(engine)
      await engine.pass(10)

      expect(await engine.find(runId)).toMatchObject({
        status: 'completed',
        result: expect.stringMatching(/validation-failed|agent-not-found/),
      })
      expect((await engine.storage.steps.list(runId)).map(({ name }) => name)).toEqual(['nap'])
    },
  )
})

describe('a budget', () => {
  it('ends the run before a tool call too many, also over restarts', async () => {
    const process = processes()
    let calls = 0
    const code: Code = async ({ tool, sleep }) => {
      for (let n = 0; n < 5; n++) {
        await tool({ name: `t${n}`, execute: () => ++calls })
        await sleep('pause', 1_000)
      }
    }
    const engine = await process(code)
    const { runId = '' } = await engine.execute('flow', { body: { budget: { toolCalls: 2 } } })
    await settled(engine.clock)
    await engine.pass(1_000)
    await engine.pass(1_000)

    expect(calls).toBe(2)
    expect(await engine.find(runId)).toMatchObject({
      status: 'failed',
      finishReason: 'budget-exhausted',
      usage: { toolCalls: 2 },
    })
  })

  it('counts what models use and ends the run that uses too much', async () => {
    const spender = agentOf('spender', async (_, { usage }) => {
      for (;;) await usage({ provider: 'p', model: 'm', inputTokens: 40, outputTokens: 10, costUsd: 0.1 })
    })
    const engine = createEngine({ agents: [spender] })

    const reply = await waitFor(engine, engine.run('spender', { body: { budget: { tokens: 100 } } }))

    expect(outcomeOf(reply)).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
    expect((await engine.find(reply.runId ?? ''))?.usage).toMatchObject({ inputTokens: 80, outputTokens: 20 })
  })

  it('ends a run at its deadline, suspended or not', async () => {
    const process = processes()
    const engine = await process(async ({ sleep }) => sleep('long', 86_400_000))
    const { runId = '' } = await engine.execute('flow', { body: { budget: { wallClockMs: 5_000 } } })
    await settled(engine.clock)

    await engine.pass(5_000)

    expect(await engine.find(runId)).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
  })
})

describe('ctx.tool', () => {
  it('answers a failure as data and emits the life of the call', async () => {
    const agent = agentOf('worker', async (_, { tool }) => [
      await tool({ name: 'good', args: { n: 1 }, execute: (args) => args }),
      await tool({ name: 'bad', execute: () => Promise.reject(new Error('no')) }),
      await tool({
        name: 'typed',
        execute: () => Promise.reject(Object.assign(new Error('limit'), { kind: 'rate_limited' })),
      }),
    ])
    const engine = createEngine({ agents: [agent] })

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

describe('forkThread', () => {
  it('goes on from the settled calls of another thread and never touches it', async () => {
    const process = processes()
    let calls = 0
    const code: Code = async ({ step, waitForEvent }) => [await step('one', () => ++calls), await waitForEvent('go')]
    const engine = await process(code)
    const runId = await start(engine)
    const source = await engine.find(runId)
    const before = JSON.stringify([source, await engine.storage.steps.list(runId), await engine.eventsOf(runId)])

    const fork = await engine.forkThread({ workflowId: 'flow', threadId: source?.threadId ?? '' })
    await settled(engine.clock)
    await engine.resumeWorkflow({ workflowId: 'flow', threadId: fork.threadId ?? '', payload: 'forked' })
    await settled(engine.clock)

    expect(await engine.find(fork.id)).toMatchObject({ status: 'completed', result: '[1,"forked"]' })
    expect(calls).toBe(1)
    expect(
      JSON.stringify([await engine.find(runId), await engine.storage.steps.list(runId), await engine.eventsOf(runId)]),
    ).toBe(before)
  })
})

/** The answer of a request that needs the clock's turns to come. */
async function waitFor<T>(engine: ReturnType<typeof createEngine>, answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined)
  await settled(engine.clock)
  return answer
}
