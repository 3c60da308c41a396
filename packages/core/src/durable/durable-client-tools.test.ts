import { EVERY_ROW, fromJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, agentOf, createTestEngine, untilIdle } from '../engine/test-engine.fixture.ts'
import { type Code, processes, startFlow, waitFor } from './processes.fixture.ts'

type Engine = ReturnType<typeof createTestEngine>
type Sent = NonNullable<Parameters<Engine['resumeRun']>[0]['toolResults']>[number]

const request = (runId: string, ...toolResults: Sent[]) =>
  ({ runId, toolResults, principal: ALICE, visibility: EVERY_ROW }) as const

const send = async (engine: Engine, runId: string, ...sent: Sent[]) => {
  const { json } = await waitFor(engine, engine.resumeRun(request(runId, ...sent)))
  return JSON.parse(json ?? 'null')
}

const toldOf = async (engine: Engine, runId: string) =>
  (await engine.eventsOf(runId))
    .filter(({ type }) => type.startsWith('tool.'))
    .map(({ type, payload }) => ({ type, ...(fromJsonText(payload) as object) }))

const pick: Code = ({ clientTool }) => clientTool({ name: 'pickColor', args: { of: ['red'] }, toolCallId: 'call_1' })
const RED = { toolCallId: 'call_1', result: 'red' }

describe('ctx.clientTool', () => {
  it('suspends the run until the client sends the result', async () => {
    const engine = await processes()(pick)
    const runId = await startFlow(engine)

    const suspended = (await engine.eventsOf(runId)).find(({ type }) => type === 'run.suspended')
    expect(fromJsonText(suspended?.payload as never)).toMatchObject({
      waitingFor: [{ kind: 'client-tool', name: 'pickColor', toolCallId: 'call_1' }],
    })
    expect(await send(engine, runId, RED)).toMatchObject({ status: 'completed', result: { ok: true, value: 'red' } })
    expect(await toldOf(engine, runId)).toEqual([
      {
        ...{ type: 'tool.call.end', toolCallId: 'call_1', toolName: 'pickColor', args: { of: ['red'] } },
        executor: 'client',
      },
      { type: 'tool.result', toolCallId: 'call_1', result: 'red' },
    ])
  })

  it('returns the failure of the tool, and the end of its time, as data', async () => {
    const engine = await processes()(({ clientTool }) => clientTool({ name: 'ask', timeout: 5_000 }))
    const [failing, late] = [await startFlow(engine), await startFlow(engine)]

    expect(await send(engine, failing, { toolCallId: `${failing}.1`, error: 'closed' })).toMatchObject({
      result: { ok: false, error: { kind: 'execution_failed', message: 'closed' } },
    })
    await engine.advance(5_000)
    await untilIdle(engine.clock)
    const error = { kind: 'timeout', message: 'the client sent no result in time' }
    expect(fromJsonText((await engine.find(late))?.result as never)).toEqual({ ok: false, error })
    expect((await toldOf(engine, late)).at(-1)).toEqual({ type: 'tool.result', toolCallId: `${late}.1`, error })
    await expect(send(engine, late, { toolCallId: `${late}.1`, result: 1 })).rejects.toMatchObject({
      code: 'tool-call-ended',
    })
  })

  it('takes a result once, and answers the same result again with the state of the run', async () => {
    const engine = await processes()(pick)
    const runId = await startFlow(engine)

    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => send(engine, runId, RED)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill('fulfilled'))
    expect(await send(engine, runId, RED)).toMatchObject({ status: 'completed' })
    const told = await toldOf(engine, runId)
    expect(told.filter(({ type }) => type === 'tool.result')).toHaveLength(1)
    await expect(send(engine, runId, { ...RED, result: 'blue' })).rejects.toMatchObject({ code: 'tool-call-ended' })
  })

  it('takes one of several different results', async () => {
    const engine = await processes()(pick)
    const runId = await startFlow(engine)

    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => send(engine, runId, { ...RED, result: n })),
    )
    const taken = answers.filter(({ status }) => status === 'fulfilled')
    expect(taken).toHaveLength(1)
    expect(answers.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))).toEqual(
      Array(9).fill('tool-call-ended'),
    )
  })

  it('refuses the result of a call that the run has not made, and takes none of the others', async () => {
    const engine = await processes()(pick)
    const runId = await startFlow(engine)

    await expect(send(engine, runId, RED, { toolCallId: 'call_2' })).rejects.toMatchObject({
      code: 'tool-call-not-found',
    })
    await expect(send(engine, runId, RED, RED)).rejects.toMatchObject({ code: 'validation-failed' })
    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })
  })

  it('refuses a result that is too long', async () => {
    const engine = await processes({ maxResultBytes: 200 })(pick)
    const runId = await startFlow(engine)

    await expect(send(engine, runId, { ...RED, result: 'x'.repeat(200) })).rejects.toMatchObject({
      code: 'validation-failed',
    })
    expect(await send(engine, runId, RED)).toMatchObject({ status: 'completed' })
  })

  it('keeps a call and its result over restarts, and asks for it once', async () => {
    const boot = processes()
    const runId = await startFlow(await boot(pick))
    const second = await boot(pick)
    expect(await second.find(runId)).toMatchObject({ status: 'suspended' })

    await second.resumeRun({ ...request(runId, RED), answer: 'accepted' })
    const third = await boot(pick)

    expect(await third.find(runId)).toMatchObject({ status: 'completed', result: '{"ok":true,"value":"red"}' })
    expect((await toldOf(third, runId)).map(({ type }) => type)).toEqual(['tool.call.end', 'tool.result'])
  })

  it('keeps the call of a run that is interrupted while other code executes', async () => {
    const boot = processes()
    let isStuck = true
    const code: Code = async ({ clientTool, step }) => {
      const [, picked] = await Promise.all([
        step('work', () => (isStuck ? new Promise(() => undefined) : 1)),
        clientTool({ name: 'pickColor', toolCallId: 'call_1' }),
      ])
      return picked
    }
    const first = await boot(code, { onCrash: 'retry' })
    const runId = await startFlow(first)
    isStuck = false
    const second = await boot(code, { onCrash: 'retry' })

    expect(await second.find(runId)).toMatchObject({ status: 'suspended', attempt: 2 })
    const types = (await second.eventsOf(runId)).map(({ type }) => type)
    expect(types.filter((type) => type === 'tool.call.end')).toHaveLength(1)
    // The event would withdraw the call.
    expect(types).not.toContain('run.rewound')
    expect(await send(second, runId, RED)).toMatchObject({ result: { ok: true, value: 'red' } })
  })

  it('takes a result while other code of the run executes', async () => {
    let release = () => {}
    const engine = await processes()(async ({ clientTool, step }) =>
      Promise.all([
        clientTool({ name: 'pickColor', toolCallId: 'call_1' }),
        step('work', () => new Promise<void>((resolve) => (release = resolve))),
      ]),
    )
    const runId = await startFlow(engine)
    expect(await engine.find(runId)).toMatchObject({ status: 'running' })
    const answer = engine.resumeRun(request(runId, RED))
    await untilIdle(engine.clock)
    release()

    expect(JSON.parse((await waitFor(engine, answer)).json ?? '')).toMatchObject({
      status: 'completed',
      result: [{ ok: true, value: 'red' }, null],
    })
  })

  it('ends several calls, and an approval, in one request', async () => {
    const engine = await processes()(({ clientTool, approval }) =>
      Promise.all([
        clientTool({ name: 'a', toolCallId: 'a' }),
        clientTool({ name: 'b', toolCallId: 'b' }),
        approval('c'),
      ]),
    )
    const runId = await startFlow(engine)
    const page = { limit: 1, order: 'asc' } as const
    const [asked] = (await engine.readApprovals.list({ runId }, page, EVERY_ROW)).items
    const principal = { ...ALICE, scopes: ['workflows:execute:*', 'approvals:resolve:*'] }
    const approvals = [{ id: asked?.id ?? '', approved: true }]
    const both = [{ toolCallId: 'a', result: 1 }, { toolCallId: 'b' }]
    const { json } = await waitFor(engine, engine.resumeRun({ ...request(runId, ...both), approvals, principal }))

    expect(JSON.parse(json ?? '')).toMatchObject({
      status: 'completed',
      result: [{ ok: true, value: 1 }, { ok: true, value: null }, { approved: true }],
    })
  })

  it('refuses a result once the run has ended without it', async () => {
    const engine = await processes()(pick)
    const runId = await startFlow(engine)
    await engine.abortRun({ runId, principal: ALICE, visibility: EVERY_ROW })

    await expect(send(engine, runId, RED)).rejects.toMatchObject({ code: 'run-not-active' })
  })

  it('counts the call against the budget of the run', async () => {
    const agent = agentOf('picker', async (_, { clientTool }) => {
      await clientTool({ name: 'a' })
      await clientTool({ name: 'b' })
    })
    const engine = createTestEngine({ agents: [agent] })
    await engine.start()
    const { runId = '' } = await waitFor(engine, engine.run('picker', { body: { budget: { toolCalls: 1 } } }))
    await send(engine, runId, { toolCallId: `${runId}.1` })

    expect(await engine.find(runId)).toMatchObject({ finishReason: 'budget-exhausted', usage: { toolCalls: 1 } })
  })

  it('refuses malformed calls without a record', async () => {
    const engine = await processes()(async ({ clientTool }) => {
      const bad = [{ name: '' }, { name: 'a', toolCallId: ' ' }, { name: 'a', timeout: 0 }, { name: 'a', title: 1 }]
      const outcomes = await Promise.allSettled(bad.map((call) => clientTool(call as never)))
      return outcomes.map((one) => (one.status === 'rejected' ? one.reason.code : 'accepted'))
    })
    const runId = await startFlow(engine)

    expect(await engine.find(runId)).toMatchObject({ result: JSON.stringify(Array(4).fill('validation-failed')) })
  })
})
