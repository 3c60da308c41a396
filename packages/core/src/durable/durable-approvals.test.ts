import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { type Code, processes, startFlow, waitFor } from './processes.fixture.ts'

describe('ctx.approval', () => {
  const code: Code = async ({ approval }) =>
    approval('deploy', { title: 'Deploy?', payload: { to: 'live' }, timeout: 5_000 })
  const open = async (engine: Awaited<ReturnType<ReturnType<typeof processes>>>, runId: string) =>
    (await engine.readApprovals.list({ runId, status: 'pending' }, { limit: 9, order: 'asc' }, EVERY_ROW)).items

  it('returns the first decision and who made it, and rejects a different later decision', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await startFlow(engine)
    const [approval] = await open(engine, runId)
    expect(approval).toMatchObject({ name: 'deploy', title: 'Deploy?', payload: { to: 'live' }, workflowId: 'flow' })
    const decide = (approved: boolean) =>
      engine.resolveApproval({
        approvalId: approval?.id ?? '',
        approved,
        reason: 'ok',
        by: 'bob',
        visibility: EVERY_ROW,
      })

    expect((await decide(true)).body).toMatchObject({ status: 'approved', by: 'bob' })
    await untilIdle(engine.clock)

    expect(await engine.find(runId)).toMatchObject({
      status: 'completed',
      result: '{"approved":true,"reason":"ok","by":"bob"}',
    })
    expect((await decide(true)).body).toMatchObject({ status: 'approved' })
    await expect(decide(false)).rejects.toMatchObject({
      code: 'approval-resolved',
      message: expect.stringContaining('bob'),
    })
  })

  it('accepts exactly one of many concurrent decisions', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await startFlow(engine)
    const [approval] = await open(engine, runId)

    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        engine.resolveApproval({
          approvalId: approval?.id ?? '',
          approved: n % 2 === 0,
          by: `b${n}`,
          visibility: EVERY_ROW,
        }),
      ),
    )
    await untilIdle(engine.clock)

    const winners = new Set(
      all.flatMap((one) => (one.status === 'fulfilled' ? [(one.value.body as { by: string }).by] : [])),
    )
    expect(winners.size).toBe(1)
    expect((await engine.find(runId))?.status).toBe('completed')
  })

  it('expires without a decision', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await startFlow(engine)

    await engine.advance(5_000)

    expect(await engine.find(runId)).toMatchObject({
      status: 'completed',
      result: '{"approved":false,"reason":"expired"}',
    })
    expect(await open(engine, runId)).toEqual([])
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toContain('approval.expired')
  })

  it('expires when its run is aborted', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await startFlow(engine)
    const [approval] = await open(engine, runId)

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await untilIdle(engine.clock)

    expect(await open(engine, runId)).toEqual([])
    expect((await engine.eventsOf(runId)).at(-1)?.type).toBe('run.aborted')
    const inbox = await engine.storage.events.read({ topic: 'approvals/events' }, { after: 0, limit: 9 })
    expect(inbox.map(({ type }) => type)).toEqual(['approval.requested', 'approval.expired'])
    await expect(
      engine.resolveApproval({ approvalId: approval?.id ?? '', approved: true, by: 'bob', visibility: EVERY_ROW }),
    ).rejects.toMatchObject({ code: 'approval-resolved' })
  })

  it('waits across restarts, for several approvals decided in any order', async () => {
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
      const runId = await startFlow(engine)
      const approvals = await open(engine, runId)
      expect(approvals).toHaveLength(3)
      for (const index of order) {
        engine = await process(three)
        await engine.resolveApproval({
          approvalId: approvals[index]?.id ?? '',
          approved: true,
          by: 'bob',
          visibility: EVERY_ROW,
        })
        await untilIdle(engine.clock)
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
    const engine = createTestEngine({ agents: [plain] })
    const first = outcomeOf(await waitFor(engine, engine.run('plain')))
    expect(first).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'resume' }] })

    const reply = await waitFor(
      engine,
      engine.resumeRun({
        runId: first.runId,
        payload: 'go',
        principal: { subject: 'bob', scopes: ['agents:invoke'] },
        visibility: EVERY_ROW,
      }),
    )

    expect(outcomeOf(reply)).toMatchObject({ status: 'completed', result: { state: { step: 1 }, payload: 'go' } })
  })

  it('requests approvals and resumes once all are decided', async () => {
    const plain = agentOf('plain', async (_, { suspend, resume }) =>
      resume === undefined
        ? suspend({ approvals: [{ name: 'one' }, { name: 'two' }] })
        : resume.approvals.map(({ name, approved }) => [name, approved]),
    )
    const engine = createTestEngine({ agents: [plain] })
    const first = outcomeOf(await waitFor(engine, engine.run('plain')))
    expect(first.approvals).toHaveLength(2)
    const [one, two] = first.approvals ?? []
    const resume = (approvals: { id: string; approved: boolean }[]) =>
      waitFor(
        engine,
        engine.resumeRun({
          runId: first.runId,
          approvals,
          principal: { subject: 'bob', scopes: ['agents:invoke'] },
          visibility: EVERY_ROW,
        }),
      )

    expect(outcomeOf(await resume([{ id: one?.id ?? '', approved: true }]))).toMatchObject({ status: 'suspended' })
    expect(outcomeOf(await resume([{ id: two?.id ?? '', approved: false }]))).toMatchObject({
      status: 'completed',
      result: [
        ['one', true],
        ['two', false],
      ],
    })
    await expect(resume([{ id: two?.id ?? '', approved: false }])).rejects.toMatchObject({ code: 'run-not-suspended' })
  })
})

describe('a resume with decisions and a payload', () => {
  it('passes the payload to the resumed code', async () => {
    const plain = agentOf('plain', async (_, { suspend, resume }) =>
      resume === undefined ? suspend({ approvals: [{ name: 'one' }] }) : resume.payload,
    )
    const engine = createTestEngine({ agents: [plain] })
    const { runId, approvals } = outcomeOf(await waitFor(engine, engine.run('plain')))

    const reply = await waitFor(
      engine,
      engine.resumeRun({
        ...{ runId, payload: { note: 'go' }, visibility: EVERY_ROW },
        approvals: [{ id: approvals?.[0]?.id ?? '', approved: true }],
        principal: { subject: 'bob', scopes: ['agents:invoke'] },
      }),
    )

    expect(outcomeOf(reply)).toMatchObject({ status: 'completed', result: { note: 'go' } })
  })
})
