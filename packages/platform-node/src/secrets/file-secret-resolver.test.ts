import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileSecretResolver } from './file-secret-resolver.ts'

describe('fileSecretResolver', () => {
  let baseDir: string

  beforeEach(async () => {
    baseDir = await mkdtemp(join(tmpdir(), 'perdure-secret-'))
  })
  afterEach(() => rm(baseDir, { recursive: true }))

  const store = async (content: string | Uint8Array, mode = 0o600) => {
    const path = join(baseDir, 'pepper')
    await writeFile(path, content)
    await chmod(path, mode)
    return path
  }
  const resolve = (reference: string) => fileSecretResolver({ baseDir }).resolve(reference)

  it('reads a path relative to its base directory and an absolute path', async () => {
    const path = await store('secret')

    expect(await resolve('file:pepper')).toEqual({ bytes: Buffer.from('secret') })
    expect(await resolve('file:./pepper')).toEqual({ bytes: Buffer.from('secret') })
    expect(await resolve(`file:${path}`)).toEqual({ bytes: Buffer.from('secret') })
  })

  it.each([
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    ['secret\n\n', 'secret\n'],
    [' secret ', ' secret '],
    ['\n', ''],
  ])('trims one trailing line break: %j', async (content, expected) => {
    await store(content)

    expect((await resolve('file:pepper'))?.bytes).toEqual(Buffer.from(expected))
  })

  it('returns bytes that are not text unchanged', async () => {
    await store(Uint8Array.of(0, 0xff, 0x80))

    expect((await resolve('file:pepper'))?.bytes).toEqual(Buffer.of(0, 0xff, 0x80))
  })

  it('follows a link, as used for mounted secrets', async () => {
    await symlink(await store('secret'), join(baseDir, 'link'))

    expect((await resolve('file:link'))?.bytes).toEqual(Buffer.from('secret'))
  })

  it.each([0o644, 0o640, 0o604, 0o620])('warns about mode %o without revealing the secret', async (mode) => {
    await store('0penSesame', mode)
    const resolved = await resolve('file:pepper')

    expect(resolved?.warning).toContain(`mode 0${mode.toString(8)}`)
    expect(resolved?.warning).not.toContain('0penSesame')
  })

  it.each([0o600, 0o400])('does not warn about mode %o', async (mode) => {
    await store('secret', mode)

    expect(await resolve('file:pepper')).not.toHaveProperty('warning')
  })

  it('returns undefined for a missing file', async () => {
    await store('secret')

    expect(await resolve('file:missing')).toBeUndefined()
    expect(await resolve('file:pepper/below')).toBeUndefined()
  })

  it('rejects a folder, a named pipe and an oversized file', async () => {
    await mkdir(join(baseDir, 'folder'))
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(baseDir, 'pipe')])
    await writeFile(join(baseDir, 'huge'), Buffer.alloc(65_537))

    await expect(resolve('file:folder')).rejects.toThrow('not a regular file')
    await expect(resolve('file:pipe')).rejects.toThrow('not a regular file')
    await expect(resolve('file:huge')).rejects.toThrow('larger than')
  })
})
