import type pg from 'pg'

export interface CopyStatement {
  /** A query of one column of bytes. It has no parameters. */
  readonly query: string
  /** Upper limit for the bytes in all rows. */
  readonly maxBytes: number
}

/**
 * Joins the rows of a query; undefined if there is none. The driver turns the values of a normal query into texts, which
 * leaves long garbage on the heap; it passes on the bytes of a copy as they arrive.
 */
export const copyOut = (client: pg.ClientBase, { query, maxBytes }: CopyStatement): Promise<Uint8Array | undefined> =>
  new Promise((resolve, reject) => {
    const bytes = new Uint8Array(maxBytes)
    let length = 0
    let messages = 0
    let rows = 0
    const copy: CopyOut = {
      callback: () => undefined,
      submit: (connection) => connection.query(`copy (${query}) to stdout (format binary)`),
      handleCopyData({ chunk }) {
        const start = messages++ === 0 ? HEADER_BYTES : 0
        if (chunk.readInt16BE(start) === END) return
        rows++
        const row = chunk.subarray(start + ROW_HEADER_BYTES)
        bytes.set(row, length)
        length += row.length
      },
      handleCommandComplete: () => undefined,
      handleError(error) {
        copy.callback(error)
        reject(error)
      },
      handleReadyForQuery() {
        copy.callback()
        if (rows === 0) resolve(undefined)
        else resolve(length === maxBytes ? bytes : bytes.slice(0, length))
      },
    }
    client.query(copy as unknown as pg.Submittable)
  })

/** What the driver calls for the messages of the server. It wraps `callback`, to end its timeout. */
interface CopyOut {
  callback: (error?: Error) => void
  submit(connection: { query(text: string): void }): void
  handleCopyData(message: { readonly chunk: Buffer }): void
  handleCommandComplete(): void
  handleError(error: Error): void
  handleReadyForQuery(): void
}

/** Signature, flags and extension, in front of the first row. */
const HEADER_BYTES = 19

/** The number of columns and the length of the value. */
const ROW_HEADER_BYTES = 6

/** Instead of the number of columns. */
const END = -1
