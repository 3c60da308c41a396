/** One event of a stream. */
export interface SseFrame {
  readonly id?: string
  readonly data: string
}

/** The events of the body of a stream, without comments. Throws when the connection breaks. */
export async function* sseFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<SseFrame, void, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const frame = frameOf(block)
      if (frame !== undefined) yield frame
    }
  }
}

function frameOf(block: string): SseFrame | undefined {
  const lines = block.split('\n')
  const fieldsOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart())
  const [id] = fieldsOf('id')
  const data = fieldsOf('data').join('\n')
  return id === undefined && data === '' ? undefined : { data, ...(id === undefined ? {} : { id }) }
}
