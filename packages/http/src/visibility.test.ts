import { isGrantable, OPERATIONS, type Operation } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { post } from './app.fixture.ts'
import { toRequest } from './operation-request.fixture.ts'
import { sampleOf } from './sample.fixture.ts'
import { createOwnersApp } from './visibility.fixture.ts'

/** Body members that refer to a row. */
const ROW_MEMBERS = ['threadId', 'sessionId', 'runId']

const WRITES = OPERATIONS.filter(({ method, refused }) => method !== 'GET' && !refused)

/** Operations on the rows of all owners: a traces scope covers every run, and the consolidator runs for every owner. */
const OF_EVERYBODY = ['runs.replay', 'sessions.replay', 'consolidator.run']

/** Writes that can refer to another owner's row, by path parameter or body member. */
const CHANGES_ROWS = WRITES.filter(
  (operation) =>
    !OF_EVERYBODY.includes(operation.id) && (operation.path.includes('/:') || rowMembers(operation).length > 0),
)

/** Each row member by itself, so that the refusal of one does not hide another. */
const CASES = CHANGES_ROWS.flatMap((operation) => {
  const members = rowMembers(operation)
  return (members.length === 0 ? [undefined] : members).map((member) => [operation.id, member, operation] as const)
})

/** The scopes that admit the caller: `:own` where the grammar has it, otherwise unrestricted. */
function writeScopes({ scope, changesNothing }: Operation): readonly string[] {
  const rules = typeof scope === 'string' && scope.includes(':') ? [scope] : []
  const named = scope !== null && typeof scope === 'object' && 'anyOf' in scope ? scope.anyOf : rules
  // A request that needs no scope is sent with a token all the same.
  if (named.length === 0) return ['runs:read:own']
  const bare = named.map((rule) => rule.split(':', 2).join(':'))
  const own = bare.filter((one) => isGrantable(`${one}:own`)).map((one) => `${one}:own`)
  // The scopes of a read that have no `:own` show the rows of all owners.
  if (changesNothing === true && own.length > 0) return own
  return bare.map((one) => (isGrantable(`${one}:own`) ? `${one}:own` : one))
}

async function setUp(credential?: 'token' | 'jwt') {
  const made = await createOwnersApp(credential)
  const call = (token: string, row: RowRef) => made.send(token, requestFor(row))
  return { ...made, call }
}

interface RowRef {
  readonly operation: Operation
  readonly member: string | undefined
  readonly id: string
}

function requestFor({ operation, member, id }: RowRef): Request {
  const sample = sampleOf(operation.body) as Record<string, unknown>
  const body = member === undefined ? undefined : JSON.stringify({ ...sample, [member]: id })
  const request = toRequest(operation, { id, body })
  return new Request(request.url.replace(/(\/workflows\/)[^/?]+/, '$1steps'), request)
}

function rowMembers(operation: Operation): readonly string[] {
  return memberNames(operation).filter((name) => ROW_MEMBERS.includes(name))
}

function memberNames({ body }: Operation): readonly string[] {
  return body !== undefined && 'entries' in body ? Object.keys(body.entries as object) : []
}

describe('a row that the caller may not see', () => {
  it.each((['token', 'jwt'] as const).flatMap((credential) => CASES.map((one) => [credential, ...one] as const)))(
    'is not changed with a %s by %s (member %s), which gives the same answer as for a missing row',
    async (credential, _, member, operation) => {
      const { call, mint, rowsOf } = await setUp(credential)
      const before = await rowsOf('bob')
      const token = await mint(...writeScopes(operation))

      const missing = await call(token, { operation, member, id: 'not-there' })
      const foreign = await call(token, { operation, member, id: 'of-bob' })

      expect(foreign.status).not.toBe(401)
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
