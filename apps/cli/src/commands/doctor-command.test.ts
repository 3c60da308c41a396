import { chmod, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createServer as createPerdureServer } from '@perdure/server-app'
import { migrate } from '@perdure/sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { checkProxy } from '../doctor/check-proxy.ts'
import { checkSpace } from '../doctor/check-storage.ts'
import { runCli } from '../run-cli.ts'

const PEPPER = 'p'.repeat(32)

describe('perdure doctor', () => {
  const dir = temporaryDir()
  let otherProgram: Server | undefined

  afterEach(() => void otherProgram?.close())

  const doctor = async (env: Record<string, string> = {}, ...flags: readonly string[]) => {
    const terminal = recordingTerminal({ cwd: dir(), env: { PERDURE_SERVER_PORT: '0', ...env } })
    const exitCode = await runCli(['doctor', '--json', ...flags], terminal)
    const { ok, checks, fixed } = JSON.parse(terminal.out()) as {
      ok: boolean
      checks: { check: string; status: string; message: string; fix?: string }[]
      fixed: string[]
    }
    const found = (name: string) => checks.filter(({ check }) => check === name)
    const statusOf = (name: string) => found(name).map(({ status }) => status)
    return { exitCode, ok, checks, fixed, found, statusOf }
  }

  const storePepper = async (text: string, mode = 0o600) => {
    await writeFile(join(dir(), 'pepper'), text)
    await chmod(join(dir(), 'pepper'), mode)
    return { PERDURE_AUTH_PEPPER_REF: 'file:pepper' }
  }

  it('reports every check as ok for a valid setup', async () => {
    const { exitCode, ok, checks } = await doctor(await storePepper(PEPPER))

    expect(checks.map(({ check, status }) => [check, status])).toEqual([
      ['node', 'ok'],
      ['sqlite', 'ok'],
      ['config', 'ok'],
      ['secrets', 'ok'],
      ['files', 'ok'],
      ['storage', 'ok'],
      ['space', 'ok'],
      ['schema', 'ok'],
      ['wal', 'ok'],
      ['models', 'ok'],
      ['clock', 'ok'],
      ['triggers', 'ok'],
      ['proxy', 'ok'],
      ['port', 'ok'],
    ])
    expect(ok).toBe(true)
    expect(exitCode).toBe(0)
  })

  it('names the models of recent runs that have no price', async () => {
    const env = await storePepper(PEPPER)
    const priced = (id: string) => ({
      PERDURE_MODELS_PRICES: `{"${id}":{"inputUsdPerMillion":1,"outputUsdPerMillion":2}}`,
    })
    const usage = "ctx.usage({ provider: 'p', model: 'small', inputTokens: 5 })"
    const config = `agents: [{ id: 'asker', budget: { costUsd: 1 }, run: (_, ctx) => ${usage} }]`
    await writeFile(join(dir(), 'perdure.config.mjs'), `export default { ${config} }`)
    const server = await createPerdureServer({
      config: { auth: { kind: 'none' }, storage: { path: join(dir(), '.graphorin/data.db') } },
      agents: [{ id: 'asker', run: (_, ctx) => ctx.usage({ provider: 'p', model: 'small', inputTokens: 5 }) }],
      adapters: { logger: { debug() {}, info() {}, warn() {}, error() {} } },
    })
    await server.start({ listen: false })
    await server.fetch(
      new Request('http://localhost/v1/agents/asker/run', {
        ...{ method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
      }),
    )
    await server.stop()

    expect((await doctor(env)).found('models')).toMatchObject([
      { status: 'warn', message: expect.stringContaining('no model has a price: asker') },
    ])
    expect((await doctor({ ...env, ...priced('large') })).found('models')).toMatchObject([
      {
        status: 'warn',
        message: expect.stringContaining('p/small (run_'),
        fix: expect.stringContaining('models.prices'),
      },
    ])
    expect((await doctor({ ...env, ...priced('small') })).statusOf('models')).toEqual(['ok'])
  })

  it('suggests a fix for every failure and exits 5', async () => {
    const { exitCode, ok, checks, statusOf } = await doctor()

    expect(statusOf('secrets')).toEqual(['fail'])
    expect(checks.filter(({ status, fix }) => status === 'fail' && fix === undefined)).toEqual([])
    expect(ok).toBe(false)
    expect(exitCode).toBe(5)
  })

  it('warns about a pepper file others can read, and restricts it with --fix', async () => {
    const env = await storePepper(PEPPER, 0o644)
    const path = join(dir(), 'pepper')
    const { exitCode, found, fixed } = await doctor(env)
    expect(found('files')).toEqual([
      { check: 'files', status: 'warn', message: expect.stringContaining('0644'), fix: `chmod 600 ${path}` },
    ])
    expect({ exitCode, fixed }).toEqual({ exitCode: 0, fixed: [] })
    expect((await stat(path)).mode & 0o777).toBe(0o644)

    const repaired = await doctor(env, '--fix')
    expect(repaired.fixed).toEqual([`restricted ${path} to its owner`])
    expect(repaired.statusOf('files')).toEqual(['ok'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await doctor(env, '--fix')).fixed).toEqual([])
  })

  it('migrates an outdated database with --fix and keeps a copy of the old one', async () => {
    const env = { ...(await storePepper(PEPPER)), PERDURE_STORAGE_PATH: 'x.db' }
    await migrate(join(dir(), 'x.db'))
    makeOutdated(join(dir(), 'x.db'))
    expect((await doctor(env)).found('schema')).toMatchObject([{ status: 'warn', fix: 'perdure migrate up' }])

    const { fixed, statusOf } = await doctor(env, '--fix')
    expect(fixed).toEqual([expect.stringMatching(/^applied the pending migrations, up to \d+/)])
    expect(statusOf('schema')).toEqual(['ok'])
    expect((await readdir(dir())).filter((name) => name.startsWith('x.db.before-'))).toHaveLength(1)
  })

  it('exits 5 with --fix when it cannot repair a failure', async () => {
    const { exitCode, fixed, statusOf } = await doctor({}, '--fix')

    expect(statusOf('secrets')).toEqual(['fail'])
    expect({ exitCode, fixed }).toEqual({ exitCode: 5, fixed: [] })
  })

  it('warns about a clock earlier than the last database write', async () => {
    const env = { ...(await storePepper(PEPPER)), PERDURE_STORAGE_PATH: 'x.db' }
    await migrate(join(dir(), 'x.db'))
    const tomorrow = new Date(Date.now() + 86_400_000)
    await utimes(join(dir(), 'x.db'), tomorrow, tomorrow)

    expect((await doctor(env)).found('clock')).toMatchObject([{ status: 'warn', fix: 'timedatectl set-ntp true' }])
  })

  it('warns about less free disk space than configured', async () => {
    const storage = { path: join(dir(), 'data.db'), minFreeBytes: Number.MAX_SAFE_INTEGER }

    expect(await checkSpace({ storage })).toMatchObject({ status: 'warn', fix: `df -h ${dir()}` })
  })

  it('fails on a trigger with an unknown time zone and suggests a command that checks the trigger', async () => {
    const cron = { id: 'daily', kind: 'cron', cron: '0 9 * * *', timezone: 'Mars/Base', target: { agentId: 'echo' } }
    await writeFile(join(dir(), 'perdure.config.mjs'), `export default { triggers: [${JSON.stringify(cron)}] }`)
    const { found } = await doctor(await storePepper(PEPPER))

    expect(found('triggers')).toMatchObject([
      { status: 'fail', fix: expect.stringContaining("perdure triggers next '0 9 * * *' --tz Mars/Base") },
    ])
  })

  it.each([
    [{ host: '0.0.0.0', trustProxy: 0 }, 'warn'],
    [{ host: '0.0.0.0', trustProxy: 1 }, 'ok'],
    [{ host: '127.0.0.1', trustProxy: ['0.0.0.0/0'] }, 'warn'],
    [{ host: '::1', trustProxy: 0 }, 'ok'],
  ])('reports the proxy settings %j as %s', (server, status) => {
    expect(checkProxy({ server })).toMatchObject({ status })
  })

  it('suggests the nearest key for an unknown one', async () => {
    await writeFile(join(dir(), 'perdure.config.mjs'), 'export default { server: { prot: 1 } }')
    const { found } = await doctor()

    expect(found('config')).toMatchObject([{ status: 'fail' }])
    expect(JSON.stringify(found('config'))).toContain('server.port')
  })

  it.each([
    ['too short', 'short'],
    ['empty', ''],
  ])('fails on a pepper that is %s', async (_, text) => {
    expect((await doctor(await storePepper(text))).statusOf('secrets')).toEqual(['fail'])
  })

  it('fails on a port in use by another program', async () => {
    const env = await storePepper(PEPPER)
    const server = createServer((socket) => socket.destroy())
    otherProgram = server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }

    expect((await doctor({ ...env, PERDURE_SERVER_PORT: String(port) })).statusOf('port')).toEqual(['fail'])
  })

  it('fails on a database path in a kernel filesystem', async () => {
    const env = { ...(await storePepper(PEPPER)), PERDURE_STORAGE_PATH: '/proc/nope/x.db' }

    expect((await doctor(env)).statusOf('storage')).toEqual(['fail'])
  })

  it('fails on an unknown hook', async () => {
    await writeFile(join(dir(), 'perdure.config.mjs'), 'export default { hooks: { onStart() {} } }')

    expect((await doctor(await storePepper(PEPPER))).statusOf('secrets')).toEqual(['fail'])
  })

  it('fails on a damaged database', async () => {
    await mkdir(join(dir(), '.graphorin'))
    await writeFile(join(dir(), '.graphorin/data.db'), 'this is not a database, but long enough to look like one')

    expect((await doctor(await storePepper(PEPPER))).statusOf('schema')).toEqual(['fail'])
  })

  it('warns about a large write-ahead log', async () => {
    const env = {
      ...(await storePepper(PEPPER)),
      PERDURE_STORAGE_PATH: 'x.db',
      PERDURE_HEALTH_WAL_WARN_THRESHOLD_BYTES: '10',
    }
    await writeFile(join(dir(), 'x.db-wal'), 'eleven bytes')

    expect((await doctor(env)).statusOf('wal')).toEqual(['warn'])
  })

  it('skips the remaining checks when the configuration cannot be read', async () => {
    await writeFile(join(dir(), 'perdure.config.json'), '{')
    const { exitCode, checks } = await doctor()

    expect(checks.map(({ check }) => check)).toEqual(['node', 'sqlite', 'config'])
    expect(exitCode).toBe(5)
  })

  it('prints one line with a mark for each check', async () => {
    const terminal = recordingTerminal({ cwd: dir(), env: { PERDURE_SERVER_PORT: '0' } })
    await runCli(['doctor'], terminal)

    expect(terminal.out()).toMatch(/^✓ node .*\n✓ sqlite /)
    expect(terminal.out()).toMatch(/^✗ secrets .*\n {4}fix: /m)
  })
})

/** Turns the database into an empty database of the first release. */
function makeOutdated(path: string): void {
  const database = new DatabaseSync(path)
  const names = database
    .prepare(
      "SELECT name, type FROM sqlite_schema WHERE name NOT IN ('meta', 'schema_migrations') AND name NOT LIKE 'sqlite_%' AND sql IS NOT NULL",
    )
    .all() as { name: string; type: string }[]
  database.exec('PRAGMA foreign_keys = OFF')
  for (const kind of ['trigger', 'view', 'index', 'table']) {
    for (const { name, type } of names) if (type === kind) database.exec(`DROP ${kind} IF EXISTS ${name}`)
  }
  database.exec("DELETE FROM meta WHERE name NOT IN ('epoch', 'trimmed_through', 'clean_shutdown')")
  database.exec('DELETE FROM schema_migrations WHERE version > 1; PRAGMA user_version = 1')
  database.close()
}
