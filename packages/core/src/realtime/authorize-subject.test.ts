import { createInMemoryStorage } from '@berth/in-memory'
import { SUBJECTS } from '@berth/protocol'
import { aRun, aSession } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import { couldFollow, createAuthorizeSubject } from './authorize-subject.ts'

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
      return (error as { readonly id: string }).id
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
  ])('opens %s to %s', async (subject, scope, stream, startsAt, isComplete) => {
    const ask = await setUp()

    expect(await ask(subject, scope)).toEqual({ subject, stream, startsAt, isComplete })
  })

  it.each(Object.values(SUBJECTS).map(({ pattern }) => pattern.replace(/\{\w+\}/g, 'x')))(
    'refuses %s without its scope',
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
  ])('takes %j for no subject', async (subject) => {
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
  ])('does not find the run of %s', async (subject) => {
    const ask = await setUp()

    expect(await ask(subject, 'admin:*')).toBe('run-not-found')
  })

  it('shows a foreign session like one that is not there to who may see its own', async () => {
    const ask = await setUp()

    for (const session of ['foreign', 'none']) {
      expect(await ask(`session:${session}/events`, 'sessions:read:own')).toBe('scope-denied')
      expect(await ask(`session:${session}/runs/run_a/events`, 'sessions:read:own')).toBe('run-not-found')
    }
    expect(await ask('session:chat/runs/run_a/events', 'sessions:read:own')).toMatchObject({ startsAt: 'first' })
  })

  it('names the scope that would open a foreign session', async () => {
    const storage = createInMemoryStorage()
    const asking = createAuthorizeSubject(storage)(
      { subject: 'alice', scopes: ['sessions:read:own'] },
      'session:x/events',
    )

    await expect(asking).rejects.toMatchObject({ hint: 'the token needs the scope sessions:read:x' })
  })

  it('lets a session be followed before its first run creates it', async () => {
    const ask = await setUp()

    expect(await ask('session:later/events', 'sessions:read')).toMatchObject({ stream: { sessionId: 'later' } })
  })

  it.each(['approvals/events', 'memory/events', 'memory/conflicts'])(
    'does not open %s, which carries the rows of everybody, to who may see its own',
    async (subject) => {
      const ask = await setUp()

      expect(await ask(subject, 'approvals:read:own', 'memory:read:own')).toBe('scope-denied')
    },
  )
})

describe('couldFollow', () => {
  it.each([
    [['agents:read'], true],
    [['agents:read:echo'], true],
    [['sessions:read:own'], true],
    [['audit:*'], true],
    [['approvals:read'], true],
    [['approvals:read:own', 'memory:read:own', 'runs:read:own'], false],
    [['approvals:read:apr_a'], false],
    [['admin:*'], true],
    [['agents:invoke', 'tokens:read', 'traces:read:raw'], false],
    [[], false],
  ])('says of %j %s', (scopes, expected) => {
    expect(couldFollow({ subject: 'alice', scopes })).toBe(expected)
  })
})
