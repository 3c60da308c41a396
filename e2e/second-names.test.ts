import { linkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ToolName } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import {
  CONFIG,
  createAuditedSandbox,
  FILES,
  missingRuns,
  mount,
  run,
  runMany,
  start,
  unmount,
} from './audited-server.ts'
import { perdure } from './perdure-process.ts'

const SECOND_NAMES = {
  'has a hard link'(file: string) {
    linkSync(file, `${file}-link`)
    return () => rmSync(`${file}-link`)
  },
  'is mounted by itself'(file: string) {
    mount(['--bind', file, file], file)
    return () => unmount(file)
  },
}

const NEEDED: Readonly<Record<string, readonly ToolName[]>> = { 'is mounted by itself': ['mount'] }

const SHARED = FILES.filter((file) => !file.endsWith('-shm')).flatMap((file) =>
  Object.entries(SECOND_NAMES).map(([name, give]) => ({ file, name, give })),
)

describe('a database with a second name', () => {
  const isRefused = async (file: string, give: (path: string) => () => void) => {
    const sandbox = createAuditedSandbox()
    const server = await start(sandbox)
    const ids = await runMany(server, 5)
    await server.kill('SIGKILL')
    const path = join(sandbox.dir, file)

    const undo = give(path)
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
  }
  for (const { file, name, give } of SHARED)
    needsTool(...(NEEDED[name] ?? [])).it(`is refused when ${file} ${name}`, () => isRefused(file, give))

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
