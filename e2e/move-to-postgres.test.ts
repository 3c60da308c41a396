import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { applyMigrations } from '../packages/postgres/src/connection/migrate.ts'
import { openSession, type Session } from '../packages/postgres/src/connection/session.ts'
import { findTool } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { startPostgres, type TestPostgres } from '../tooling/postgres-server.ts'
import {
  BINARY,
  bearer,
  createSandbox,
  createToken,
  LEDGER_CONFIG,
  perdure,
  type RunningServer,
  removeFolder,
  type Sandbox,
  startServer,
} from './perdure-process.ts'
import { followBySse } from './realtime-client.ts'
import { storedRows, storeRuns } from './stored-runs.ts'

/** How many stored runs the moved file has besides those of the test; a recorded request for each hundred of them. */
const RUNS = Number(process.env.E2E_MOVE_RUNS ?? 0)

const CONFIG = ['--config', LEDGER_CONFIG]
const SCHEMA = 'moved'

let database: TestPostgres | undefined
beforeAll(async () => {
  if (findTool('postgres') !== undefined) database = await startPostgres()
})
afterAll(() => database?.remove())

interface Places {
  /** A server on the database file. */
  readonly file: Sandbox
  /** The same server on the schema. */
  readonly schema: Sandbox
  readonly path: string
}

function createPlaces(schema: string): Places {
  const audit = (dir: string) => ({
    PERDURE_AUDIT_ENABLED: 'true',
    ...(RUNS > 0 ? { PERDURE_AUDIT_EVENTS: 'all' } : {}),
    PERDURE_AUDIT_CHECKPOINT_PATH: join(dir, 'checkpoints'),
    E2E_AUDIT: 'audit secret',
    E2E_MOVE_URL: database?.url,
  })
  const file = createSandbox()
  onTestFinished(() => removeFolder(file.dir))
  const path = join(file.dir, 'data.db')
  const auditFile = { PERDURE_AUDIT_PATH: join(file.dir, 'audit.db'), PERDURE_AUDIT_PASSPHRASE_REF: 'env:E2E_AUDIT' }
  const { PERDURE_STORAGE_PATH: _, ...env } = file.env
  const postgres = {
    PERDURE_STORAGE_KIND: 'postgres',
    PERDURE_STORAGE_URL_REF: 'env:E2E_MOVE_URL',
    PERDURE_STORAGE_SCHEMA: schema,
  }
  return {
    file: { dir: file.dir, env: { ...file.env, ...audit(file.dir), ...auditFile } },
    schema: { dir: file.dir, env: { ...env, ...audit(file.dir), ...postgres } },
    path,
  }
}

const moveArguments = (schema: string) => [
  ...['migrate', 'sqlite-to-postgres', '--from', 'data.db', '--audit-from', 'audit.db'],
  ...['--to-url-ref', 'env:E2E_MOVE_URL', '--schema', schema, '--json', ...CONFIG],
]

async function start(sandbox: Sandbox): Promise<RunningServer> {
  const server = await startServer(sandbox, ['server', ...CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  return server
}

interface Asked {
  readonly token: string
  readonly key?: string
  readonly body?: unknown
}

async function ask(server: RunningServer, path: string, { token, key, body }: Asked) {
  const headers = { ...bearer(token), ...(key === undefined ? {} : { 'idempotency-key': key }) }
  const options = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(server.url + path, options)
  const isReplayed = response.headers.get('idempotency-replayed') === 'true'
  return { status: response.status, isReplayed, text: await response.text() }
}

/** Follows a run from the given event on until it has ended. */
async function eventsAfter(server: RunningServer, runId: string, { token, after }: { token: string; after?: string }) {
  const follower = followBySse({
    ...{ url: () => server.url, token, subject: `runs:${runId}`, path: `/runs/${runId}/events` },
    ...(after === undefined ? {} : { lastEventId: after }),
  })
  await expect.poll(() => follower.received.at(-1)).toMatchObject({ type: 'run.completed' })
  await follower.stop()
  return follower.received
}

interface Moved {
  readonly code: number | null
  readonly stdout: string
  readonly seconds: number
  /** The most memory that the command has used. */
  readonly mebibytes: number
}

async function move(sandbox: Sandbox, schema: string): Promise<Moved> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [BINARY, ...moveArguments(schema)], {
    ...{ env: sandbox.env, cwd: sandbox.dir, stdio: ['ignore', 'pipe', 'inherit'] },
  })
  let stdout = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  let mebibytes = 0
  const measuring = setInterval(() => {
    const [, kibibytes = 0] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    mebibytes = Math.max(mebibytes, Number(kibibytes) / 1_024)
  }, 100)
  child.once('exit', () => clearInterval(measuring))
  const [code] = await once(child, 'close')
  return { code, stdout, seconds: (performance.now() - startedAt) / 1_000, mebibytes }
}

interface MovedTable {
  readonly name: string
  readonly rows: number
  readonly sha256: string
}

/** The number of rows of each table in the schema. */
async function countRows(schema: string, tables: readonly MovedTable[]): Promise<readonly number[]> {
  const server = { url: database?.url ?? '', schema, statementTimeoutMs: 600_000, pipeline: false }
  const session = await openSession(server, { name: 'test', planning: 'default' })
  const counts: number[] = []
  for (const { name } of tables) {
    const { rows } = await session.execute({ text: `select count(*) as "count" from "${name}"`, values: [] })
    counts.push((rows[0] as { count: number }).count)
  }
  await session.close()
  return counts
}

const ledgerRun = (server: RunningServer, token: string, key: string) =>
  ask(server, '/agents/ledger/run', { token, key, body: { input: { name: key, number: 4 } } })

/** Keeps other connections from changing a table of the schema until the session is closed. */
async function lockTable(schema: string, table: string): Promise<Session> {
  const server = { url: database?.url ?? '', schema, statementTimeoutMs: 60_000, pipeline: false }
  const session = await openSession(server, { name: 'test', planning: 'default' })
  // The table must exist to be locked.
  await applyMigrations(session, { schema, now: () => 0 })
  for (const text of [
    'set idle_in_transaction_session_timeout = 0',
    'begin',
    `lock table "${table}" in exclusive mode`,
  ])
    await session.execute({ text, values: [] })
  return session
}

async function untilItWaits(session: Session, table: string): Promise<void> {
  const text = 'select count(*) as "count" from pg_locks where not granted and relation = $1::regclass'
  await expect.poll(async () => (await session.execute({ text, values: [table] })).rows).toEqual([{ count: 1 }])
}

type Moment = 'copying' | 'opening the schema'

/** Kills the command while it waits for a locked table: in the middle of the copy, or after it has marked the file. */
async function killWhile(moment: Moment, sandbox: Sandbox, schema: string): Promise<void> {
  const events = await lockTable(schema, 'events')
  const child = spawn(process.execPath, [BINARY, ...moveArguments(schema)], {
    ...{ env: sandbox.env, cwd: sandbox.dir, stdio: 'ignore' },
  })
  await untilItWaits(events, 'events')
  const meta = await lockTable(schema, 'meta')
  if (moment === 'opening the schema') {
    await events.close()
    await untilItWaits(meta, 'meta')
  }
  child.kill('SIGKILL')
  await once(child, 'exit')
  await Promise.all([events.close(), meta.close()])
}

needsTool('postgres').describe('perdure migrate sqlite-to-postgres', () => {
  it('lets clients continue with their tokens, keys and cursors on PostgreSQL', async () => {
    const { file, schema, path } = createPlaces(SCHEMA)
    if (RUNS > 0) await storeRuns(path, RUNS)
    const token = await createToken(file)
    const onFile = await start(file)
    for (let n = 0; n < RUNS / 100; n++) {
      await ask(onFile, '/tokens', { token })
    }
    const first = await ledgerRun(onFile, token, 'first')
    const session = await ask(onFile, '/sessions', { token, key: 'session', body: { title: 'kept' } })
    const minted = await ask(onFile, '/tokens', { token, body: { name: 'second', scopes: ['admin:*'] } })
    const second = JSON.parse(minted.text).token as string
    const streamed = await ask(onFile, '/agents/stream/run', { token, body: { input: { count: 20 } } })
    const { runId } = JSON.parse(streamed.text)
    const events = await eventsAfter(onFile, runId, { token })
    const [, , , seen] = events
    await onFile.kill('SIGTERM')

    const bytes = statSync(path).size
    const { code, stdout, seconds, mebibytes } = await move(file, SCHEMA)
    expect(code).toBe(0)
    const report = JSON.parse(stdout).moved
    expect(report).toMatchObject([{ schema: SCHEMA }, { schema: `${SCHEMA}_audit` }])
    expect(report[0].auditEntries + report[1].auditEntries).toBeGreaterThan(3 + RUNS / 100)
    const tables: readonly MovedTable[] = report[0].tables
    expect(await countRows(SCHEMA, tables)).toEqual(tables.map(({ rows }) => rows))
    if (RUNS > 0) {
      console.table(tables.map(({ name, rows, sha256 }) => ({ name, rows, sha256: sha256.slice(0, 16) })))
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      const entries = report.map(({ auditEntries }: { readonly auditEntries: number }) => auditEntries)
      console.log(JSON.stringify({ bytes, rows, entries, seconds, mebibytes }))
      for (const [name, count] of Object.entries(storedRows(RUNS))) {
        expect(tables.find((table) => table.name === name)?.rows, name).toBeGreaterThanOrEqual(count)
      }
    }

    const onSchema = await start(schema)
    expect(await ledgerRun(onSchema, token, 'first')).toEqual({ ...first, isReplayed: true })
    const again = await ask(onSchema, '/sessions', { token, key: 'session', body: { title: 'kept' } })
    expect(again).toEqual({ ...session, isReplayed: true })
    expect(await ask(onSchema, `/runs/${runId}`, { token: second })).toMatchObject({ status: 200 })
    const after = seen?.kind === 'event' ? seen.eventId : ''
    expect(await eventsAfter(onSchema, runId, { token, after })).toEqual(events.slice(4))

    const next = await ledgerRun(onSchema, second, 'next')
    expect(next).toMatchObject({ status: 200, isReplayed: false })
    const ids = (await eventsAfter(onSchema, JSON.parse(next.text).runId, { token })).map((one) =>
      one.kind === 'event' ? Number(one.eventId.split('.')[1]) : 0,
    )
    expect(Math.min(...ids)).toBeGreaterThan(Number(after.split('.')[1]) + 16)
    const verified = await perdure(schema, ['audit', 'verify', '--url', onSchema.url, '--token', token, '--json'])
    expect(verified).toMatchObject({ code: 0 })
    await onSchema.kill('SIGTERM')

    await expect(start(file)).rejects.toThrow(/exited with 2[\s\S]*storage-moved/)
    expect(await perdure(file, ['token', 'list', ...CONFIG])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('storage-moved'),
    })
  })

  it('leaves nothing that a server opens on PostgreSQL when it is killed half way, and can be repeated', async () => {
    const name = `${SCHEMA}_killed`
    const { file, schema } = createPlaces(name)
    const token = await createToken(file)
    const onFile = await start(file)
    const first = await ledgerRun(onFile, token, 'first')
    await onFile.kill('SIGTERM')

    await killWhile('copying', file, name)

    await expect(start(schema)).rejects.toThrow(/exited with 2[\s\S]*storage-incomplete/)
    const onFileAgain = await start(file)
    const meanwhile = await ledgerRun(onFileAgain, token, 'meanwhile')
    expect((await perdure(file, moveArguments(name))).stderr).toContain('storage-locked')
    await onFileAgain.kill('SIGTERM')
    await killWhile('copying', file, name)

    expect(await perdure(file, moveArguments(name))).toMatchObject({ code: 0 })
    const onSchema = await start(schema)
    expect(await ledgerRun(onSchema, token, 'first')).toEqual({ ...first, isReplayed: true })
    expect(await ledgerRun(onSchema, token, 'meanwhile')).toEqual({ ...meanwhile, isReplayed: true })
    await expect(start(file)).rejects.toThrow('storage-moved')
    expect(await perdure(file, moveArguments(name))).toMatchObject({ code: 0 })
  })

  it('leaves nothing that any server opens when it is killed between the file and the schema', async () => {
    const name = `${SCHEMA}_between`
    const { file, schema } = createPlaces(name)
    const token = await createToken(file)
    const onFile = await start(file)
    const first = await ledgerRun(onFile, token, 'first')
    await onFile.kill('SIGTERM')

    await killWhile('opening the schema', file, name)

    await expect(start(schema)).rejects.toThrow('storage-incomplete')
    await expect(start(file)).rejects.toThrow('storage-moved')
    expect(await perdure(file, moveArguments(name))).toMatchObject({ code: 0 })
    expect(await ledgerRun(await start(schema), token, 'first')).toEqual({ ...first, isReplayed: true })
  })

  it('refuses a file whose server crashed', async () => {
    const { file } = createPlaces(`${SCHEMA}_crashed`)
    await (await start(file)).kill('SIGKILL')

    expect(await perdure(file, moveArguments(`${SCHEMA}_crashed`))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('was not shut down cleanly'),
    })
  })
})
