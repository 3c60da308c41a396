import type { Digest } from '@perdure/ports'
import { type PageItem, partsOfItem, piecesOf } from './json-page.ts'

export interface ExportRecord {
  readonly type: string
  readonly record: PageItem
}

const RECORD_BATCH = 10

/** A small page of a list that is exported. */
export const oldestFirst = (cursor: string | undefined) => ({ limit: RECORD_BATCH, order: 'asc', cursor }) as const

/**
 * Records as lines of JSON, and finally `{ type: 'checksum', algorithm: 'sha256', records, value }` over all preceding
 * bytes. Reads as fast as the client does.
 */
export async function* exportLines(
  records: AsyncIterable<ExportRecord>,
  digest: Pick<Digest, 'startSha256'>,
): AsyncGenerator<string | Uint8Array, void, void> {
  const sum = digest.startSha256()
  let count = 0
  for await (const record of records) {
    let isNew = true
    for await (const part of partsOfLine(record)) {
      sum.update(part)
      if (isNew) count += 1
      isNew = false
      yield part
    }
  }
  yield `${JSON.stringify({ type: 'checksum', algorithm: 'sha256', records: count, value: sum.end() })}\n`
}

/** Reads a long record part by part. Yields nothing for a record that was deleted. */
const partsOfLine = ({ type, record }: ExportRecord) =>
  partsOfItem([`{"type":"${type}","record":`, ...piecesOf(record), '}\n'])
