import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openSqliteStorage } from '../../packages/sqlite/src/index.ts'
import { MIGRATIONS } from '../../packages/sqlite/src/migrations/migrations.ts'
import { needsTool } from '../../tooling/needed-tool.ts'
import { BINARY, bearer, createSandbox, createToken, perdure, startServer } from '../perdure-process.ts'
import { inspectCopy, withCopy } from './database-copy.ts'
import { goldenVersions, lostRows, readContents, unpackGolden } from './golden.ts'
import { crashMigrations } from './migration-crashes.ts'
import { seedOf } from './seed.ts'
import { SERVE } from './world.ts'

const NEWEST = MIGRATIONS.length
const CONFIG = SERVE.slice(1)

function unpack(version: number) {
  // The rows are old; retention must not remove them here.
  const sandbox = createSandbox({ PERDURE_RETENTION_EVENTS_DAYS: '36500' })
  return { sandbox, path: unpackGolden(version, sandbox.dir) }
}

const change = (path: string, sql: string) => {
  const database = new DatabaseSync(path)
  database.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`)
  database.close()
}

const OTHER = '0123456789abcdef'.repeat(4)

describe('a golden database', () => {
  it('exists for every version', () => {
    expect(goldenVersions()).toEqual(MIGRATIONS.map(({ version }) => version))
  })

  it.each(goldenVersions())(
    'keeps every row when migrated from version %i, and leaves a copy of the original file',
    async (version) => {
      const { path } = unpack(version)
      const before = withCopy(path, readContents)
      await (await openSqliteStorage({ path })).close()
      const after = withCopy(path, readContents)

      expect(after.version).toBe(NEWEST)
      expect(lostRows(before, { ...after, rows: { ...after.rows, meta: before.rows.meta ?? [] } })).toEqual([])
      expect(after.schema).toEqual(withCopy(unpack(NEWEST).path, readContents).schema)
      expect(inspectCopy(path)).toEqual([])
      if (version < NEWEST) expect(withCopy(`${path}.before-${version + 1}`, readContents)).toEqual(before)
    },
  )

  it.each([8, 16])('is served after a migration from version %i', async (version) => {
    const { sandbox } = unpack(version)
    const server = await startServer(sandbox, SERVE)
    const token = await createToken(sandbox)
    const get = async (path: string) => {
      const response = await fetch(server.url + path, { headers: bearer(token) })
      return { status: response.status, body: await response.json() }
    }

    expect(await get('/runs/run_done')).toMatchObject({ body: { status: 'completed', result: { answer: 42 } } })
    expect(await get('/runs/run_waits')).toMatchObject({ body: { status: 'suspended' } })
    expect(await get('/runs/run_at_work')).toMatchObject({ body: { status: 'failed', finishReason: 'interrupted' } })
    expect(await get('/runs/run_done/events?order=desc')).toMatchObject({
      body: { items: [{ type: 'run.completed' }, {}] },
    })
    expect(await get('/sessions/ses_old/messages?order=desc')).toMatchObject({
      body: { items: [{ role: 'assistant' }, {}] },
    })
    if (version >= 16)
      expect(await get('/memory/facts/mem_old')).toMatchObject({
        body: { text: expect.stringMatching(/^Ships have \w+$/) },
      })
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})

describe('a migration', () => {
  needsTool('strace').it(
    'leaves one complete version when it is killed at a system call, and continues from there',
    async () => {
      const { violations, calls, killed, reached } = await crashMigrations({ seed: seedOf(), from: 6, points: 5 })

      console.log(`5 of ${calls} points; versions left and how often: ${JSON.stringify(reached)}`)
      expect(violations).toEqual([])
      expect(killed).toBe(5)
    },
  )

  it('is done by only one of two processes that start it at the same time', async () => {
    const { sandbox, path } = unpack(6)
    const before = withCopy(path, readContents)

    const ends = await Promise.all([
      perdure(sandbox, ['migrate', 'up', ...CONFIG]),
      perdure(sandbox, ['migrate', 'up', ...CONFIG]),
    ])

    const codes = ends.map(({ code }) => code).toSorted()
    expect([
      [0, 0],
      [0, 2],
    ]).toContainEqual(codes)
    for (const { code, stderr } of ends) if (code !== 0) expect(stderr).toContain('error[storage-locked]')
    const after = withCopy(path, readContents)
    expect(after.version).toBe(NEWEST)
    expect(lostRows(before, after)).toEqual([])
    expect(inspectCopy(path)).toEqual([])
  })

  it.each([
    ['a newer schema', 'PRAGMA user_version = 99', 'storage-newer-schema'],
    ['an edited migration', `UPDATE schema_migrations SET checksum = '${OTHER}' WHERE version = 2`, 'migration-failed'],
    ['a lost migration record', 'DELETE FROM schema_migrations WHERE version > 2', 'storage-corrupt'],
  ])('refuses %s with a typed error and changes no byte', async (_, sql, kind) => {
    const { sandbox, path } = unpack(6)
    change(path, sql)
    const before = readFileSync(path)

    for (const command of [SERVE, ['migrate', 'up', ...CONFIG]]) {
      await expect(
        promisify(execFile)(process.execPath, [BINARY, ...command], { env: sandbox.env }),
      ).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`error[${kind}]`),
      })
    }

    expect(readFileSync(path).equals(before)).toBe(true)
  })
})
