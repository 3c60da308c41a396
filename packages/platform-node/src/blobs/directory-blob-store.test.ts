import { mkdtempSync, readdirSync, readFileSync, readlinkSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EpochMs } from '@perdure/ports'
import { blobStoreContract, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createDirectoryBlobStore } from './directory-blob-store.ts'

const newDirectory = () => join(mkdtempSync(join(tmpdir(), 'perdure-blobs-')), 'nested', 'files')

for (const [name, secret] of [
  ['directory', undefined],
  ['directory, encrypted', new TextEncoder().encode('a passphrase')],
] as const) {
  blobStoreContract({
    name,
    async open(at) {
      let now = at
      const blobs = createDirectoryBlobStore({ directory: newDirectory(), clock: { now: () => now }, secret })
      return {
        blobs,
        setClock: (later) => {
          now = later
        },
      }
    },
  })
}

async function* hello() {
  yield new TextEncoder().encode('hello')
}

const HELLO = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
const linkOf = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // closed in the meantime
  }
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('createDirectoryBlobStore', () => {
  it('gives no one else access to folders and files', async () => {
    const directory = newDirectory()
    await createDirectoryBlobStore({ directory, clock: createManualClock() }).put(hello())

    const folders = [join(directory, '..'), directory, join(directory, HELLO.slice(0, 2))]
    expect(folders.map(modeOf)).toEqual(['700', '700', '700'])
    expect(modeOf(join(directory, HELLO.slice(0, 2), HELLO.slice(2)))).toBe('600')
  })

  needsTool('/proc').it('opens no file before its first chunk is read, and leaves none open', async () => {
    const open = () => readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).endsWith(HELLO.slice(2))).length
    const blobs = createDirectoryBlobStore({ directory: newDirectory(), clock: createManualClock() })
    await blobs.put(hello())
    const unread = await blobs.read(HELLO)
    const read = await blobs.read(HELLO)
    const iterator = read?.[Symbol.asyncIterator]()
    expect(open()).toBe(0)
    await iterator?.next()
    expect(open()).toBe(1)
    await iterator?.return?.()

    expect(unread).toBeDefined()
    expect(open()).toBe(0)
  })

  it('discards what an interrupted put left behind, after its time', async () => {
    const directory = newDirectory()
    const clock = createManualClock()
    const blobs = createDirectoryBlobStore({ directory, clock })
    await blobs.put(hello())
    const part = join(directory, 'parts', 'left-behind')
    writeFileSync(part, 'half of a blo')
    utimesSync(part, new Date(clock.now()), new Date(clock.now()))

    expect(await blobs.discard(clock.now())).toBe(0)
    expect(await blobs.discard((clock.now() + 1) as EpochMs)).toBe(1)
    expect(readdirSync(join(directory, 'parts'))).toEqual([])
    expect(await blobs.read(HELLO)).toBeDefined()
  })

  it('reports a folder that cannot be written as an unavailable storage, with what to check', async () => {
    const blocked = join(mkdtempSync(join(tmpdir(), 'perdure-blobs-')), 'file')
    writeFileSync(blocked, '')
    const blobs = createDirectoryBlobStore({ directory: join(blocked, 'files'), clock: createManualClock() })

    await expect(blobs.put(hello())).rejects.toMatchObject({
      code: 'storage-unavailable',
      hint: 'check storage.files.directory and its permissions',
    })
  })

  it('stores nothing readable with a secret, and refuses a file that was altered or shortened', async () => {
    const directory = newDirectory()
    const secret = new TextEncoder().encode('a passphrase')
    const blobs = createDirectoryBlobStore({ directory, clock: createManualClock(), secret })
    await blobs.put(hello())
    const path = join(directory, HELLO.slice(0, 2), HELLO.slice(2))
    const stored = readFileSync(path)
    const read = async () => {
      for await (const chunk of (await blobs.read(HELLO)) ?? []) return Buffer.from(chunk).toString()
      return ''
    }

    expect(stored.includes('hello')).toBe(false)
    expect(await read()).toBe('hello')
    for (const altered of [stored.subarray(0, -1), Buffer.from(stored).fill(stored[20] === 0 ? 1 : 0, 20, 21)]) {
      writeFileSync(path, altered)
      await expect(read()).rejects.toThrow()
    }
  })
})
