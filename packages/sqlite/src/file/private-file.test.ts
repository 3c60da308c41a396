import { mkdirSync, mkdtempSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { preparePath } from './private-file.ts'

const freshDir = () => realpathSync(mkdtempSync(join(tmpdir(), 'perdure-path-')))

describe('preparePath', () => {
  it('creates missing directories that only their owner can access', () => {
    const dir = freshDir()

    expect(preparePath(join(dir, 'a/b/data.db'))).toBe(join(dir, 'a/b/data.db'))

    for (const made of ['a', 'a/b']) expect(statSync(join(dir, made)).mode & 0o777).toBe(0o700)
  })

  it('keeps the mode of an existing directory', () => {
    const dir = freshDir()
    mkdirSync(join(dir, 'shared'), { mode: 0o755 })

    preparePath(join(dir, 'shared/data.db'))

    expect(statSync(join(dir, 'shared')).mode & 0o777).toBe(0o755)
  })

  it('resolves symbolic links to the directory and to the file', () => {
    const dir = freshDir()
    mkdirSync(join(dir, 'real'))
    symlinkSync('real', join(dir, 'link'))

    expect(preparePath(join(dir, 'link/data.db'))).toBe(join(dir, 'real/data.db'))

    writeFileSync(join(dir, 'real/other.db'), '')
    symlinkSync('real/other.db', join(dir, 'data.db'))
    expect(preparePath(join(dir, 'data.db'))).toBe(join(dir, 'real/other.db'))
  })

  it('rejects a path below a file', () => {
    const dir = freshDir()
    writeFileSync(join(dir, 'file'), '')

    expect(() => preparePath(join(dir, 'file/data.db'))).toThrow(expect.objectContaining({ kind: 'config-invalid' }))
    expect(() => preparePath(join(dir, 'file/sub/data.db'))).toThrow(
      expect.objectContaining({ kind: 'config-invalid' }),
    )
  })

  it.skipIf(process.platform !== 'linux')('rejects a path where the kernel cannot create directories', () => {
    expect(() => preparePath('/proc/nope/x.db')).toThrow(
      expect.objectContaining({ kind: 'config-invalid', hint: expect.stringContaining('storage.path') }),
    )
  })
})
