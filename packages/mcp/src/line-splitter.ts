/** Cuts a stream of bytes into lines of bounded length. */
export interface LineSplitter {
  /** Hands over each complete line. @throws Error for a line longer than the bound */
  push(chunk: Buffer): void
}

const LINE_FEED = 0x0a

export function createLineSplitter(maxBytes: number, onLine: (line: string) => void): LineSplitter {
  let held: Buffer[] = []
  let heldBytes = 0

  const take = (part: Buffer) => {
    heldBytes += part.length
    if (heldBytes > maxBytes) throw new Error(`a message is longer than ${maxBytes} bytes`)
    held.push(part)
  }

  return {
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        take(chunk.subarray(start, end))
        const line = Buffer.concat(held).toString('utf8')
        held = []
        heldBytes = 0
        start = end + 1
        onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
      }
      if (start < chunk.length) take(chunk.subarray(start))
    },
  }
}
