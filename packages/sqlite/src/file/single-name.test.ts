import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { toolPath } from '../../../../tooling/machine-tools.ts'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { createBackup } from './backup.ts'
import { migrate, migrationStatus } from './migration-status.ts'
import { restoreBackup } from './restore.ts'
import { requireSingleName } from './single-name.ts'
import { vacuum } from './vacuum.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-names-')))
  path = join(directory, 'data.db')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

const SUFFIXES = ['', '-wal', '-shm', '.lock']

describe('requireSingleName', () => {
  it('accepts files with one name, in a folder behind a symbolic link too', () => {
    for (const suffix of SUFFIXES) writeFileSync(`${path}${suffix}`, '')
    symlinkSync(directory, `${directory}-link`)
    onTestFinished(() => rmSync(`${directory}-link`))

    expect(() => requireSingleName(path)).not.toThrow()
    expect(() => requireSingleName(join(`${directory}-link`, 'data.db'))).not.toThrow()
    expect(() => requireSingleName(join(directory, 'none.db'))).not.toThrow()
  })

  it.each(SUFFIXES)('rejects a hard link of data.db%s', (suffix) => {
    writeFileSync(`${path}${suffix}`, '')
    linkSync(`${path}${suffix}`, join(directory, 'other'))

    expect(() => requireSingleName(path)).toThrow(
      expect.objectContaining({
        kind: 'storage-shared',
        message: `The file ${path}${suffix} has 2 names (hard links).`,
        hint: expect.stringContaining(`-samefile ${path}${suffix}`),
      }),
    )
  })

  it.each(
    ['-wal', '-shm', '.lock'].flatMap((suffix) => ['/dev/null', 'other', 'missing'].map((to) => [suffix, to] as const)),
  )('rejects data.db%s if it is a symbolic link to %s', (suffix, to) => {
    writeFileSync(join(directory, 'other'), '')
    symlinkSync(resolve(directory, to), `${path}${suffix}`)

    expect(() => requireSingleName(path)).toThrow(
      expect.objectContaining({
        kind: 'storage-shared',
        message: `The file ${path}${suffix} is a symbolic link.`,
        hint: expect.stringContaining('remove the link'),
      }),
    )
  })

  it('rejects a lock that is a folder', () => {
    mkdirSync(`${path}.lock`)

    expect(() => requireSingleName(path)).toThrow(
      expect.objectContaining({ kind: 'config-invalid', message: `${path}.lock is not a plain file.` }),
    )
  })

  needsTool('mount').describe('with a mount', () => {
    it.each(SUFFIXES)('rejects data.db%s mounted without its folder', (suffix) => {
      const folder = join(directory, 'a folder')
      mkdirSync(folder)
      const file = join(folder, `data.db${suffix}`)
      writeFileSync(file, '')
      execFileSync(toolPath('mount'), ['--bind', file, file])
      onTestFinished(() => void execFileSync(toolPath('umount'), [file]))

      expect(() => requireSingleName(join(folder, 'data.db'))).toThrow(
        expect.objectContaining({
          kind: 'storage-shared',
          hint: expect.stringContaining(`Mount the folder ${folder}`),
        }),
      )
    })
  })
})

it.each<[string, () => Promise<unknown>]>([
  ['a server', () => openSqliteStorage({ path })],
  ['an embedded storage', () => openSqliteStorage({ path, mode: 'lib' })],
  ['a backup', () => createBackup(path, { out: join(directory, 'copy.db') })],
  ['a restore', () => restoreBackup(join(directory, 'backup.db'), { path })],
  ['a vacuum', () => vacuum(path)],
  ['a migration', () => migrate(path)],
  ['the list of migrations', () => migrationStatus(path)],
])('refuses a database that has a hard link to %s', async (_, open) => {
  await (await openSqliteStorage({ path })).close()
  await createBackup(path, { out: join(directory, 'backup.db') })
  linkSync(path, join(directory, 'other.db'))

  await expect(open()).rejects.toMatchObject({ kind: 'storage-shared' })
  rmSync(join(directory, 'other.db'))
  await expect(open().then(async (it) => (it as { close?(): Promise<void> }).close?.())).resolves.toBeUndefined()
})
