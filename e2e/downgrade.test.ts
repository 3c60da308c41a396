import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSession } from '../packages/postgres/src/connection/session.ts'
import { MIGRATIONS as POSTGRES_MIGRATIONS } from '../packages/postgres/src/migrations/migrations.ts'
import { openConnection } from '../packages/sqlite/src/file/connection.ts'
import { MIGRATIONS as SQLITE_MIGRATIONS } from '../packages/sqlite/src/migrations/migrations.ts'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { createCall } from './durable-server.ts'
import {
  createSandbox,
  createToken,
  isOnPostgres,
  OPS_CONFIG,
  perdure,
  removeFolder,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

const CONFIG = ['--config', OPS_CONFIG]

/** What the test does to the storage besides the commands. */
interface Storage {
  /** The schema version of this release. */
  readonly version: number
  /** Makes the storage look as the next release leaves it. */
  migrate(): Promise<void>
  backup(): Promise<void>
  restore(): Promise<void>
  /** Changes with every write. */
  content(): string
  /** How the refusal says that the backup is the way back. */
  readonly wayBack: string
}

function fileOf(sandbox: Sandbox): Storage {
  const path = join(sandbox.dir, 'data.db')
  const version = SQLITE_MIGRATIONS.length
  const succeed = async (...args: readonly string[]) => {
    const { code, stderr } = await perdure(sandbox, [...args, ...CONFIG])
    expect([code, stderr]).toEqual([0, expect.any(String)])
  }
  return {
    version,
    async migrate() {
      const { database } = openConnection(path)
      database.exec(`CREATE TABLE of_the_next_release (id TEXT) STRICT;
        INSERT INTO schema_migrations SELECT ${version + 1}, 'next', checksum, applied_at FROM schema_migrations WHERE version = 1;
        PRAGMA user_version = ${version + 1}`)
      database.close()
    },
    backup: () => succeed('backup', 'create', '--out', 'before.db'),
    restore: () => succeed('restore', 'before.db'),
    content: () =>
      JSON.stringify(
        globSync('**/*', { cwd: sandbox.dir, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => join(parentPath, name))
          // A reader creates an index of the write-ahead log, and an empty log.
          .filter((file) => !file.endsWith('-shm') && statSync(file).size > 0)
          .toSorted()
          .map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]),
      ),
    wayBack: 'perdure restore /',
  }
}

function schemaOf({ dir, env }: Sandbox): Storage {
  const [url = '', schema = ''] = [process.env.E2E_DATABASE_URL, env.PERDURE_STORAGE_SCHEMA]
  const version = POSTGRES_MIGRATIONS.length
  const dump = join(dir, 'before.dump')
  const dumped = (...args: readonly string[]) =>
    execFileSync(toolPath('pg_dump'), [url, `--schema=${schema}`, ...args], { encoding: 'utf8' })
  const execute = async (...statements: readonly string[]) => {
    const server = { url, schema, statementTimeoutMs: 60_000, pipeline: false }
    const session = await openSession(server, { name: 'test', planning: 'default' })
    for (const text of statements) await session.execute({ text, values: [] })
    await session.close()
  }
  return {
    version,
    migrate: () =>
      execute(
        'create table of_the_next_release (id text)',
        `insert into schema_migrations (version, name, checksum, applied_at)
          select ${version + 1}, 'next', checksum, applied_at from schema_migrations where version = 1`,
        `insert into meta (name, value) values ('readable_from', '${version + 1}')
          on conflict (name) do update set value = excluded.value`,
      ),
    backup: async () => void dumped('--format=custom', `--file=${dump}`),
    async restore() {
      await execute(`drop schema "${schema}" cascade`)
      execFileSync(toolPath('pg_restore'), [`--dbname=${url}`, dump])
    },
    // Every dump has another random key in the commands for psql.
    content: () => dumped().replaceAll(/^\\(?:un)?restrict .*$/gm, ''),
    wayBack: 'restore a dump that was made before it was migrated',
  }
}

const storageOf = isOnPostgres ? schemaOf : fileOf

async function echo(sandbox: Sandbox, token: string) {
  const server = await startServer(sandbox, ['server', ...CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call = createCall(() => server.url, token)
  return {
    run: async () => (await call('POST', '/agents/echo/run', { body: { input: 'before' } })).body.runId,
    read: async (runId: string) => (await call('GET', `/runs/${runId}`)).body,
    stop: () => server.kill('SIGTERM'),
  }
}

const suite = isOnPostgres ? needsTool('postgres', 'pg_dump', 'pg_restore') : needsTool()

suite.describe('an earlier release on a storage that the next one has migrated', () => {
  it('refuses before it writes anything, names both versions, and works again on the backup', async () => {
    const sandbox = createSandbox()
    onTestFinished(() => removeFolder(sandbox.dir))
    const token = await createToken(sandbox)
    const storage = storageOf(sandbox)
    const earlier = await echo(sandbox, token)
    const runId = await earlier.run()
    await earlier.stop()
    await storage.backup()
    await storage.migrate()
    rmSync(join(sandbox.dir, 'ledger.txt'), { force: true })
    const before = storage.content()

    for (const command of [['server'], ['migrate', 'up'], ['token', 'create', '--name', 'n', '--scopes', 'admin:*']]) {
      const { code, stderr } = await perdure(sandbox, [...command, ...CONFIG])
      expect([command, code]).toEqual([command, 2])
      expect(stderr).toContain('error[storage-newer-schema]')
      expect(stderr).toContain(`schema version ${storage.version + 1}; this release supports versions up to`)
      expect(stderr).toContain(`up to ${storage.version}.`)
      expect(stderr).toContain(storage.wayBack)
    }
    const check = await perdure(sandbox, ['upgrade', '--check', ...CONFIG])
    expect([check.code, check.stdout]).toEqual([5, expect.stringContaining(`schema version ${storage.version + 1}`)])
    expect(storage.content()).toBe(before)

    await storage.restore()
    const again = await echo(sandbox, token)
    expect(await again.read(runId)).toMatchObject({ status: 'completed', result: 'before' })
    expect(await again.stop()).toEqual({ code: 0, signal: null })
  })
})
