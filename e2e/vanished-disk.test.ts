import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import {
  ask,
  CONFIG,
  createAuditedSandbox,
  exitOf,
  missingRuns,
  mount,
  rescuedIn,
  runMany,
  start,
  unhealthyAt,
  unmount,
} from './audited-server.ts'
import { perdure } from './perdure-process.ts'

needsTool('mount').describe('a server whose disk goes away', () => {
  it('stops when the disk is unmounted, and continues with all runs once it is mounted again', async () => {
    const sandbox = createAuditedSandbox()
    const folder = join(sandbox.dir, 'main')
    const disk = `${folder}-disk`
    for (const made of [folder, disk]) mkdirSync(made)
    mount(['-t', 'tmpfs', 'tmpfs', disk], disk)
    mount(['--bind', disk, folder], folder)
    const server = await start(sandbox)
    const ids = await runMany(server, 20)

    unmount(folder, '--lazy')
    expect(await exitOf(server)).toBe(70)

    expect(server.stderr()).toContain('Mount the disk again')
    expect(readdirSync(folder)).toEqual([])
    execFileSync(toolPath('mount'), ['--bind', disk, folder])
    expect(await missingRuns(await start(sandbox), ids)).toEqual([])
  })

  it('waits for space when a deleted database does not fit on the disk', async () => {
    const sandbox = createAuditedSandbox()
    const folder = join(sandbox.dir, 'main')
    mkdirSync(folder)
    mount(['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], folder)
    const server = await start(sandbox)
    const ids = await runMany(server, 20)
    // The server gives up a reserve that it cannot write completely, and the database would then fit.
    const reserve = join(folder, 'data.db.ballast')
    await expect.poll(() => existsSync(reserve) && statSync(reserve).size).toBe(16 * 1024 * 1024)
    fillDisk(folder)

    rmSync(join(folder, 'data.db'))
    await unhealthyAt(server)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(server.process.exitCode).toBe(null)
    expect((await ask(server, '/health')).body).toMatchObject({
      checks: { storage: { message: 'The storage stopped: data.db is missing.' } },
    })
    rmSync(join(folder, 'filler'))
    expect(await exitOf(server)).toBe(70)

    expect(await perdure(sandbox, ['restore', rescuedIn(folder) ?? '', ...CONFIG])).toMatchObject({ code: 0 })
    expect(await missingRuns(await start(sandbox), ids)).toEqual([])
  })

  it('keeps working when the inode table of its disk fills up, and starts again once a file can be created', async () => {
    const sandbox = createAuditedSandbox()
    const folder = join(sandbox.dir, 'main')
    mkdirSync(folder)
    mount(['-t', 'tmpfs', '-o', 'nr_inodes=20,size=64m', 'tmpfs', folder], folder)
    const server = await start(sandbox)
    expect(fillInodes(folder)).toBeGreaterThan(0)
    const ids = await runMany(server, 200)
    expect(ids).not.toContain('none')
    await server.kill('SIGKILL')

    const next = await start(sandbox)
    expect(await missingRuns(next, ids)).toEqual([])
    expect(await next.kill('SIGTERM')).toMatchObject({ code: 0 })
    fillInodes(folder)
    await expect(start(sandbox)).rejects.toThrow(/exited with 2[\s\S]*config-invalid/)
    for (const name of readdirSync(folder).filter((file) => file.startsWith('filler-'))) rmSync(join(folder, name))
    expect(await missingRuns(await start(sandbox), ids)).toEqual([])
  })

  it('refuses to start on a disk that is mounted read-only', async () => {
    const sandbox = createAuditedSandbox()
    const folder = join(sandbox.dir, 'main')
    mkdirSync(folder)
    mount(['-t', 'tmpfs', 'tmpfs', folder], folder)
    const server = await start(sandbox)
    const ids = await runMany(server, 5)
    await server.kill('SIGKILL')

    execFileSync(toolPath('mount'), ['-o', 'remount,ro', folder])
    await expect(start(sandbox)).rejects.toThrow(/exited with 2[\s\S]*config-invalid/)
    execFileSync(toolPath('mount'), ['-o', 'remount,rw', folder])
    expect(await missingRuns(await start(sandbox), ids)).toEqual([])
  })
})

function fillDisk(folder: string): void {
  try {
    for (let size = 0; size < 64; size++) appendFileSync(join(folder, 'filler'), Buffer.alloc(1024 * 1024))
  } catch {}
  for (;;) {
    try {
      appendFileSync(join(folder, 'filler'), Buffer.alloc(4_096))
    } catch {
      return
    }
  }
}

/** Creates files until the disk has no inode left. Returns their number. */
function fillInodes(folder: string): number {
  for (let count = 0; ; count++) {
    try {
      writeFileSync(join(folder, `filler-${Date.now()}-${count}`), '')
    } catch {
      return count
    }
  }
}
