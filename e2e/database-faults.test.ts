import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSession } from '../packages/postgres/src/connection/session.ts'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { startPostgres, type TestPostgres } from '../tooling/postgres-server.ts'
import { bearer, createSandbox, createToken, OPS_CONFIG, type Sandbox, startServer } from './perdure-process.ts'
import { followBySse } from './realtime-client.ts'

interface Asked {
  readonly key?: string
  readonly body?: unknown
}

/** Starts a server on a database of its own, with a gate that its runs wait for. */
async function startOn(database: TestPostgres) {
  const base = createSandbox({ E2E_DATABASE_URL: database.url, PERDURE_STORAGE_COMMIT_WAIT_MS: '500' })
  const gate = join(base.dir, 'gate')
  const sandbox: Sandbox = { ...base, env: { ...base.env, E2E_GATE: gate } }
  const token = await createToken(sandbox)
  const server = await startServer(sandbox, ['server', '--config', OPS_CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call = async (method: string, path: string, { key, body }: Asked = {}) => {
    const headers = { ...bearer(token), ...(key === undefined ? {} : { 'idempotency-key': key }) }
    const response = await fetch(server.url + path, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const json = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: json }
  }
  const statusOf = async (path: string) => (await call('GET', path)).status
  return { server, token, call, statusOf, openGate: () => writeFileSync(gate, ''), dir: base.dir }
}

/** Moves everything that the database will store to a disk of 64 MiB; the log of the database stays where it is. */
async function useSmallDisk(database: TestPostgres, path: string): Promise<void> {
  mkdirSync(path)
  execFileSync(toolPath('mount'), ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', path])
  onTestFinished(() => void execFileSync(toolPath('umount'), ['--lazy', path]))
  chmodSync(dirname(path), 0o755)
  const folder = join(path, 'tables')
  mkdirSync(folder, { mode: 0o700 })
  const { uid, gid } = statSync(database.socketFolder)
  chownSync(folder, uid, gid)
  const session = await openSession(
    { url: database.url, schema: 'public', statementTimeoutMs: 60_000, pipeline: false },
    { name: 'test', planning: 'default' },
  )
  await session.execute({ text: `create tablespace small location '${folder}'`, values: [] })
  await session.execute({ text: 'alter database postgres set default_tablespace = small', values: [] })
  await session.close()
}

needsTool('postgres').describe('a server whose database fails', () => {
  it('refuses work with 503 during an outage, keeps its runs and streams, and goes on afterwards', async () => {
    const database = await startPostgres()
    onTestFinished(database.remove)
    const { server, token, call, statusOf, openGate } = await startOn(database)
    const { body } = await call('POST', '/agents/gated/stream', { body: {} })
    const path = `/runs/${body?.runId}/events`
    const follower = followBySse({ url: () => server.url, token, subject: `runs:${body?.runId}`, path })
    await follower.following

    database.stop('fast')
    const refused = await call('POST', '/agents/echo/run', { key: 'late', body: { input: 1 } })
    const read = await call('GET', `/runs/${body?.runId}`)
    await expect.poll(() => statusOf('/health/ready')).toBe(503)
    const health = await call('GET', '/health')
    openGate()

    expect(refused).toMatchObject({ status: 503, body: { error: 'storage-unavailable' } })
    expect(Number(refused.retryAfter)).toBeGreaterThan(0)
    expect(read).toMatchObject({ status: 503, body: { error: 'storage-unavailable' } })
    expect(health).toMatchObject({ status: 503, body: { status: 'failing', checks: { storage: { status: 'fail' } } } })
    expect(await statusOf('/health/live')).toBe(200)

    await database.start()
    await expect.poll(() => statusOf('/health/ready')).toBe(200)
    expect(await call('POST', '/agents/echo/run', { key: 'late', body: { input: 1 } })).toMatchObject({ status: 200 })
    await expect.poll(() => follower.received.at(-1)).toMatchObject({ type: 'run.completed' })
    expect(follower.connections()).toBe(1)
    await follower.stop()
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  needsTool('mount').it(
    'refuses work with 503 while the disk of the database is full, serves reads, and goes on afterwards',
    async () => {
      const database = await startPostgres()
      onTestFinished(database.remove)
      const disk = join(createSandbox().dir, 'disk')
      await useSmallDisk(database, disk)
      const { server, call, openGate } = await startOn(database)
      const gated = await call('POST', '/agents/gated/stream', { body: {} })
      // PostgreSQL would compress a text that repeats itself.
      const run = () => call('POST', '/agents/echo/run', { body: { input: randomBytes(100_000).toString('hex') } })
      const first = await run()
      const filler = join(disk, 'filler')
      const fill = () => writeFileSync(filler, Buffer.alloc(64 * 1024 * 1024))

      expect(fill).toThrow('ENOSPC')
      await expect.poll(run).toMatchObject({ status: 503, retryAfter: '30', body: { error: 'storage-full' } })
      expect(await call('GET', `/runs/${first.body?.runId}`)).toMatchObject({ body: { status: 'completed' } })
      openGate()

      rmSync(filler)
      await expect.poll(run).toMatchObject({ status: 200 })
      const statusOfGated = async () => (await call('GET', `/runs/${gated.body?.runId}`)).body?.status
      await expect.poll(statusOfGated).toBe('completed')
      expect((await call('POST', '/audit/verify', { body: {} })).body).toMatchObject({ ok: true })
      expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    },
  )
})
