import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { findTool } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { startPostgres, type TestPostgres } from '../tooling/postgres-server.ts'
import { type Call, createCall, eventually } from './durable-server.ts'
import {
  createSandbox,
  createToken,
  perdure,
  type RunningServer,
  removeFolder,
  type Sandbox,
  startServer,
} from './perdure-process.ts'
import { followBySse, followByWebSocket } from './realtime-client.ts'
import { unpackFile } from './torture/golden.ts'

/** What a server of schema 25 left when it was killed while it executed `earlier-runs.config.mjs`. */
const LEFT = join(import.meta.dirname, 'golden/open-runs-25.db.gz')
const CONFIG = ['--config', join(import.meta.dirname, 'fixtures/earlier-runs.config.mjs')]

const DECIDED = { approved: true, reason: 'fine', payload: { n: 1 }, by: 'e2e' }
const APPROVED = { approved: true, by: 'e2e' }

function unpack(): Sandbox {
  // Nothing in the file may be too old.
  const sandbox = createSandbox({ PERDURE_RETENTION_EVENTS_DAYS: '36500' })
  onTestFinished(() => removeFolder(sandbox.dir))
  unpackFile(LEFT, sandbox.dir)
  return sandbox
}

interface Shown {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly type: string
  readonly runId: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly workflowId?: string
  readonly agentId?: string
  readonly threadId?: string
  readonly toolCallId?: string
  readonly budget?: object
  readonly result?: unknown
  readonly items: readonly Shown[]
}

async function serve(sandbox: Sandbox) {
  const token = await createToken(sandbox)
  const server = await startServer(sandbox, ['server', ...CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call: Call = createCall(() => server.url, token)
  const get = async (path: string) => (await call<Shown>('GET', path)).body
  const { items: runs } = await get('/runs?limit=100')
  const find = (name: string) =>
    runs.find(({ threadId, agentId }) => threadId === `thr-${name}` || agentId === name)?.id ?? ''
  return {
    ...{ server, token, call, get, find },
    result: (runId: string) =>
      eventually(async () => {
        const { status, result } = await get(`/runs/${runId}`)
        return { status, result }
      }),
    async decide(runId: string, approved: boolean) {
      const path = `/approvals?status=pending&runId=${runId}`
      await eventually(async () => (await get(path)).items.length).toBe(1)
      const { items } = await get(path)
      return call<Shown>('POST', `/approvals/${items[0]?.id}/resolve`, { body: { approved } })
    },
  }
}

type Served = Awaited<ReturnType<typeof serve>>

const completed = (result: unknown) => ({ status: 'completed', result })

/** Ends every run that the earlier server left open. */
async function endRuns({ call, get, find, result, decide }: Served, { dir }: Sandbox): Promise<void> {
  await result(find('sleeping')).toEqual(completed({ approved: false, reason: 'no', by: 'e2e' }))

  writeFileSync(join(dir, 'gate-open'), '')
  await result(find('working')).toEqual(completed(APPROVED))

  await decide(find('child'), true)
  await result(find('child')).toEqual(completed(APPROVED))
  await result(find('parent')).toEqual(completed({ child: APPROVED }))

  expect((await decide(find('pending'), true)).body).toMatchObject({ status: 'approved' })
  await eventually(async () => (await get(`/runs/${find('pending')}`)).status).toBe('suspended')
  await call('POST', '/events/go', { body: { payload: 2 } })
  await decide(find('decided'), false)
  await result(find('decided')).toEqual(
    completed({ first: DECIDED, payload: 2, second: { approved: false, by: 'e2e' } }),
  )
  await call('POST', '/events/go', { body: { payload: 2 } })
  await decide(find('pending'), true)
  await result(find('pending')).toEqual(completed({ first: APPROVED, payload: 2, second: APPROVED }))

  await decide(find('suspending'), true)
  await result(find('suspending')).toEqual(
    completed([
      { name: 'one', ...APPROVED, payload: [1] },
      { name: 'two', ...APPROVED },
    ]),
  )

  const { items } = await get(`/approvals?runId=${find('tooling')}`)
  const approvals = [{ toolCallId: items[0]?.toolCallId, approved: true }]
  await call('POST', `/runs/${find('tooling')}/resume`, { body: { approvals } })
  await result(find('tooling')).toEqual(completed({ ok: true, value: 'deleted' }))
}

/** Everything that the server says about the decisions of the earlier one. */
async function readDecisions({ server, token, call, get, find }: Served): Promise<void> {
  const { items: approved } = await get('/approvals?status=approved')
  expect(approved.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual([
    ...['early approved', 'first approved', 'first approved', 'one approved'],
  ])
  expect((await get('/approvals?status=denied')).items).toHaveLength(2)

  const run = find('decided')
  expect(await get(`/runs/${run}`)).toMatchObject({ budget: { toolCalls: 5, maxDuration: 60_000_000 } })
  const resolved = {
    type: 'approval.resolved',
    payload: expect.objectContaining({ decision: 'approved', answer: { n: 1 } }),
  }
  expect((await get(`/runs/${run}/events?limit=200`)).items).toContainEqual(expect.objectContaining(resolved))
  for (const follow of [followBySse, followByWebSocket]) {
    const { items } = await get(`/runs/${run}/events?limit=1&order=asc`)
    const follower = follow({
      ...{ url: () => server.url, token, subject: `workflow:deciding/runs/${run}/events`, path: `/runs/${run}/events` },
      lastEventId: (items[0] as unknown as { readonly eventId: string }).eventId,
    })
    await expect.poll(() => follower.received).toContainEqual(expect.objectContaining(resolved))
    await follower.stop()
  }

  const from = { seq: 3 }
  const fork = await call<Shown>('POST', `/runs/${find('done')}/fork`, { body: { from } })
  const waits = `/approvals?status=pending&runId=${fork.body.runId}`
  // Calls of earlier releases have not recorded what they asked, so that the fork asks again.
  for (const name of ['first', 'second']) {
    await eventually(async () => (await get(waits)).items.map((asked) => asked.name)).toEqual([name])
    const { items } = await get(waits)
    await call('POST', `/approvals/${items[0]?.id}/resolve`, { body: { approved: true } })
  }
  await eventually(async () => (await get(`/runs/${fork.body.runId}`)).result).toEqual({
    ...{ first: APPROVED, payload: 1, second: APPROVED },
  })
}

describe('the open runs of an earlier server', () => {
  it('are answered in the present words, and end when they are decided', async () => {
    const sandbox = unpack()
    const served = await serve(sandbox)

    await readDecisions(served)
    await endRuns(served, sandbox)
    expect((await served.call('POST', '/audit/verify', { body: {} })).body).toMatchObject({ ok: true })
  })

  it('end after a backup of the earlier server is restored', async () => {
    const sandbox = unpack()
    const backup = join(sandbox.dir, 'backup.db')
    copyFileSync(join(sandbox.dir, 'data.db'), backup)
    const other = createSandbox({ PERDURE_RETENTION_EVENTS_DAYS: '36500' })
    onTestFinished(() => removeFolder(other.dir))

    expect(await perdure(other, ['restore', backup, ...CONFIG])).toMatchObject({ code: 0 })
    await endRuns(await serve(other), other)
  })
})

let database: TestPostgres | undefined
beforeAll(async () => {
  if (findTool('postgres') !== undefined) database = await startPostgres()
})
afterAll(() => database?.remove())

/** The same sandbox with its storage in a schema. */
function onPostgres({ dir, env }: Sandbox): Sandbox {
  const { PERDURE_STORAGE_PATH: _, ...others } = env
  const storage = {
    PERDURE_STORAGE_KIND: 'postgres',
    PERDURE_STORAGE_URL_REF: 'env:E2E_MOVE_URL',
    PERDURE_STORAGE_SCHEMA: 'earlier',
    PERDURE_AUDIT_CHECKPOINT_PATH: join(dir, 'checkpoints'),
  }
  return { dir, env: { ...others, ...storage, E2E_MOVE_URL: database?.url } }
}

needsTool('postgres').describe('the open runs of an earlier server, moved to PostgreSQL', () => {
  it('are answered in the present words, and end when they are decided', async () => {
    const file = unpack()
    const schema = onPostgres(file)
    const stopped: RunningServer = await startServer(file, ['server', ...CONFIG])
    await stopped.kill('SIGTERM')
    const target = ['--from', 'data.db', '--to-url-ref', 'env:E2E_MOVE_URL', '--schema', 'earlier']
    const moving = { dir: file.dir, env: { ...file.env, E2E_MOVE_URL: database?.url } }

    expect(await perdure(moving, ['migrate', 'sqlite-to-postgres', ...target, ...CONFIG])).toMatchObject({ code: 0 })
    const served = await serve(schema)
    await readDecisions(served)
    await endRuns(served, schema)
    expect((await served.call('POST', '/audit/verify', { body: {} })).body).toMatchObject({ ok: true })
  })
})
