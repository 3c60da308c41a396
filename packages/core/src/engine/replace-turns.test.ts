import { EVERY_ROW, toJsonText } from '@perdure/ports'
import { aRun, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createSessionWorld } from '../sessions/sessions.fixture.ts'
import { agentOf, createTestEngine } from './test-engine.fixture.ts'

const sawTexts = agentOf('sees', async (_, { session }) =>
  (await session?.messages())?.map(({ role, content }) => `${role} ${JSON.stringify(content)}`),
)
const echo = agentOf('echo', async (input) => input)

describe('a run that replaces a turn', () => {
  it('withdraws the turn and all later ones from what runs of the session see', async () => {
    const world = createSessionWorld({ agents: [echo, sawTexts] })
    const ask = (agentId: string, input: string, replaces?: string) =>
      world.run(agentId, { body: { input, sessionId: 'chat', replaces } })
    for (const input of ['one', 'two', 'three']) await ask('echo', input)
    const { items } = await world.storage.runs.list({ sessionId: 'chat' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    await ask('echo', 'other', items[1]?.id)

    const { json } = await ask('sees', 'last')
    expect(JSON.parse(json ?? '').result).toEqual([
      ...['user "one"', 'assistant "one"', 'user "other"', 'assistant "other"', 'user "last"'],
    ])
  })

  it('aborts the turns that still work', async () => {
    const hold = agentOf('hold', () => new Promise<never>(() => undefined))
    const engine = createTestEngine({ agents: [hold, echo] })
    const body = { sessionId: 'chat', input: 'wait' }
    const { runId: held = '' } = await engine.run('hold', { body, answer: 'accepted' })
    await engine.run('echo', { body: { ...body, replaces: held } })

    expect(await engine.storage.runs.find(held, EVERY_ROW)).toMatchObject({ status: 'aborted' })
  })

  it.each([
    ['a run of another session', { sessionId: 'other', replaces: 'run_of_chat' }],
    ['an unknown run', { sessionId: 'chat', replaces: 'run_unknown' }],
    ['a child run', { sessionId: 'chat', replaces: 'run_child' }],
    ['a run, without a session', { replaces: 'run_of_chat' }],
  ])('is refused for %s', async (_, members) => {
    const engine = createTestEngine({ agents: [echo] })
    await engine.storage.unitOfWork.commit([
      { type: 'session.insert', session: aSession({ id: 'chat' }) },
      { type: 'run.insert', run: aRun({ id: 'run_of_chat', sessionId: 'chat', input: toJsonText(1) }) },
      { type: 'run.insert', run: aRun({ id: 'run_child', sessionId: 'chat', parentRunId: 'run_of_chat' }) },
    ])

    await expect(engine.run('echo', { body: { input: 1, ...members } })).rejects.toMatchObject({
      code: 'validation-failed',
      message: expect.stringContaining('body.replaces'),
    })
  })

  it('aborts a withdrawn turn after a crash came before its abort', async () => {
    const engine = createTestEngine({ agents: [echo] })
    const suspended = { status: 'suspended', sessionId: 'chat', targetId: 'echo' } as const
    await engine.storage.unitOfWork.commit([
      { type: 'session.insert', session: aSession({ id: 'chat' }) },
      { type: 'run.insert', run: aRun({ id: 'run_a', ...suspended }) },
      { type: 'run.insert', run: aRun({ id: 'run_b', ...suspended, status: 'completed' }) },
      { type: 'run.withdraw', sessionId: 'chat', from: 'run_a', by: 'run_b' },
    ])
    await engine.recover()

    expect(await engine.storage.runs.find('run_a', EVERY_ROW)).toMatchObject({
      status: 'aborted',
      withdrawnBy: 'run_b',
    })
  })
})
