/** Reads the body of an answer as text. @throws Error if it is larger than `maxBytes` */
export async function readBounded({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let left = maxBytes
  for await (const chunk of body ?? []) {
    left -= chunk.length
    if (left < 0) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
