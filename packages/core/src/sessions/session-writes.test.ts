import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, plusMs, type RunRecord, toJsonText } from '@perdure/ports'
import { aRun, aSession, BUILT_AT, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { Principal } from '../auth/principal.ts'
import { findSessionForRun } from './find-session-for-run.ts'
import { type SessionWritesDeps, sessionWrites } from './session-writes.ts'

const run = aRun({ sessionId: 'chat', userId: 'u1' })
const alice = { subject: 'alice', scopes: ['sessions:write:own'] }

const setUp = () => {
  const storage = createInMemoryStorage()
  return { storage, deps: { sessions: storage.sessions, ids: createSequenceIds() } }
}

async function writesFor(deps: SessionWritesDeps, run: RunRecord, principal: Principal) {
  const { sessionId } = run
  const session = sessionId === undefined ? undefined : await findSessionForRun(deps, principal, sessionId)
  return sessionWrites(deps, run, { session })
}

describe('sessionWrites', () => {
  it('writes nothing for a run without a session', async () => {
    expect(await writesFor(setUp().deps, aRun(), alice)).toEqual([])
  })

  it('creates the session on first use with the input as its first message, and appends both events', async () => {
    const { storage, deps } = setUp()

    const outcome = await storage.unitOfWork.commit(await writesFor(deps, run, alice))

    expect(await storage.sessions.find('chat', EVERY_ROW)).toEqual({
      ...{ id: 'chat', owner: 'alice', userId: 'u1', agentId: 'echo', metadata: {} },
      ...{ createdAt: BUILT_AT, updatedAt: BUILT_AT },
    })
    const { items } = await storage.sessions.messages('chat', { limit: 9, order: 'asc' })
    expect(items).toMatchObject([{ seq: 1, role: 'user', content: run.input, runId: run.id, createdAt: BUILT_AT }])
    const events = outcome.committed ? outcome.events : []
    expect(events.map(({ type, sessionId, payload }) => [type, sessionId, JSON.parse(payload)])).toEqual([
      ['session.created', 'chat', { id: 'chat', owner: 'alice', userId: 'u1', agentId: 'echo', metadata: {} }],
      ['session.message', 'chat', { messageId: items[0]?.id, role: 'user', runId: run.id }],
    ])
    expect(events.map(({ runId, topic }) => [runId, topic])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ])
  })

  it('appends no message for a run without input, but counts it as activity of the session', async () => {
    const { storage, deps } = setUp()
    const silent = aRun({ sessionId: 'chat', input: toJsonText(null), createdAt: plusMs(BUILT_AT, 5) })

    await storage.unitOfWork.commit(await writesFor(deps, { ...silent, createdAt: BUILT_AT }, alice))
    await storage.unitOfWork.commit(await writesFor(deps, silent, alice))

    expect((await storage.sessions.messages('chat', { limit: 9, order: 'asc' })).items).toEqual([])
    expect(await storage.sessions.find('chat', EVERY_ROW)).toMatchObject({
      createdAt: BUILT_AT,
      updatedAt: plusMs(BUILT_AT, 5),
    })
  })

  it('sets no agentId on a session that was created by a workflow', async () => {
    const { storage, deps } = setUp()
    const workflowRun = aRun({ sessionId: 'chat', kind: 'workflow', targetId: 'flow' })

    await storage.unitOfWork.commit(await writesFor(deps, workflowRun, alice))

    expect((await storage.sessions.find('chat', EVERY_ROW))?.agentId).toBeUndefined()
  })

  it('appends to an existing session without changing its title or owner', async () => {
    const { storage, deps } = setUp()
    const session = aSession({ id: 'chat', owner: 'alice', title: 'Plans' })
    await storage.unitOfWork.commit([{ type: 'session.insert', session }])

    await storage.unitOfWork.commit(await writesFor(deps, run, alice))

    expect(await storage.sessions.find('chat', EVERY_ROW)).toMatchObject({ title: 'Plans', owner: 'alice' })
    expect((await storage.sessions.messages('chat', { limit: 9, order: 'asc' })).items).toHaveLength(1)
  })

  it('answers session-not-found to a principal that may not use the session', async () => {
    const { storage, deps } = setUp()
    await storage.unitOfWork.commit([{ type: 'session.insert', session: aSession({ id: 'chat', owner: 'bob' }) }])

    await expect(writesFor(deps, run, alice)).rejects.toMatchObject({ code: 'session-not-found' })
    const trusted = { subject: 'alice', scopes: ['sessions:write:chat'] }
    expect((await writesFor(deps, run, trusted)).map(({ type }) => type)).toEqual(['message.append', 'event.append'])
  })
})
