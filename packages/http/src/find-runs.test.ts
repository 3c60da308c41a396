import { OPERATIONS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createTestApp, get, post } from './app.fixture.ts'

const KEY = 'order-17'
const EARLIER = '/runs/:runId'

/** A request for each operation that starts a run. */
const STARTS: Readonly<Record<string, readonly [path: string, body?: object]>> = {
  'agents.run': ['/agents/echo/run', { input: 1 }],
  'agents.stream': ['/agents/echo/stream', { input: 1 }],
  'workflows.execute': ['/workflows/steps/execute', {}],
  'runs.fork': [`${EARLIER}/fork`, { from: 'start' }],
  'runs.retry': [`${EARLIER}/retry`, {}],
  'runs.rerun': [`${EARLIER}/rerun`, {}],
  'triggers.fire': ['/triggers/beat/fire', {}],
}

const BEAT = { id: 'beat', kind: 'interval', intervalMs: 60_000, target: { agentId: 'echo' }, enabled: false }

interface Listed {
  readonly id: string
}

async function setUp() {
  const { app, manage, clock } = createTestApp({ auth: 'token' })
  const tokenOf = async (subject: string, ...scopes: string[]) =>
    (await manage.mint({ name: subject, scopes, subject }, 'test')).token
  const all = ['agents:invoke', 'workflows:execute', 'runs:read', 'triggers:write', 'triggers:fire']
  const alice = await tokenOf('alice', ...all)
  const bob = await tokenOf('bob', ...all)
  const narrow = await tokenOf('carol', 'runs:read:own')
  await app.fetch(post('/triggers', BEAT, bearer(alice)))
  const earlier = await bodyOf(await app.fetch(post('/agents/echo/run', {}, bearer(alice))))
  const start = async (token: string, operationId: string, key = KEY) => {
    const [path, body] = STARTS[operationId] ?? ['/']
    const target = path.replace(':runId', String(earlier.runId))
    const response = await app.fetch(post(target, body, { ...bearer(token), 'Idempotency-Key': key }))
    expect(response.ok, await response.clone().text()).toBe(true)
    const location = response.headers.get('location')
    return location?.split('/').at(-1) ?? String((await bodyOf(response)).runId)
  }
  const list = async (token: string, query = `idempotencyKey=${KEY}`) => {
    const { items } = await bodyOf(await app.fetch(get(`/runs?${query}`, bearer(token))))
    return (items as Listed[]).map(({ id }) => id)
  }
  return { alice, bob, narrow, start, list, clock }
}

describe('GET /runs?idempotencyKey', () => {
  it('has a case for every operation that starts a run', () => {
    const starting = OPERATIONS.filter(({ idempotent, responses }) => idempotent && responses[202]?.location === true)

    expect(
      starting
        .map(({ id }) => id)
        .filter((id) => id !== 'workflows.resume')
        .toSorted(),
    ).toEqual(Object.keys(STARTS).toSorted())
  })

  it.each(Object.keys(STARTS))('lists the run that %s started under the key', async (operationId) => {
    const { alice, bob, narrow, start, list } = await setUp()
    const started = await start(alice, operationId)
    const other = await start(alice, operationId, 'order-18')

    expect(other).not.toBe(started)
    expect(await start(alice, operationId)).toBe(started)
    expect(await list(alice)).toEqual([started])
    expect(await list(bob)).toEqual([])
    expect(await list(narrow)).toEqual([])
    expect(await list(narrow, `idempotencyKey=${KEY}&owner=alice`)).toEqual([])
  })

  it('lists the runs of the key of the owner that the filter names', async () => {
    const { alice, bob, start, list } = await setUp()
    const started = await start(alice, 'agents.run')
    const ofBob = await start(bob, 'agents.run')

    expect(await list(bob, `idempotencyKey=${KEY}&owner=alice`)).toEqual([started])
    expect(await list(bob)).toEqual([ofBob])
  })

  it('lists nothing once the key has expired', async () => {
    const { alice, start, list, clock } = await setUp()
    await start(alice, 'agents.run')
    await start(alice, 'runs.rerun')
    clock.advance(86_400_000)

    expect(await list(alice)).toEqual([])
  })
})

describe('GET /sessions', () => {
  it('lists the visible sessions that match every filter', async () => {
    const { app, manage } = createTestApp({ auth: 'token' })
    const scopes = ['sessions:write', 'sessions:read:own']
    const tokenOf = async (subject: string) => (await manage.mint({ name: 'm', scopes, subject }, 'test')).token
    const [alice, bob] = [await tokenOf('alice'), await tokenOf('bob')]
    const create = (token: string, body: object) => app.fetch(post('/sessions', body, bearer(token)))
    await create(alice, { id: 'a', userId: 'ada', agentId: 'echo', metadata: { ticket: '17' } })
    await create(alice, { id: 'b', userId: 'ada', metadata: { ticket: '18' } })
    await create(bob, { id: 'c', userId: 'ada', agentId: 'echo', metadata: { ticket: '17' } })
    const list = async (query: string) => {
      const { items } = await bodyOf(await app.fetch(get(`/sessions?order=asc&${query}`, bearer(alice))))
      return (items as Listed[]).map(({ id }) => id)
    }

    expect(await list('')).toEqual(['a', 'b'])
    expect(await list('userId=ada')).toEqual(['a', 'b'])
    expect(await list('agentId=echo')).toEqual(['a'])
    expect(await list('metadata.ticket=18')).toEqual(['b'])
    expect(await list('metadata.ticket=17&userId=ada&agentId=echo')).toEqual(['a'])
    expect(await list('metadata.ticket=19')).toEqual([])
  })
})
