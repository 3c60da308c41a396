import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { readTextFile } from './read-text-file.ts'

describe('readTextFile', () => {
  const dir = temporaryDir()
  const base = () => join(dir(), 'base')
  const read = (name: string) => readTextFile(base(), name)

  beforeEach(async () => {
    await mkdir(join(base(), 'docs'), { recursive: true })
    await writeFile(join(base(), 'README.md'), 'hello')
    await writeFile(join(base(), 'docs/guide.txt'), 'deeper')
    await writeFile(join(base(), 'LICENSE'), 'MIT')
    await writeFile(join(dir(), 'outside.md'), 'secret')
  })

  it.each([
    ['README.md', 'hello'],
    ['./docs/guide.txt', 'deeper'],
    ['docs/../README.md', 'hello'],
    ['LICENSE', 'MIT'],
  ])('reads %s', async (name, text) => {
    expect(await read(name)).toBe(text)
  })

  it.each(['../outside.md', 'docs/../../outside.md', '/etc/passwd', '', '.', '..', 'docs', 'README.md\0.txt'])(
    'rejects the path %j',
    async (name) => {
      await expect(read(name)).rejects.toMatchObject({ code: 'file-not-allowed' })
    },
  )

  it('rejects symlinks that point outside', async () => {
    await symlink(join(dir(), 'outside.md'), join(base(), 'link.md'))
    await symlink(dir(), join(base(), 'up'))

    await expect(read('link.md')).rejects.toMatchObject({ code: 'file-not-allowed' })
    await expect(read('up/outside.md')).rejects.toMatchObject({ code: 'file-not-allowed' })
  })

  it.each([
    '.env.md',
    '.graphorin/notes.md',
    'secrets/pepper',
    'perdure.config.mjs',
    'key.pem',
    'node_modules/a/README.md',
  ])('rejects %s, which may contain secrets or is not a document', async (name) => {
    await mkdir(join(base(), name, '..'), { recursive: true })
    await writeFile(join(base(), name), 'secret')

    await expect(read(name)).rejects.toMatchObject({ code: 'file-not-allowed' })
  })

  it('rejects a symlink to a hidden file', async () => {
    await writeFile(join(base(), '.env'), 'secret')
    await symlink(join(base(), '.env'), join(base(), 'notes.md'))

    await expect(read('notes.md')).rejects.toMatchObject({ code: 'file-not-allowed' })
  })

  it('reports a missing file, a file that is too large and a file that is not text', async () => {
    await writeFile(join(base(), 'large.md'), Buffer.alloc(1_048_577, 'a'))
    await writeFile(join(base(), 'binary.md'), Uint8Array.of(0xff, 0xfe))
    await writeFile(join(base(), 'nul.md'), 'a\0b')

    await expect(read('missing.md')).rejects.toMatchObject({ code: 'file-not-found' })
    await expect(read('large.md')).rejects.toMatchObject({ code: 'file-too-large' })
    await expect(read('binary.md')).rejects.toMatchObject({ code: 'file-not-text' })
    await expect(read('nul.md')).rejects.toMatchObject({ code: 'file-not-text' })
  })

  it('omits the path from the error for a file that cannot be opened', async () => {
    await symlink(join(base(), 'loop.md'), join(base(), 'loop.md'))
    const failure: unknown = await read('loop.md').catch((error: unknown) => error)

    expect(failure).toMatchObject({ code: 'file-unreadable', message: expect.not.stringContaining(base()) })
  })

  it('rejects a named pipe without waiting for a writer', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(base(), 'pipe.md')])

    await expect(read('pipe.md')).rejects.toMatchObject({ code: 'file-not-allowed' })
  })
})
