import { EVERY_ROW, toJsonText } from '@perdure/ports'
import { anApproval } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine } from '../engine/test-engine.fixture.ts'

const ANN = { subject: 'alice', scopes: ['runs:read'] }
const VIC = { subject: 'vic', scopes: ['runs:read', 'agents:read'] }
const AUDITOR = { subject: 'auditor', scopes: ['runs:read', 'traces:read:sanitized'] }
const HIDDEN = '[redacted:credential]'
const ADMIN = { subject: 'admin', scopes: ['admin:*'] }

const chat = (text: string, over: object = {}) => ({
  ...{ text, messages: [{ role: 'user', content: [{ type: 'text', text }] }] },
  ...over,
})

const support = agentOf('support', async (input) => {
  const { text } = input as { readonly text: string }
  if (text === 'fail') throw new Error('broken')
  return { text: `You said: ${text}` }
})

const world = () => {
  const engine = createTestEngine({ agents: [support] })
  const send = async (input: unknown, sessionId?: string): Promise<string> => {
    const { runId = '' } = await engine.run('support', {
      body: { input, ...(sessionId === undefined ? {} : { sessionId }) },
    })
    return runId
  }
  const keep = (
    runId: string,
    { principal = ANN, raw = false, ...more }: Partial<Parameters<typeof engine.keepCase>[0]> = {},
  ) => engine.keepCase({ runId, raw, principal, visibility: EVERY_ROW, ...more })
  const audited = () => engine.storage.audit.read({ afterSeq: 0, limit: 10 })
  return { ...engine, send, keep, audited }
}

describe('keepCase', () => {
  it('makes a case with the input and the text of the result', async () => {
    const { send, keep } = world()
    const id = await send({ text: 'late', order: 7 })

    expect(await keep(id)).toEqual({
      case: { id, input: { text: 'late', order: 7 }, expected: 'You said: late' },
      notes: [],
    })
  })

  it('writes the turns of the session up to the run, each text once', async () => {
    const { send, keep } = world()
    await send(chat('my scarf C-1'), 'chat')
    const second = await send(chat('It arrived 60 days ago.'), 'chat')
    await send(chat('later'), 'chat')

    const kept = await keep(second)

    expect(kept.case).toEqual({
      ...{ id: second, turns: ['my scarf C-1', 'It arrived 60 days ago.'] },
      expected: 'You said: It arrived 60 days ago.',
    })
  })

  it('says which parts of the turns are left out', async () => {
    const { send, keep } = world()
    const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' }
    const content = [{ type: 'text', text: 'see' }, file]
    for (let turn = 0; turn < 60; turn++) await send(chat(`turn ${turn}`), 'chat')
    const id = await send(chat('see', { messages: [{ role: 'user', content }], plan: 'gold' }), 'chat')

    const kept = await keep(id)

    expect(kept.case.turns).toHaveLength(50)
    expect(kept.case.turns?.slice(-2)).toEqual(['turn 59', 'see'])
    expect(kept.notes).toEqual([
      'Only the newest 50 turns of the session are in the case.',
      'Files and data of the messages are left out.',
      'The turns have no plan, which the inputs of the runs have.',
    ])
  })

  it('writes one text for a single chat message without a session, and drops the copy beside messages', async () => {
    const { send, keep } = world()
    const one = chat('late')
    const two = { ...one, messages: [...one.messages, ...one.messages] }

    expect((await keep(await send(one))).case.input).toEqual({ text: 'late' })
    expect((await keep(await send(two))).case.input).toEqual({ messages: two.messages })
  })

  it('lists the decisions of a tool in their order if they differ', async () => {
    const { send, keep, storage } = world()
    const id = await send({ text: 'late' })
    const made = [
      ['two', 'approved'],
      ['one', 'denied'],
      ['two', 'denied'],
      ['one', 'denied'],
      ['late', 'expired'],
    ] as const
    await storage.unitOfWork.commit(
      made.map(([name, status], at) => ({
        type: 'approval.insert' as const,
        approval: anApproval({ id: `appr_${at}`, runId: id, name, status, createdAt: at as never }),
      })),
    )

    const kept = await keep(id)

    expect(kept.case.decisions).toEqual({ two: [true, false], one: false })
    expect(kept.notes).toEqual(['An approval expired; the case leaves it open.'])
  })

  it('says why a case has no expected text', async () => {
    const { send, keep } = world()
    const { notes, case: kept } = await keep(await send({ text: 'fail' }))

    expect(kept).not.toHaveProperty('expected')
    expect(notes).toEqual(['The run failed, so the case has no expected text: add the right answer.'])
  })

  it('redacts every text and number below a member with the name of a secret', async () => {
    const { send, keep } = world()
    const secrets = {
      token: ['one', { deep: 'two' }],
      Password: 1234,
      secret: null,
      cookie: { set: true, value: 'three' },
    }
    const id = await send({ text: 'hello', ...secrets })

    expect((await keep(id)).case).toMatchObject({
      input: {
        ...{ text: 'hello', token: [HIDDEN, { deep: HIDDEN }] },
        ...{ Password: HIDDEN, secret: null, cookie: { set: true, value: HIDDEN } },
      },
    })
  })

  it('redacts secrets, unless raw is requested and allowed', async () => {
    const { send, keep } = world()
    const input = { text: 'mail ann@example.com', password: 'hunter2' }
    const id = await send(input)

    const redacted = await keep(id)

    expect(redacted.case).toMatchObject({
      input: { text: 'mail [redacted:email]', password: '[redacted:credential]' },
      expected: 'You said: mail [redacted:email]',
    })
    expect(redacted.notes).toEqual(['Credentials and e-mail addresses are redacted.'])
    expect((await keep(id, { raw: true, principal: ADMIN })).case.input).toEqual(input)
    await expect(keep(id, { raw: true })).rejects.toMatchObject({ kind: 'scope-denied' })
  })

  it('needs a scope for the runs of others, and writes an audit entry for every case', async () => {
    const { send, keep, audited } = world()
    const id = await send({ text: 'late' })

    await expect(keep(id, { principal: VIC })).rejects.toMatchObject({ kind: 'scope-denied' })
    expect(await audited()).toEqual([])
    await keep(id, { principal: AUDITOR })
    await keep(id)

    expect(await audited()).toMatchObject([
      { action: 'runs.case', target: id, decision: 'allowed', detail: { raw: false }, actor: { subject: 'auditor' } },
      { action: 'runs.case', target: id, actor: { subject: 'alice' } },
    ])
  })

  it('needs the scope for a turn of others in the session of the run', async () => {
    const { send, keep, storage } = world()
    const first = await send(chat('mine'), 'chat')
    const id = await send(chat('and mine'), 'chat')
    const run = await storage.runs.find(first, EVERY_ROW)
    const foreign = { ...run, id: 'run_0', owner: 'bob', input: toJsonText(chat('his')) }
    await storage.unitOfWork.commit([{ type: 'run.insert', run: foreign as never }])

    await expect(keep(id)).rejects.toMatchObject({ kind: 'scope-denied' })
    expect((await keep(id, { visibility: { owner: 'alice' } })).case.turns).toEqual(['mine', 'and mine'])
  })

  it('rejects a run that the caller cannot see', async () => {
    const { keep, send } = world()
    const id = await send({ text: 'late' })

    await expect(keep(id, { visibility: { owner: 'vic' } })).rejects.toMatchObject({ code: 'run-not-found' })
    await expect(keep('run_none')).rejects.toMatchObject({ code: 'run-not-found' })
  })
})
