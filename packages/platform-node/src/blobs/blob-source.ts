import type { FileHandle } from 'node:fs/promises'

/** Where the stored bytes of a blob are read. */
export interface BlobSource {
  /** How many bytes are stored. */
  size(): Promise<number>
  /** The stored bytes from `start` up to, but not including, `end`; fewer if fewer are stored. */
  bytes(start: number, end: number): AsyncIterable<Uint8Array>
}

const CHUNK = 65_536

/** No stream of Node.js: after one that was left early, the file is still open for a moment when its `close` resolves. */
export const fileSource = (file: FileHandle): BlobSource => ({
  size: async () => (await file.stat()).size,
  async *bytes(start, end) {
    for (let position = start; position < end; ) {
      const length = Math.min(CHUNK, end - position)
      const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, position)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
      position += bytesRead
    }
  },
})
