import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

const PEPPER = 'p'.repeat(32)

describe('berth doctor', () => {
  const dir = temporaryDir()
  let neighbour: Server | undefined

  afterEach(() => void neighbour?.close())

  const doctor = async (env: Record<string, string> = {}) => {
    const terminal = recordingTerminal({ cwd: dir(), env: { BERTH_SERVER_PORT: '0', ...env } })
    const exitCode = await runCli(['doctor', '--json'], terminal)
    const { ok, checks } = JSON.parse(terminal.out()) as {
      ok: boolean
      checks: { check: string; status: string; fix?: string }[]
    }
    const statusOf = (name: string) => checks.filter(({ check }) => check === name).map(({ status }) => status)
    return { exitCode, ok, checks, statusOf }
  }

  const storePepper = async (text: string, mode = 0o600) => {
    await writeFile(join(dir(), 'pepper'), text)
    await chmod(join(dir(), 'pepper'), mode)
    return { BERTH_AUTH_PEPPER_REF: 'file:pepper' }
  }

  it('finds nothing wrong with a sound setup', async () => {
    const { exitCode, ok, checks } = await doctor(await storePepper(PEPPER))

    expect(checks.map(({ check, status }) => [check, status])).toEqual([
      ['node', 'ok'],
      ['sqlite', 'ok'],
      ['config', 'ok'],
      ['secrets', 'ok'],
      ['storage', 'ok'],
      ['schema', 'ok'],
      ['wal', 'ok'],
      ['port', 'ok'],
    ])
    expect(ok).toBe(true)
    expect(exitCode).toBe(0)
  })

  it('gives a fix for every failure and exits 5', async () => {
    const { exitCode, ok, checks, statusOf } = await doctor()

    expect(statusOf('secrets')).toEqual(['fail'])
    expect(checks.filter(({ status, fix }) => status === 'fail' && fix === undefined)).toEqual([])
    expect(ok).toBe(false)
    expect(exitCode).toBe(5)
  })

  it('warns of a pepper others may read', async () => {
    const { exitCode, statusOf } = await doctor(await storePepper(PEPPER, 0o644))

    expect(statusOf('secrets')).toEqual(['warn', 'ok'])
    expect(exitCode).toBe(0)
  })

  it.each([
    ['too short', 'short'],
    ['empty', ''],
  ])('fails on a pepper that is %s', async (_, text) => {
    expect((await doctor(await storePepper(text))).statusOf('secrets')).toEqual(['fail'])
  })

  it('fails on a port that another program holds', async () => {
    const env = await storePepper(PEPPER)
    const server = createServer((socket) => socket.destroy())
    neighbour = server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }

    expect((await doctor({ ...env, BERTH_SERVER_PORT: String(port) })).statusOf('port')).toEqual(['fail'])
  })

  it('fails on a place for the database that belongs to the kernel', async () => {
    const env = { ...(await storePepper(PEPPER)), BERTH_STORAGE_PATH: '/proc/nope/x.db' }

    expect((await doctor(env)).statusOf('storage')).toEqual(['fail'])
  })

  it('fails on hooks it does not know', async () => {
    await writeFile(join(dir(), 'berth.config.mjs'), 'export default { hooks: { onStart() {} } }')

    expect((await doctor(await storePepper(PEPPER))).statusOf('secrets')).toEqual(['fail'])
  })

  it('fails on a damaged database and leaves it as it was', async () => {
    await mkdir(join(dir(), '.graphorin'))
    await writeFile(join(dir(), '.graphorin/data.db'), 'this is not a database, but long enough to look like one')

    expect((await doctor(await storePepper(PEPPER))).statusOf('schema')).toEqual(['fail'])
  })

  it('warns of a large write-ahead log', async () => {
    const env = {
      ...(await storePepper(PEPPER)),
      BERTH_STORAGE_PATH: 'x.db',
      BERTH_HEALTH_WAL_WARN_THRESHOLD_BYTES: '10',
    }
    await writeFile(join(dir(), 'x.db-wal'), 'eleven bytes')

    expect((await doctor(env)).statusOf('wal')).toEqual(['warn'])
  })

  it('stops at a configuration that cannot be read', async () => {
    await writeFile(join(dir(), 'berth.config.json'), '{')
    const { exitCode, checks } = await doctor()

    expect(checks.map(({ check }) => check)).toEqual(['node', 'sqlite', 'config'])
    expect(exitCode).toBe(5)
  })

  it('writes marked lines for people', async () => {
    const terminal = recordingTerminal({ cwd: dir(), env: { BERTH_SERVER_PORT: '0' } })
    await runCli(['doctor'], terminal)

    expect(terminal.out()).toMatch(/^✓ node .*\n✓ sqlite /)
    expect(terminal.out()).toMatch(/^✗ secrets .*\n {4}fix: /m)
  })
})
