import { createInMemoryStorage } from '@perdure/in-memory'
import type { Refusal } from '@perdure/ports'
import { SUBJECTS } from '@perdure/protocol'
import { aRun, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { canFollowAny, createAuthorizeSubject } from './authorize-subject.ts'

const RUN = aRun({ id: 'run_a', sessionId: 'chat', status: 'running' })
const FLOW = aRun({ id: 'run_w', kind: 'workflow', targetId: 'flow', threadId: 'thr_1', status: 'completed' })

async function setUp() {
  const storage = createInMemoryStorage()
  await storage.unitOfWork.commit([
    { type: 'session.insert', session: aSession({ id: 'chat', owner: 'alice' }) },
    { type: 'session.insert', session: aSession({ id: 'foreign', owner: 'bob' }) },
    ...[RUN, FLOW].map((run) => ({ type: 'run.insert', run }) as const),
  ])
  const authorizeSubject = createAuthorizeSubject(storage)
  return async (subject: string, ...scopes: readonly string[]) => {
    try {
      return await authorizeSubject({ subject: 'alice', scopes }, subject)
    } catch (error) {
      return (error as { readonly code: string }).code
    }
  }
}

describe('createAuthorizeSubject', () => {
  it.each([
    ['agent:echo/runs/run_a/events', 'agents:read:echo', { runId: 'run_a' }, 'first', false],
    ['workflow:flow/runs/run_w/events', 'workflows:read', { runId: 'run_w' }, 'first', true],
    ['session:chat/runs/run_a/events', 'sessions:read:chat', { runId: 'run_a' }, 'first', false],
    ['session:chat/events', 'sessions:read:own', { sessionId: 'chat' }, 'head', false],
    ['session:chat/events', 'sessions:read:chat', { sessionId: 'chat' }, 'head', false],
    ['agent:echo/events', 'agents:read', { topic: 'agent:echo/events' }, 'head', false],
    ['trigger:nightly/events', 'triggers:read:nightly', { topic: 'trigger:nightly/events' }, 'head', false],
    ['memory/events', 'memory:read', { topic: 'memory/events' }, 'head', false],
    ['memory/conflicts', 'memory:*', { topic: 'memory/conflicts' }, 'head', false],
    ['approvals/events', 'approvals:read', { topic: 'approvals/events' }, 'head', false],
    ['audit/events', 'admin:*', { topic: 'audit/events' }, 'head', false],
  ])('allows the subject %s with the scope %s', async (subject, scope, stream, startsAt, isComplete) => {
    const ask = await setUp()

    expect(await ask(subject, scope)).toEqual({ subject, stream, startsAt, isComplete })
  })

  it.each(Object.values(SUBJECTS).map(({ pattern }) => pattern.replace(/\{\w+\}/g, 'x')))(
    'denies the subject %s without its scope',
    async (subject) => {
      const ask = await setUp()

      expect(await ask(subject, 'secrets:read', 'agents:invoke', 'sessions:write')).toBe('scope-denied')
    },
  )

  it.each([
    '',
    '*',
    'agent:*/events',
    'agent:echo/runs/*/events',
    'run:x/events',
    'agent:a b/events',
    'memory',
    'x'.repeat(400),
  ])('rejects the text %j, which is not a subject', async (subject) => {
    const ask = await setUp()

    expect(await ask(subject, 'admin:*')).toBe('validation-failed')
  })

  it.each([
    'agent:echo/runs/run_none/events',
    'agent:other/runs/run_a/events',
    'agent:flow/runs/run_w/events',
    'workflow:echo/runs/run_a/events',
    'session:foreign/runs/run_a/events',
    'session:chat/runs/run_w/events',
  ])('answers run-not-found for %s', async (subject) => {
    const ask = await setUp()

    expect(await ask(subject, 'admin:*')).toBe('run-not-found')
  })

  it("gives the same answer for another owner's session and for a session that does not exist", async () => {
    const ask = await setUp()

    for (const session of ['foreign', 'none']) {
      expect(await ask(`session:${session}/events`, 'sessions:read:own')).toBe('scope-denied')
      expect(await ask(`session:${session}/runs/run_a/events`, 'sessions:read:own')).toBe('run-not-found')
    }
    expect(await ask('session:chat/runs/run_a/events', 'sessions:read:own')).toMatchObject({ startsAt: 'first' })
  })

  it("names the scope that allows another owner's session", async () => {
    const storage = createInMemoryStorage()
    const asking = createAuthorizeSubject(storage)(
      { subject: 'alice', scopes: ['sessions:read:own'] },
      'session:x/events',
    )

    await expect(asking).rejects.toMatchObject({ hint: 'use a token with the scope sessions:read:x' })
  })

  it('allows a session that its first run has not created yet', async () => {
    const ask = await setUp()

    expect(await ask('session:later/events', 'sessions:read')).toMatchObject({ stream: { sessionId: 'later' } })
  })

  it.each(['approvals/events', 'memory/events', 'memory/conflicts'])(
    'denies %s, which carries the rows of every owner, to a caller that may see only its own rows',
    async (subject) => {
      const ask = await setUp()

      expect(await ask(subject, 'approvals:read:own', 'memory:read:own')).toBe('scope-denied')
    },
  )
})

describe('createAuthorizeSubject for a run', () => {
  const RUNS = [aRun({ id: 'mine', owner: 'alice' }), aRun({ id: 'theirs', owner: 'bob' })]

  async function ask(runId: string, ...scopes: readonly string[]) {
    const storage = createInMemoryStorage()
    await storage.unitOfWork.commit(RUNS.map((run) => ({ type: 'run.insert', run }) as const))
    return createAuthorizeSubject(storage)({ subject: 'alice', scopes }, `agent:echo/runs/${runId}/events`).then(
      ({ stream }) => stream,
      ({ code, hint }: Refusal) => ({ code, hint }),
    )
  }

  it.each([
    ['mine', 'runs:read:own'],
    ['mine', 'runs:read:mine'],
    ['theirs', 'runs:read'],
    ['theirs', 'runs:read:theirs'],
    ['theirs', 'agents:read:echo'],
  ])('allows the run %s with the scope %s, like GET /runs/:runId', async (runId, scope) => {
    expect(await ask(runId, scope)).toEqual({ runId })
  })

  it.each(['runs:read:own', 'runs:read:mine', 'agents:read:other'])(
    'answers run-not-found for the run of another owner with the scope %s',
    async (scope) => {
      expect(await ask('theirs', scope)).toMatchObject({ code: 'run-not-found' })
      expect(await ask('none', scope)).toMatchObject({ code: 'run-not-found' })
    },
  )

  it('names the scopes that allow the run', async () => {
    const { hint } = (await ask('mine', 'agents:invoke')) as { hint: string }

    expect(hint).toContain('agents:read:echo')
    expect(hint).toContain('runs:read:mine')
  })
})

describe('canFollowAny', () => {
  it.each([
    [['agents:read'], true],
    [['agents:read:echo'], true],
    [['sessions:read:own'], true],
    [['audit:*'], true],
    [['approvals:read'], true],
    [['approvals:read:own', 'memory:read:own'], false],
    [['runs:read:own'], true],
    [['runs:read:run_a'], true],
    [['approvals:read:apr_a'], false],
    [['admin:*'], true],
    [['agents:invoke', 'tokens:read', 'traces:read:raw'], false],
    [[], false],
  ])('evaluates the scopes %j to %s', (scopes, expected) => {
    expect(canFollowAny({ subject: 'alice', scopes })).toBe(expected)
  })
})
