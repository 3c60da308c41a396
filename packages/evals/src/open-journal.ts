import { type FileHandle, open, readFile } from 'node:fs/promises'
import { type Journal, parseResults, RESULTS_FORMAT, type ResultEntry } from './results.ts'

export interface FileJournal extends Journal {
  close(): Promise<void>
}

/**
 * Opens a file to which results are appended, and reads what it has. Entries that wait together share one flush.
 *
 * @throws Error for a file that is not a results file
 */
export async function openJournal(path: string): Promise<FileJournal> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const earlier = parseResults(text, path)
  const file = await open(path, 'a')
  // A line that a crash has cut ends here, so that it stays apart from the next one.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  await file.truncate(Buffer.byteLength(whole))
  const append = appendTo(file)
  const isCutWhole = whole !== text && earlier.length > parseResults(whole, path).length
  if (isCutWhole) await append(earlier.at(-1) as ResultEntry)
  if (earlier.length === 0) await append({ kind: 'start', format: RESULTS_FORMAT, at: new Date().toISOString() })
  return { earlier, append, close: () => file.close() }
}

function appendTo(file: FileHandle): (entry: ResultEntry) => Promise<void> {
  let waiting: { readonly lines: string[]; readonly flushed: Promise<void> } | undefined
  let last: Promise<unknown> = Promise.resolve()
  return (entry) => {
    const line = `${JSON.stringify(entry)}\n`
    if (waiting !== undefined) {
      waiting.lines.push(line)
      return waiting.flushed
    }
    const lines = [line]
    const flush = async () => {
      waiting = undefined
      await file.appendFile(lines.join(''))
      await file.datasync()
    }
    const flushed = last.then(flush)
    last = flushed.catch(() => undefined)
    waiting = { lines, flushed }
    return flushed
  }
}
