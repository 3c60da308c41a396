import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EpochMs } from '@perdure/ports'
import { openSqliteStorage } from '@perdure/sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

const dir = temporaryDir()
const env = { PERDURE_STORAGE_PATH: 'data.db' }

const perdure = async (...args: readonly string[]) => {
  const terminal = recordingTerminal({ cwd: dir(), env })
  const exitCode = await runCli(args, terminal)
  return { exitCode, out: terminal.out() }
}
const json = async (...args: readonly string[]) => {
  const { exitCode, out } = await perdure(...args, '--json')
  return { exitCode, document: JSON.parse(out) as Record<string, unknown> }
}

beforeEach(async () => (await openSqliteStorage({ path: join(dir(), 'data.db') })).close())

describe('perdure backup with perdure restore', () => {
  it('creates, verifies and restores a backup', async () => {
    const created = await json('backup', 'create', '--out', 'copy.db', '--verify')

    expect(created).toMatchObject({ exitCode: 0, document: { file: 'copy.db', problems: [], isEncrypted: false } })
    expect(await perdure('backup', 'verify', 'copy.db')).toEqual({ exitCode: 0, out: 'verified\n' })
    const restored = await json('restore', 'copy.db')
    expect(restored).toMatchObject({ exitCode: 0, document: { kept: expect.stringContaining('.before-restore-') } })
  })

  it('writes the backup to the folder backups next to the database when --out is missing', async () => {
    const { exitCode, out } = await perdure('backup', 'create')

    expect(exitCode).toBe(0)
    expect(out).toMatch(/backups\/data-\d{8}T\d{6}Z\.db\n\d+ bytes, schema \d+, sha256 [0-9a-f]{64}\n$/)
    expect(readdirSync(join(dir(), 'backups'))).toHaveLength(2)
  })

  it('exits 5 on a damaged backup and does not restore it', async () => {
    await perdure('backup', 'create', '--out', 'copy.db')
    writeFileSync(join(dir(), 'copy.db'), readFileSync(join(dir(), 'copy.db')).fill(9, 5_000, 5_050))

    expect(await json('backup', 'verify', 'copy.db')).toMatchObject({
      exitCode: 5,
      document: { problems: expect.arrayContaining([expect.stringContaining('SHA-256')]) },
    })
    expect((await perdure('restore', 'copy.db')).exitCode).toBe(2)
  })

  it('includes the contents of large files, and notices one that is missing', async () => {
    const content = Buffer.alloc(100_000, 7)
    const sha256 = createHash('sha256').update(content).digest('hex')
    const nameOf = (folder: string) => join(dir(), folder, sha256.slice(0, 2), sha256.slice(2))
    const storage = await openSqliteStorage({ path: join(dir(), 'data.db') })
    const file = { id: 'f', owner: 'ann', sha256, size: 100_000, mediaType: 'image/png', createdAt: 0 as EpochMs }
    await storage.unitOfWork.commit([{ type: 'file.insert', file }])
    await storage.close()
    mkdirSync(dirname(nameOf('files')), { recursive: true })
    writeFileSync(nameOf('files'), content)

    const created = await json('backup', 'create', '--out', 'copy.db', '--verify')
    expect(created.document).toMatchObject({
      problems: [],
      files: { folder: 'copy.db.files', files: 1, bytes: 100_000 },
    })
    rmSync(join(dir(), 'files'), { recursive: true })
    expect((await perdure('restore', 'copy.db')).exitCode).toBe(0)
    expect(readFileSync(nameOf('files')).equals(content)).toBe(true)

    rmSync(nameOf('copy.db.files'))
    expect(await json('backup', 'verify', 'copy.db')).toMatchObject({
      exitCode: 5,
      document: { problems: [`files: the content ${sha256} is missing`] },
    })
  })

  it('refuses to overwrite an existing file', async () => {
    await perdure('backup', 'create', '--out', 'copy.db')

    expect(await json('backup', 'create', '--out', 'copy.db')).toMatchObject({
      exitCode: 2,
      document: { error: 'config-invalid', hint: expect.stringContaining('--out') },
    })
  })
})

describe('perdure storage', () => {
  it('verifies the database and exits 5 if it is damaged', async () => {
    const good = await json('storage', 'verify')
    writeFileSync(join(dir(), 'data.db'), 'damaged')
    const bad = await json('storage', 'verify')

    expect(good).toMatchObject({ exitCode: 0, document: { ok: true, audit: { entries: 0 } } })
    expect(bad).toMatchObject({ exitCode: 5, document: { ok: false } })
  })

  it('reports the database size before and after a vacuum', async () => {
    expect(await json('storage', 'vacuum')).toMatchObject({ exitCode: 0, document: { bytesAfter: expect.any(Number) } })
  })
})
