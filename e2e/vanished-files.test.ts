import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ask,
  CONFIG,
  createAuditedSandbox,
  exitOf,
  FILES,
  missingRuns,
  rescuedIn,
  runMany,
  runUntilGone,
  start,
  unhealthyAt,
} from './audited-server.ts'
import { perdure } from './perdure-process.ts'

const ACTIONS = {
  deleted: (file: string) => rmSync(file),
  moved: (file: string) => renameSync(file, `${file}-elsewhere`),
  'replaced by a copy of itself'(file: string) {
    copyFileSync(file, `${file}-new`)
    renameSync(`${file}-new`, file)
  },
}

const CASES = FILES.flatMap((file) => Object.keys(ACTIONS).map((action) => [file, action] as const))

describe('a server whose files vanish', () => {
  it.each(CASES)('stops when %s is %s, and loses no acknowledged run', async (file, action) => {
    const sandbox = createAuditedSandbox()
    const path = join(sandbox.dir, file)
    const server = await start(sandbox)
    const before = await runMany(server, 20)
    await expect.poll(() => existsSync(path)).toBe(true)

    const changedAt = Date.now()
    ACTIONS[action as keyof typeof ACTIONS](path)
    const [during, failedAt, code] = await Promise.all([runUntilGone(server), unhealthyAt(server), exitOf(server)])

    expect(code).toBe(70)
    // The promise is two seconds; a busy machine may take longer.
    expect(failedAt - changedAt).toBeLessThan(10_000)
    expect((during.at(-1)?.at ?? changedAt) - changedAt).toBeLessThan(10_000)
    expect(server.stderr()).toContain(path)
    const copy = rescuedIn(join(path, '..'))
    expect(copy !== undefined).toBe(file.endsWith('.db'))
    if (copy !== undefined) {
      expect(server.stderr()).toContain(`perdure restore ${copy}`)
      await expect(start(sandbox)).rejects.toThrow(/exited with 2[\s\S]*storage-replaced/)
      expect(await perdure(sandbox, ['restore', copy, ...CONFIG])).toMatchObject({ code: 0 })
    }
    const next = await start(sandbox)
    expect(await missingRuns(next, [...before, ...during.map(({ id }) => id)])).toEqual([])
    expect((await ask(next, '/audit/verify', {})).body).toMatchObject({ ok: true })
    expect(await next.kill('SIGTERM')).toMatchObject({ code: 0 })
    expect(await perdure(sandbox, ['storage', 'verify', ...CONFIG])).toMatchObject({ code: 0, stdout: 'verified\n' })
  })

  it('stops when its whole folder is deleted, and saves everything in a new folder', async () => {
    const sandbox = createAuditedSandbox()
    const server = await start(sandbox)
    const ids = await runMany(server, 20)

    rmSync(join(sandbox.dir, 'main'), { recursive: true })
    expect(await exitOf(server)).toBe(70)

    const copy = rescuedIn(join(sandbox.dir, 'main')) ?? ''
    expect(await perdure(sandbox, ['restore', copy, ...CONFIG])).toMatchObject({ code: 0 })
    expect(await missingRuns(await start(sandbox), ids)).toEqual([])
  })

  it.each(['main/data.db', 'audit/audit.db'])(
    'does not start after it was killed and the log of %s was deleted, until the log is put back',
    async (file) => {
      const sandbox = createAuditedSandbox()
      const path = join(sandbox.dir, file)
      const server = await start(sandbox)
      const ids = await runMany(server, 20)
      await expect.poll(() => statSync(`${path}.lock`).size).toBeGreaterThan(0)
      await server.kill('SIGKILL')

      renameSync(`${path}-wal`, `${path}-elsewhere`)
      rmSync(`${path}-shm`)
      await expect(start(sandbox)).rejects.toThrow(/exited with 2[\s\S]*storage-corrupt[\s\S]*-wal/)

      for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
      renameSync(`${path}-elsewhere`, `${path}-wal`)
      const next = await start(sandbox)
      expect(await missingRuns(next, ids)).toEqual([])
      expect((await ask(next, '/audit/verify', {})).body).toMatchObject({ ok: true })
    },
  )

  it('keeps a second server out after its lock file was deleted, until it has stopped', async () => {
    const sandbox = createAuditedSandbox()
    const server = await start(sandbox)
    const ids = await runMany(server, 20)
    server.process.kill('SIGSTOP')

    rmSync(join(sandbox.dir, 'main/data.db.lock'))
    await expect(start(sandbox)).rejects.toThrow('storage-locked')
    rmSync(join(sandbox.dir, 'main/data.db.lock'))
    server.process.kill('SIGCONT')
    const next = await start(sandbox)

    expect(await exitOf(server)).toBe(70)
    expect(await missingRuns(next, ids)).toEqual([])
  })
})
