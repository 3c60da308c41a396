import { createInMemoryStorage } from '@perdure/in-memory'
import { type BlobStore, EVERY_ROW } from '@perdure/ports'
import { aFile } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createReadFiles } from './read-files.ts'

/** Opens a file of 4 bytes, whose content the store of blobs yields in these chunks. */
async function openFile(chunks: readonly (readonly number[] | Error)[]) {
  const storage = createInMemoryStorage()
  const file = aFile({ size: 4 })
  expect(await storage.unitOfWork.commit([{ type: 'file.insert', file }])).toMatchObject({ committed: true })
  let isClosed = false
  const blobs = {
    async read() {
      return (async function* () {
        try {
          for (const chunk of chunks) {
            if (chunk instanceof Error) throw chunk
            yield Uint8Array.from(chunk)
          }
        } finally {
          isClosed = true
        }
      })()
    },
  }
  const { open } = createReadFiles({ files: storage.files, blobs: blobs as unknown as BlobStore })
  return { ...(await open(file.id, EVERY_ROW)), isClosed: () => isClosed }
}

async function bytesOf(content: AsyncIterable<Uint8Array>) {
  const bytes: number[] = []
  for await (const chunk of content) bytes.push(...chunk)
  return bytes
}

describe('the content of an open file', () => {
  it('is read in its chunks, whole or in part', async () => {
    const whole = await openFile([[1], [2, 3], [4]])
    expect(await bytesOf(await whole.read())).toEqual([1, 2, 3, 4])
    const part = await openFile([[2], [3]])
    expect(await bytesOf(await part.read({ start: 1, end: 3 }))).toEqual([2, 3])
    expect(part.isClosed()).toBe(true)
  })

  it('is refused before an answer begins if its first bytes cannot be read', async () => {
    const { read } = await openFile([new Error('the bucket is down')])
    await expect(read()).rejects.toThrow('the bucket is down')
  })

  it('ends with an error if fewer bytes are stored than the file has', async () => {
    const { read } = await openFile([[1], [2]])
    const content = await read()

    await expect(bytesOf(content)).rejects.toMatchObject({
      code: 'storage-unavailable',
      message: expect.stringContaining('2 of 4 bytes'),
    })
  })

  it('is closed by a reader that takes nothing', async () => {
    const { read, isClosed } = await openFile([[1], [2, 3], [4]])
    const content = await read()
    await content[Symbol.asyncIterator]().return?.()

    expect(isClosed()).toBe(true)
  })
})
