/** An answer, complete or so far. */
export interface Answer {
  readonly status: number
  readonly isOk: boolean
  /** Milliseconds until the head arrived. */
  readonly tookMs: number
  readonly requestId: string | null
  /** One line for each header. */
  readonly headers: string
  /** The text so far; JSON is indented once it is complete. */
  readonly text: string
  readonly isCut: boolean
}

const MAX_SHOWN = 200_000

/** Reads an answer and reports it as it arrives. A body that is too long to show is cancelled. */
export async function receive(
  { status, ok, headers, body }: Response,
  tookMs: number,
  report: (answer: Answer) => void,
): Promise<void> {
  const head = {
    ...{ status, isOk: ok, tookMs, requestId: headers.get('x-request-id') },
    headers: [...headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
  }
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  report({ ...head, text, isCut: false })
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += part.value
    const isCut = text.length > MAX_SHOWN
    report({ ...head, text: text.slice(0, MAX_SHOWN), isCut })
    if (isCut) return void reader?.cancel()
  }
  const isJson = headers.get('content-type')?.includes('json') === true
  report({ ...head, text: isJson ? indentedText(text) : text, isCut: false })
}

function indentedText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
