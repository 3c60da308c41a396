/** Splits a byte stream into lines of bounded length. */
export interface LineSplitter {
  /** Calls `onLine` for each complete line. @throws Error if a line exceeds `maxBytes` */
  push(chunk: Buffer): void
}

const LINE_FEED = 0x0a

export function createLineSplitter(maxBytes: number, onLine: (line: string) => void): LineSplitter {
  let buffered: Buffer[] = []
  let bufferedBytes = 0

  const buffer = (part: Buffer) => {
    bufferedBytes += part.length
    if (bufferedBytes > maxBytes) throw new Error(`a message is longer than ${maxBytes} bytes`)
    buffered.push(part)
  }

  return {
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        buffer(chunk.subarray(start, end))
        const line = Buffer.concat(buffered).toString('utf8')
        buffered = []
        bufferedBytes = 0
        start = end + 1
        onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
      }
      if (start < chunk.length) buffer(chunk.subarray(start))
    },
  }
}
