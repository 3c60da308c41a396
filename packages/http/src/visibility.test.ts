import type { Visibility } from '@perdure/ports'
import { isGrantable, OPERATIONS, type Operation } from '@perdure/protocol'
import { aBlock, aFact, aMemoryConflict, anApproval, aRun, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createTestApp, post } from './app.fixture.ts'
import { toRequest } from './operation-request.fixture.ts'
import { sampleOf } from './sample.fixture.ts'

/** Body members that refer to a row. */
const ROW_MEMBERS = ['threadId', 'sessionId', 'runId']

const WRITES = OPERATIONS.filter(({ method, refused }) => method !== 'GET' && !refused)

/** Operations on the rows of all owners: a traces scope covers every run, and the consolidator runs for every owner. */
const OF_EVERYBODY = ['runs.replay', 'sessions.replay', 'consolidator.run']

/** Writes that can refer to another owner's row, by path parameter or body member. */
const CHANGES_ROWS = WRITES.filter(
  (operation) =>
    !OF_EVERYBODY.includes(operation.id) &&
    (operation.path.includes('/:') || memberNames(operation).some((name) => ROW_MEMBERS.includes(name))),
)

const byId = (operation: Operation) => [operation.id, operation] as const

/** The scopes that admit the caller: `:own` where the grammar has it, otherwise unrestricted. */
function writeScopes({ scope }: Operation): readonly string[] {
  const rules = typeof scope === 'string' && scope.includes(':') ? [scope] : []
  const named = scope !== null && typeof scope === 'object' && 'anyOf' in scope ? scope.anyOf : rules
  return named.map((rule) => {
    const bare = rule.split(':', 2).join(':')
    return isGrantable(`${bare}:own`) ? `${bare}:own` : bare
  })
}

async function setUp() {
  const made = createTestApp({ auth: 'token', config: { perIpRequests: 1_000_000 } })
  const { app, manage, storage, clock } = made
  for (const owner of ['alice', 'bob']) {
    const [id, waiting, done, thread] = [`of-${owner}`, `paused-${owner}`, `done-${owner}`, `flow-${owner}`]
    const flow = { kind: 'workflow', targetId: 'steps', status: 'suspended' } as const
    const outcome = await storage.unitOfWork.commit([
      { type: 'session.insert', session: aSession({ id, owner }) },
      { type: 'run.insert', run: aRun({ id, owner, status: 'running', targetId: 'echo' }) },
      { type: 'run.insert', run: aRun({ id: waiting, owner, status: 'suspended', targetId: 'echo' }) },
      { type: 'run.insert', run: aRun({ id: done, owner, status: 'completed', targetId: 'echo' }) },
      { type: 'run.insert', run: aRun({ id: thread, owner, threadId: id, ...flow }) },
      { type: 'approval.insert', approval: anApproval({ id, owner, runId: waiting }) },
      { type: 'fact.insert', fact: aFact({ id, owner }) },
      { type: 'block.put', block: aBlock({ id, owner, label: id }) },
      { type: 'conflict.open', conflict: aMemoryConflict({ id, owner, factIds: [id, `other-${id}`] }) },
    ])
    expect(outcome).toMatchObject({ committed: true })
  }

  const mint = async (...scopes: string[]) => (await manage.mint({ name: 'm', scopes, subject: 'alice' }, 'test')).token

  const send = async (token: string, request: Request) => {
    const response = await app.fetch(new Request(request, { headers: { ...headersOf(request), ...bearer(token) } }))
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const { requestId: _, ...body } = isJson ? await bodyOf(response) : {}
    return { status: response.status, body }
  }

  const call = (token: string, operation: Operation, id: string) => send(token, requestFor(operation, id))

  /** All stored rows of an owner. */
  const rowsOf = async (owner: string) => {
    const seen: Visibility = { owner }
    const page = { limit: 200, order: 'asc' } as const
    return JSON.stringify([
      await storage.runs.list({}, page, seen),
      await storage.sessions.list(page, seen),
      await storage.approvals.list({}, page, seen),
      await storage.facts.list({ visibility: seen, now: clock.now() }, page),
      await storage.blocks.list(undefined, page, seen),
      await storage.memoryConflicts.list(undefined, page, seen),
    ])
  }
  return { ...made, mint, send, call, rowsOf }
}

function requestFor(operation: Operation, id: string): Request {
  const named = memberNames(operation).filter((name) => ROW_MEMBERS.includes(name))
  const sample = sampleOf(operation.body) as Record<string, unknown>
  const given = Object.fromEntries(named.map((name) => [name, id]))
  const body = named.length === 0 ? undefined : JSON.stringify({ ...sample, ...given })
  const request = toRequest(operation, { id, body })
  return new Request(request.url.replace(/(\/workflows\/)[^/?]+/, '$1steps'), request)
}

function memberNames({ body }: Operation): readonly string[] {
  return body !== undefined && 'entries' in body ? Object.keys(body.entries as object) : []
}

const headersOf = (request: Request) => Object.fromEntries(request.headers)

describe('a row that the caller may not see', () => {
  it.each(CHANGES_ROWS.map(byId))(
    'is not changed by %s, which gives the same answer as for a missing row',
    async (_, operation) => {
      const { call, mint, rowsOf } = await setUp()
      const before = await rowsOf('bob')
      const token = await mint(...writeScopes(operation))

      const missing = await call(token, operation, 'not-there')
      const foreign = await call(token, operation, 'of-bob')

      expect(await rowsOf('bob')).toBe(before)
      // Some operations create the row if its id is free; for another owner's row they answer the same or 404.
      if (missing.status >= 400) expect(foreign).toEqual(missing)
      else expect([missing.status, 404], JSON.stringify(foreign)).toContain(foreign.status)
    },
  )

  it.each(['of-bob', 'paused-bob', 'done-bob', 'flow-bob'])('cannot be aborted or resumed: %s', async (id) => {
    const { send, mint } = await setUp()
    const token = await mint('agents:invoke', 'workflows:execute', 'runs:read:own')

    for (const verb of ['abort', 'resume']) {
      const [missing, foreign] = [
        await send(token, post(`/runs/not-there/${verb}`, {})),
        await send(token, post(`/runs/${id}/${verb}`, {})),
      ]
      expect(missing).toMatchObject({ status: 404, body: { error: 'run-not-found' } })
      expect(foreign).toEqual(missing)
    }
  })

  it('cannot be used as the thread of a new run', async () => {
    const { send, mint, rowsOf } = await setUp()
    const token = await mint('workflows:execute')
    const execute = (threadId: string) => send(token, post('/workflows/steps/execute', { threadId }))

    expect(await execute('of-bob')).toMatchObject({ status: 404, body: { error: 'thread-not-found' } })
    expect(await rowsOf('alice')).not.toContain('"threadId":"of-bob"')
    expect(await execute('of-alice')).toMatchObject({ status: 409, body: { error: 'agent-busy' } })
    expect(await execute('new')).toMatchObject({ status: 202 })
  })
})

describe('a row that the caller may see', () => {
  const ACTING = ['agents:invoke', 'workflows:execute', 'workflows:resume', 'workflows:delete']

  it.each([
    ['its own row, without a read scope', 'alice', []],
    ["another owner's row, with runs:read", 'bob', ['runs:read']],
    ["another owner's row, with read scopes for its target", 'bob', ['agents:read:echo', 'workflows:read:steps']],
    ["another owner's row, with read scopes for the run", 'bob', ['runs:read:of-bob', 'runs:read:flow-bob']],
  ])('can be changed: %s', async (_, owner, reading) => {
    const { send, mint } = await setUp()
    const token = await mint(...ACTING, ...reading)
    const thread = { threadId: `of-${owner}` }

    expect(await send(token, post(`/runs/of-${owner}/abort`, {}))).toMatchObject({ body: { status: 'aborted' } })
    expect(await send(token, post(`/runs/flow-${owner}/resume`, {}))).toMatchObject({ status: 409 })
    expect(await send(token, post('/workflows/steps/resume', thread))).toMatchObject({ status: 409 })
    expect(await send(token, post('/workflows/steps/execute', thread))).toMatchObject({ status: 409 })
    const url = post(`/workflows/steps/threads/of-${owner}`).url
    expect(await send(token, new Request(url, { method: 'DELETE' }))).toMatchObject({ status: 204 })
  })

  it('cannot be changed without the scope for its target, and the hint names that scope', async () => {
    const { send, mint, rowsOf } = await setUp()
    const before = await rowsOf('bob')
    const token = await mint('runs:read', 'agents:invoke:other')

    for (const [path, scope] of [
      ['/runs/of-bob/abort', 'agents:invoke:echo'],
      ['/runs/paused-bob/resume', 'agents:invoke:echo'],
      ['/runs/flow-bob/abort', 'workflows:execute:steps'],
    ] as const) {
      const { status, body } = await send(token, post(path, {}))
      expect({ status, ...body }).toMatchObject({
        status: 403,
        error: 'scope-denied',
        hint: expect.stringContaining(scope),
      })
    }
    expect(await rowsOf('bob')).toBe(before)
  })

  it('is aborted by agents.abort, unlike rows that the caller may not see', async () => {
    const { send, mint } = await setUp()
    const abort = async (...scopes: string[]) =>
      (await send(await mint('agents:invoke:echo', ...scopes), post('/agents/echo/abort', {}))).body.aborted

    expect(await abort()).toEqual(['of-alice', 'paused-alice'])
    expect(await abort('runs:read:paused-bob')).toEqual(['paused-bob'])
    expect(await abort('agents:read:echo')).toEqual(['of-bob'])
  })
})
