import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, agentOf, createTestEngine, untilIdle } from './test-engine.fixture.ts'

const asker = agentOf('asker', (_, { approval }) => approval('pay', { title: 'Pay?', timeout: 1_000 }))
const middle = agentOf('middle', (_, { invoke }) => invoke('asker'))
const top = agentOf('top', (_, { invoke }) => invoke('middle'))

async function start() {
  const engine = createTestEngine({ agents: [asker, middle, top] })
  await engine.start()
  const { runId = '' } = await engine.run('top', { answer: 'accepted' })
  await engine.advance(0)
  const { items } = await engine.readApprovals.list({ status: 'pending' }, { limit: 9, order: 'asc' }, EVERY_ROW)
  const [approval] = items
  const read = async (id: string) =>
    (await engine.eventsOf(id)).map(({ type, payload }) => ({ type, payload: JSON.parse(payload) }))
  return { engine, runId, approval, read }
}

describe('the log of a parent', () => {
  it('tells which child runs started and how they ended', async () => {
    const { engine, runId, approval, read } = await start()
    await engine.resolveApproval({ approvalId: approval?.id ?? '', approved: true, by: 'bob', visibility: EVERY_ROW })
    await engine.advance(0)

    const events = (await read(runId)).filter(({ type }) => type.startsWith('run.child.'))
    const childRunId = events[0]?.payload.childRunId
    expect((await engine.find(childRunId))?.parentRunId).toBe(runId)
    const child = { runId, childRunId, agentId: 'middle', seq: 1 }
    expect(events).toEqual([
      { type: 'run.child.started', payload: child },
      { type: 'run.child.ended', payload: { ...child, status: 'completed' } },
    ])
  })

  it('has the approvals of all descendants, and their decisions', async () => {
    const { engine, runId, approval, read } = await start()
    const via = { protocol: 'ag-ui', ref: 'run-7' }
    const decision = { approved: true, reason: 'fine', payload: { amount: 3 } }
    await engine.resolveApproval({
      ...{ ...decision, approvalId: approval?.id ?? '', by: 'bob', visibility: EVERY_ROW, via },
    })
    await engine.advance(0)

    const events = (await read(runId)).filter(({ type }) => type.startsWith('approval.'))
    const asked = { approvalId: approval?.id, runId: approval?.runId, name: 'pay', title: 'Pay?' }
    expect(events).toEqual([
      { type: 'approval.requested', payload: asked },
      {
        type: 'approval.resolved',
        payload: { ...asked, decision: 'approved', by: 'bob', reason: 'fine', answer: { amount: 3 }, via },
      },
    ])
    const own = await read(approval?.runId ?? '')
    expect(own.filter(({ type }) => type.startsWith('approval.'))).toEqual(events)
    expect(own.find(({ type }) => type === 'run.resumed')?.payload.via).toEqual(via)
  })

  it('has the expiry of an approval of a descendant', async () => {
    const { engine, runId, read } = await start()
    await engine.advance(1_000)

    const types = (await read(runId)).map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('approval.'))).toEqual(['approval.requested', 'approval.expired'])
    expect(types.at(-1)).toBe('run.completed')
  })

  it('has the expiry of an approval whose run was aborted', async () => {
    const { engine, runId, approval, read } = await start()
    await engine.abortRun({ runId: approval?.runId ?? '', visibility: EVERY_ROW })
    await untilIdle(engine.clock)

    expect((await read(runId)).map(({ type }) => type)).toContain('approval.expired')
    expect((await read(approval?.runId ?? '')).map(({ type }) => type)).not.toContain('approval.expired')
  })

  it('keeps the approvals of a descendant out of its session and of the inbox', async () => {
    const { engine, approval } = await start()
    const inbox = await engine.storage.events.read({ topic: 'approvals/events' }, { after: 0, limit: 99 })
    expect(inbox.map(({ runId }) => runId)).toEqual([approval?.runId])
  })
})

describe('via', () => {
  const via = { protocol: 'a2a' }
  const waits = agentOf('waits', async (_, { suspend, resume }) => (resume === undefined ? suspend() : resume.payload))

  it('is told when a run is resumed', async () => {
    const engine = createTestEngine({ agents: [waits] })
    const { runId = '' } = await engine.run('waits', { answer: 'accepted' })
    await untilIdle()
    await engine.resumeRun({ runId, payload: 1, principal: ALICE, visibility: EVERY_ROW, via })

    const resumed = (await engine.eventsOf(runId)).find(({ type }) => type === 'run.resumed')
    expect(JSON.parse(resumed?.payload ?? '{}').via).toEqual(via)
  })

  it('is told when a run is aborted', async () => {
    const engine = createTestEngine({ agents: [waits] })
    const { runId = '' } = await engine.run('waits', { answer: 'accepted' })
    await untilIdle()
    await engine.abortRun({ runId, visibility: EVERY_ROW, via })

    const aborted = (await engine.eventsOf(runId)).find(({ type }) => type === 'run.aborted')
    expect(JSON.parse(aborted?.payload ?? '{}').via).toEqual(via)
  })
})

describe('toolCallId', () => {
  const call = { name: 'send', args: { to: 'ann' }, toolCallId: 'call_1', execute: () => 1 }

  it('names one call in its events and its approval', async () => {
    const mail = agentOf('mail', (_, { tool }) => tool({ ...call, approval: { title: 'Send?', payload: 'mail' } }))
    const engine = createTestEngine({ agents: [mail] })
    const { runId = '' } = await engine.run('mail', { answer: 'accepted' })
    await untilIdle(engine.clock)
    await engine.resumeRun({
      ...{ runId, principal: { subject: 'alice', scopes: ['approvals:resolve', 'agents:invoke'] } },
      ...{ visibility: EVERY_ROW, approvals: [{ toolCallId: 'call_1', approved: true }] },
    })
    await untilIdle(engine.clock)

    const events = (await engine.eventsOf(runId)).filter(({ type }) => type.startsWith('tool.'))
    expect(events.map(({ type, payload }) => [type, JSON.parse(payload).toolCallId])).toEqual([
      ['tool.approval.requested', 'call_1'],
      ['tool.execute.start', 'call_1'],
      ['tool.execute.end', 'call_1'],
    ])
    expect(JSON.parse(events[0]?.payload ?? '')).toMatchObject({
      toolName: 'send',
      args: { to: 'ann' },
      payload: 'mail',
    })
  })

  it.each([
    ['the id of an earlier call', 'call_1'],
    ['an empty id', ''],
    ['an id with a space', 'call 1'],
    ['an id that is too long', 'x'.repeat(129)],
  ])('refuses %s', async (_, toolCallId) => {
    const mail = agentOf('mail', async (_, { tool }) => {
      await tool(call)
      await tool({ ...call, toolCallId })
    })
    const engine = createTestEngine({ agents: [mail] })
    const { runId = '' } = await engine.run('mail', { answer: 'accepted' })
    await untilIdle(engine.clock)

    expect((await engine.find(runId))?.error).toMatchObject({
      code: 'validation-failed',
      message: expect.stringContaining('toolCallId'),
    })
  })
})
