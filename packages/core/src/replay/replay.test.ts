import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine } from '../engine/test-engine.fixture.ts'
import { parsedItems, renderedPage } from '../json/page-items.fixture.ts'
import type { EventEnvelope } from '../realtime/event-envelope.ts'
import type { ReplayPage } from './replay.ts'

const AUDITOR = { subject: 'auditor', tokenId: 'tok_1', scopes: ['traces:read:sanitized'] }
const ADMIN = { subject: 'admin', scopes: ['admin:*'] }
const PAGE = { limit: 50, order: 'asc' } as const
const talker = agentOf('talker', async (_, { emit }) => {
  await emit('reasoning.delta', { delta: 'mail bob@example.com' })
  return 'done'
})

const itemsOf = async ({ events }: ReplayPage): Promise<readonly EventEnvelope[]> => parsedItems(events.items)

describe('replay', () => {
  it('returns the events of a run, sanitized unless raw is requested and allowed', async () => {
    const engine = createTestEngine({ agents: [talker] })
    const { runId = '' } = await engine.run('talker')
    const of = { runId }

    const clean = await itemsOf(await engine.replay.page({ of, raw: false, principal: AUDITOR, page: PAGE }))
    const raw = await itemsOf(await engine.replay.page({ of, raw: true, principal: ADMIN, page: PAGE }))

    expect(clean.map(({ type }) => type)).toEqual(['run.started', 'reasoning.delta', 'run.completed'])
    expect(clean[1]?.payload).toEqual({ delta: 'mail [redacted:email]' })
    expect(raw[1]?.payload).toEqual({ delta: 'mail bob@example.com' })
    await expect(engine.replay.page({ of, raw: true, principal: AUDITOR, page: PAGE })).rejects.toMatchObject({
      kind: 'scope-denied',
    })
  })

  it.each([
    ['the run', (runId: string) => ({ runId })],
    ['its session', () => ({ sessionId: 'chat' })],
  ])('shows the stack of a failed run only in a raw replay of %s', async (_, ofRun) => {
    const failing = agentOf('failing', () => Promise.reject(new TypeError('broken')))
    const engine = createTestEngine({ agents: [failing] })
    const { runId = '', json: outcome } = await engine.run('failing', { body: { sessionId: 'chat' } })
    const request = { of: ofRun(runId), principal: ADMIN, page: PAGE }
    const failedIn = async (page: ReplayPage) =>
      (await itemsOf(page)).find(({ type }) => type === 'run.failed')?.payload

    const clean = await engine.replay.page({ ...request, raw: false })
    const raw = await engine.replay.page({ ...request, raw: true })

    const error = { code: 'run-failed', message: 'broken' }
    expect(await failedIn(clean)).toMatchObject({ error })
    expect(await failedIn(raw)).toMatchObject({ error: { ...error, stack: expect.stringContaining('replay.test.ts') } })
    const resource = await engine.readRuns.get(runId, EVERY_ROW)
    const list = await renderedPage((await engine.readRuns.list({}, PAGE, EVERY_ROW)).items)
    expect(list).toContain(runId)
    const stored = await engine.eventsOf(runId)
    expect(resource.error).toEqual(error)
    expect(JSON.stringify([await itemsOf(clean), outcome, resource, list, stored])).not.toMatch(
      /replay\.test\.ts|"stack"/,
    )
  })

  it('pages through a session with all its runs', async () => {
    const engine = createTestEngine({ agents: [talker] })
    for (let n = 0; n < 2; n++) await engine.run('talker', { body: { sessionId: 'chat', input: 'hi' } })
    const types: string[] = []
    let cursor: string | undefined
    do {
      const page = { limit: 3, order: 'asc', cursor } as const
      const reply = await engine.replay.page({ of: { sessionId: 'chat' }, raw: false, principal: AUDITOR, page })
      types.push(...(await itemsOf(reply)).map(({ type }) => type))
      cursor = reply.events.nextCursor ?? undefined
    } while (cursor !== undefined)

    expect(types.filter((type) => type === 'run.completed')).toHaveLength(2)
    expect(types.filter((type) => type === 'session.message')).toHaveLength(4)
  })

  it('writes an audit entry for every call, including streams', async () => {
    const engine = createTestEngine({ agents: [talker] })
    const { runId = '' } = await engine.run('talker')
    const request = { of: { runId }, raw: false, principal: AUDITOR }

    await engine.replay.page({ ...request, page: PAGE })
    expect(await engine.replay.open(request)).toEqual({
      stream: { runId },
      subject: `agent:talker/runs/${runId}/events`,
      raw: false,
    })

    const entries = await engine.storage.audit.read({ afterSeq: 0, limit: 10 })
    expect(entries).toMatchObject(
      [1, 2].map((seq) => ({
        ...{ seq, action: 'runs.replay', target: runId, decision: 'allowed', detail: { raw: false } },
        actor: { kind: 'token', id: 'tok_1', subject: 'auditor' },
      })),
    )
  })

  it('returns nothing if the audit entry cannot be written', async () => {
    const storage = createInMemoryStorage()
    let isFull = false
    const { commit } = storage.unitOfWork
    const unitOfWork = {
      commit: (writes: Parameters<typeof commit>[0]) =>
        isFull ? Promise.reject(perdureError('storage-full')) : commit(writes),
    }
    const engine = createTestEngine({ agents: [talker], storage: { ...storage, unitOfWork } })
    const { runId = '' } = await engine.run('talker')
    isFull = true
    const request = { of: { runId }, raw: false, principal: AUDITOR }

    await expect(engine.replay.page({ ...request, page: PAGE })).rejects.toMatchObject({ kind: 'audit-unavailable' })
    await expect(engine.replay.open(request)).rejects.toMatchObject({ kind: 'audit-unavailable' })
  })

  it('reads the events of a repeated key again without another audit entry', async () => {
    const engine = createTestEngine({ agents: [talker] })
    const { runId = '' } = await engine.run('talker')
    const request = { of: { runId }, raw: false, principal: AUDITOR, page: PAGE, key: { id: 'k', fingerprint: 'f' } }

    const first = await engine.replay.page(request)
    const again = await engine.replay.page(request)

    expect(first.replayed).toBeUndefined()
    expect(again).toEqual({ ...first, replayed: true })
    expect(await itemsOf(again)).toHaveLength(3)
    expect(await engine.storage.audit.read({ afterSeq: 0, limit: 10 })).toHaveLength(1)
  })

  it('stores no event under its key', async () => {
    const engine = createTestEngine({ agents: [talker] })
    const { runId = '' } = await engine.run('talker')
    const key = { id: 'k', fingerprint: 'f' }

    await engine.replay.page({ of: { runId }, raw: true, principal: ADMIN, page: PAGE, key })

    const record = await engine.storage.idempotency.find('k', engine.clock.now())
    expect(record?.response).toMatchObject({ status: 200, body: '' })
    expect(record?.contentOf).toBeUndefined()
  })

  it('writes the audit entry of a keyed call before it returns an event', async () => {
    const storage = createInMemoryStorage()
    let isFull = false
    const { commit } = storage.unitOfWork
    const unitOfWork = {
      commit: (writes: Parameters<typeof commit>[0]) =>
        isFull ? Promise.reject(perdureError('storage-full')) : commit(writes),
    }
    const engine = createTestEngine({ agents: [talker], storage: { ...storage, unitOfWork } })
    const { runId = '' } = await engine.run('talker')
    isFull = true
    const request = { of: { runId }, raw: false, principal: AUDITOR, page: PAGE, key: { id: 'k', fingerprint: 'f' } }

    await expect(engine.replay.page(request)).rejects.toMatchObject({ kind: 'audit-unavailable' })
    isFull = false
    expect((await engine.replay.page(request)).replayed).toBeUndefined()
  })

  it.each([
    [{ runId: 'run_none' }, 'run-not-found'],
    [{ sessionId: 'none' }, 'session-not-found'],
  ] as const)('rejects %o with %s', async (of, code) => {
    const engine = createTestEngine({ agents: [] })

    await expect(engine.replay.page({ of, raw: false, principal: AUDITOR, page: PAGE })).rejects.toMatchObject({ code })
  })
})
