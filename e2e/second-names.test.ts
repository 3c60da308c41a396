import { execFileSync } from 'node:child_process'
import { linkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONFIG, createAuditedSandbox, FILES, missingRuns, mount, run, runMany, start } from './audited-server.ts'
import { perdure } from './perdure-process.ts'

const SECOND_NAMES = {
  'has a hard link'(file: string) {
    linkSync(file, `${file}-link`)
    return () => rmSync(`${file}-link`)
  },
  'is mounted by itself'(file: string) {
    mount(['--bind', file, file], file)
    return () => void execFileSync('umount', [file])
  },
}

const SHARED = FILES.filter((file) => !file.endsWith('-shm')).flatMap((file) =>
  Object.keys(SECOND_NAMES).map((name) => [file, name] as const),
)

describe('a database with a second name', () => {
  it.each(SHARED)('is refused when %s %s', async (file, name) => {
    const sandbox = createAuditedSandbox()
    const server = await start(sandbox)
    const ids = await runMany(server, 5)
    await server.kill('SIGKILL')
    const path = join(sandbox.dir, file)

    const undo = SECOND_NAMES[name as keyof typeof SECOND_NAMES](path)
    await expect(start(sandbox)).rejects.toThrow(/exited with 2[\s\S]*storage-shared/)
    const out = join(sandbox.dir, 'copy.db')
    for (const command of [
      ['backup', 'create', '--out', out],
      ['storage', 'verify'],
    ]) {
      const { code, stderr } = await perdure(sandbox, [...command, ...CONFIG])
      expect([code, stderr]).toEqual([2, expect.stringContaining('storage-shared')])
    }
    undo()

    expect(await missingRuns(await start(sandbox), ids)).toEqual([])
  })

  it('is refused under either name while a server uses the other one', async () => {
    const sandbox = createAuditedSandbox()
    const server = await start(sandbox)
    const ids = await runMany(server, 5)
    const other = join(sandbox.dir, 'other.db')
    linkSync(join(sandbox.dir, 'main/data.db'), other)
    const second = { ...sandbox, env: { ...sandbox.env, PERDURE_STORAGE_PATH: other, PERDURE_AUDIT_ENABLED: 'false' } }

    await expect(start(second)).rejects.toThrow('storage-shared')
    expect(await perdure(second, ['restore', other, ...CONFIG])).toMatchObject({ code: 2 })
    expect(await perdure(second, ['token', 'create', '--name', 'x', '--scopes', 'admin:*', ...CONFIG])).toMatchObject({
      code: 2,
    })

    expect(await missingRuns(server, ids)).toEqual([])
    expect(await run(server)).toBeDefined()
  })
})
