import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

const E2E = join(import.meta.dirname, '../../../../e2e')
/** What a server of schema 25 left, with runs of every kind that wait. */
const LEFT = gunzipSync(readFileSync(join(E2E, 'golden/open-runs-25.db.gz')))
const CONFIG = join(E2E, 'fixtures/earlier-runs.config.mjs')

describe('perdure upgrade --check', () => {
  const dir = temporaryDir()
  const path = () => join(dir(), 'data.db')
  afterEach(() => vi.unstubAllEnvs())

  const leftovers = () => readdirSync(dir()).filter((name) => name.startsWith('upgrade-check'))
  const upgrade = async (...flags: readonly string[]) => upgradeWith({}, ...flags)
  const upgradeWith = async (more: Record<string, string>, ...flags: readonly string[]) => {
    vi.stubEnv('E2E_LEDGER', join(dir(), 'ledger'))
    writeFileSync(join(dir(), 'pepper'), 'p'.repeat(32), { mode: 0o600 })
    const env = { PERDURE_STORAGE_PATH: path(), PERDURE_AUTH_PEPPER_REF: `file:${join(dir(), 'pepper')}`, ...more }
    const terminal = recordingTerminal({ cwd: dir(), env })
    const exitCode = await runCli(['upgrade', '--check', '--json', ...flags], terminal)
    const { ok, checks, runs } = JSON.parse(terminal.out()) as {
      ok: boolean
      checks: { check: string; status: string; message: string; fix?: string }[]
      runs?: { checked: number; stranded: number; items: { runId: string }[] }
    }
    return { exitCode, ok, runs, found: (name: string) => checks.find(({ check }) => check === name) }
  }

  it('names the pending migrations and checks the open runs on a copy, which it deletes', async () => {
    writeFileSync(path(), LEFT, { mode: 0o600 })
    const { exitCode, ok, found } = await upgrade('--config', CONFIG)

    expect(found('schema')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^pending migrations: 26 [a-z-]+, .*; applied to a copy of \d+ bytes in /),
    })
    expect(found('schema')).toMatchObject({ fix: 'perdure backup create --verify' })
    expect(found('runs')).toMatchObject({ status: 'ok', message: expect.stringMatching(/^all \d\d? open runs/) })
    expect({ exitCode, ok }).toEqual({ exitCode: 0, ok: true })
    expect(readFileSync(path()).equals(LEFT)).toBe(true)
    expect(leftovers()).toEqual([])
  })

  it('fails if the code of open runs is not registered', async () => {
    writeFileSync(path(), LEFT, { mode: 0o600 })
    const { exitCode, found, runs } = await upgrade()
    expect(found('runs')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('its code is not registered'),
      fix: expect.stringContaining('perdure upgrade --check --json'),
    })
    expect(runs?.stranded).toBe(runs?.checked)
    expect(new Set(runs?.items.map(({ runId }) => runId)).size).toBe(runs?.stranded)
    expect(exitCode).toBe(5)
    expect(leftovers()).toEqual([])
  })

  it('names the database, and warns if there is none', async () => {
    writeFileSync(path(), LEFT, { mode: 0o600 })
    expect((await upgrade('--config', CONFIG)).found('storage')).toMatchObject({
      status: 'ok',
      message: `the database is ${path()}`,
    })

    const mistyped = join(dir(), 'nodir', 'x.db')
    const { exitCode, found } = await upgradeWith({ PERDURE_STORAGE_PATH: mistyped })
    expect(found('storage')).toMatchObject({ status: 'warn', message: expect.stringContaining(mistyped) })
    expect(exitCode).toBe(0)

    const folder = await upgradeWith({ PERDURE_STORAGE_PATH: dir() })
    expect(folder.found('storage')).toMatchObject({ status: 'fail', message: `${dir()} is a folder, not a database` })
  })

  it('copies nothing if a copy and its migration may not fit on the disk', async () => {
    writeFileSync(path(), LEFT, { mode: 0o600 })
    const { exitCode, found } = await upgradeWith({ PERDURE_STORAGE_MIN_FREE_BYTES: String(2 ** 40) })
    expect(found('schema')).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/\d+ bytes free; .* needs \d+/),
    })
    expect([exitCode, leftovers()]).toEqual([5, []])
  })

  it('removes the copy of a killed check, and not that of one that runs', async () => {
    writeFileSync(path(), LEFT, { mode: 0o600 })
    const killed = spawnSync(process.execPath, ['--version']).pid
    for (const name of [`upgrade-check-${killed}-a`, `upgrade-check-${process.ppid}-b`]) mkdirSync(join(dir(), name))
    await upgrade('--config', CONFIG)
    expect(leftovers()).toEqual([`upgrade-check-${process.ppid}-b`])
  })

  it('refuses the database of a newer release, and one that is not a database', async () => {
    writeFileSync(path(), LEFT, { mode: 0o600 })
    const database = new DatabaseSync(path())
    database.exec('PRAGMA user_version = 9999')
    database.close()
    expect((await upgrade()).found('schema')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('version 9999'),
    })

    writeFileSync(path(), 'x'.repeat(10_000))
    const broken = await upgrade()
    expect(broken.found('schema')).toMatchObject({ status: 'fail' })
    expect(broken.found('runs')).toBeUndefined()
  })

  it('upgrades nothing without --check', async () => {
    mkdirSync(join(dir(), 'empty'))
    const terminal = recordingTerminal({ cwd: join(dir(), 'empty'), env: {} })
    expect(await runCli(['upgrade'], terminal)).toBe(2)
    expect(terminal.err()).toContain('perdure upgrade --check')
  })
})
