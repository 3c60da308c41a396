/** The data of each block of an event stream. @param onOpen receives what ends the stream early */
export async function* blocksIn(
  { body }: Response,
  onOpen: (cancel: () => void) => void,
): AsyncGenerator<string, void, void> {
  if (body === null) return
  const reader = body.getReader()
  onOpen(() => void reader.cancel().catch(() => undefined))
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = block.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
        if (data.length > 0) yield data.join('\n')
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
